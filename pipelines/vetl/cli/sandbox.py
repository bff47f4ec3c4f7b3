"""Run the sandbox, in the foreground or as the child process of another command."""

import json
import subprocess
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Annotated, Any
from urllib.request import urlopen

import typer
from vetl_sandbox import serve as serve_sandbox

from vetl.cli.commands import AsJson, Commands
from vetl.core.errors import Unreachable, WrongUse, cannot_listen

app = Commands()


@dataclass(frozen=True, slots=True)
class Platform:
    """A running sandbox. `clock` is the time in its `Date` header at the start."""

    base_url: str
    username: str
    password: str
    role: str
    webhook_secret: str
    practices: Sequence[dict[str, str]]
    clock: datetime


@app.command(
    examples="""
        vetl sandbox serve --port 8787
        vetl sandbox serve --practices 1 --days 30 --faults flaky""",
    needs_settings=False,
)
def serve(
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 chooses a free one.")] = 0,
    practices: Annotated[int, typer.Option(min=1, max=500, help="How many practices.")] = 3,
    days: Annotated[int, typer.Option(min=1, help="Days of history.")] = 365,
    calls: Annotated[
        int | None, typer.Option(min=1, help="About how many phone calls, all practices together.")
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed makes the same data.")] = 1,
    faults: Annotated[str, typer.Option(help="none, flaky, drifting or unsafe_writes.")] = "none",
    as_json: AsJson = False,
) -> int:
    """Serve a made-up platform until interrupted; print how to use it."""
    try:
        serve_sandbox(
            port=port,
            practices=practices,
            days=days,
            calls=calls,
            seed=seed,
            faults=faults,
            as_json=as_json,
            say=lambda line: print(line, flush=True),  # noqa: T201 - its only output, which other programs wait for
        )
    except ValueError as error:
        raise WrongUse(str(error)) from None
    except OSError as error:
        raise cannot_listen("127.0.0.1", port, error) from None
    return 0


@contextmanager
def sandbox_process(*, practices: int, days: int) -> Generator[Platform]:
    """Run a sandbox in a process of its own, on a free port, until the block ends."""
    command = ["-m", "vetl_sandbox", "--json", "--practices", str(practices), "--days", str(days)]
    with greeting_of("the sandbox", command) as greeting:
        yield _platform(greeting)


@contextmanager
def greeting_of(
    name: str,
    arguments: Sequence[str],
    *,
    remedy: str = "",
    **how: Any,  # noqa: ANN401 - as those of `Popen`
) -> Generator[dict[str, Any]]:
    """Run Python with these arguments until the block ends; yield the object that it prints once it serves."""
    # In a session of its own, so that Ctrl-C reaches only vetl, which then ends it.
    process = subprocess.Popen(  # noqa: S603 - this interpreter
        [sys.executable, *arguments], stdout=subprocess.PIPE, text=True, start_new_session=True, **how
    )
    try:
        line = process.stdout.readline() if process.stdout else ""
        if not line:
            raise Unreachable(f"{name} did not start: exit code {process.wait()}{remedy}")
        yield json.loads(line)
    finally:
        process.terminate()
        process.wait()


def _platform(greeting: dict[str, Any]) -> Platform:
    with urlopen(greeting["base_url"]) as answer:  # noqa: S310 - the loopback address of the sandbox
        clock = parsedate_to_datetime(answer.headers["Date"])
    return Platform(**greeting, clock=clock)
