"""dbt's command line, started by `vetl.jobs.dbt_process`.

With `--events` as its first argument it prints finished nodes, warnings and errors as lines of JSON. dbt's own log
would format each of its messages, thirty a node, before it drops most of them: a fifth of a build's time.
"""

import gc
import json
import os
import sys
from contextlib import suppress
from typing import Any

from dbt.cli.main import cli
from dbt_common.events.functions import msg_to_dict

_QUIET = ("--log-level", "none", "--log-level-file", "none")


def run(arguments: list[str], manifest: Any = None) -> None:  # noqa: ANN401 - dbt's
    """Run dbt, and exit with its code; `manifest` is that of a project that was parsed before."""
    printed = arguments[:1] == ["--events"]
    given = [*_QUIET, *arguments[1:]] if printed else arguments
    cli(given, prog_name="vetl dbt", obj={"manifest": manifest, "callbacks": [_print] if printed else []})


def _print(event: Any) -> None:  # noqa: ANN401 - dbt's
    if event.info.level in {"warn", "error"} or event.info.name.endswith("Result"):
        # One write a line: lines of dbt's threads must not mix. If vetl was killed, dbt goes on without a reader;
        # an error in one of its threads would make it wait for ever, with the lock of the warehouse.
        with suppress(BrokenPipeError):
            os.write(1, f"{json.dumps(msg_to_dict(event))}\n".encode())


if __name__ == "__main__":
    # Python collects garbage after each 700 new objects, and dbt creates millions of objects that stay.
    gc.set_threshold(50_000, 20, 100)
    run(sys.argv[1:])
