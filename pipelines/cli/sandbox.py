"""The sandbox from the command line: in the foreground, or as a child of another command."""

import json
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.request import urlopen

from pipelines.core.errors import Unreachable, WrongUse, cannot_listen
from sandbox import serve as serve_sandbox


@dataclass(frozen=True, slots=True)
class Platform:
    """A running sandbox. `clock` is what its `Date` header told when it started."""

    base_url: str
    username: str
    password: str
    role: str
    webhook_secret: str
    practices: tuple[dict[str, str], ...]
    clock: datetime


def serve(
    *, port: int, practices: int, days: int, calls: int | None, seed: int, faults: str, as_json: bool
) -> int:
    """`vetl sandbox serve`: until it is interrupted."""
    try:
        serve_sandbox(
            port=port,
            practices=practices,
            days=days,
            calls=calls,
            seed=seed,
            faults=faults,
            as_json=as_json,
            say=lambda line: print(line, flush=True),  # noqa: T201 - its one output, which programs wait for
        )
    except ValueError as error:
        raise WrongUse(str(error)) from None
    except OSError as error:
        raise cannot_listen("127.0.0.1", port, error) from None
    return 0


@contextmanager
def sandbox_process(*, practices: int, days: int) -> Generator[Platform]:
    """A sandbox in a process of its own, on a free port, ended with the block.

    Raises:
        Unreachable: it did not start.
    """
    command = [sys.executable, "-m", "sandbox", "--json", "--practices", str(practices), "--days", str(days)]
    # A session of its own: an interrupt reaches vetl first, which then ends the sandbox.
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)  # noqa: S603 - this interpreter
    try:
        greeting = process.stdout.readline() if process.stdout else ""
        if not greeting:
            raise Unreachable(f"the sandbox did not start: exit code {process.wait()}")
        yield _platform(json.loads(greeting))
    finally:
        process.terminate()
        process.wait()


def _platform(described: dict[str, Any]) -> Platform:
    with urlopen(described["base_url"]) as answer:  # noqa: S310 - the loopback address that it printed
        clock = parsedate_to_datetime(answer.headers["Date"])
    return Platform(
        base_url=described["base_url"],
        username=described["username"],
        password=described["password"],
        role=described["role"],
        webhook_secret=described["webhook_secret"],
        practices=tuple(described["practices"]),
        clock=clock,
    )
