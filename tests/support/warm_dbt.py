"""dbt for tests that are not about its start: see `support.warm_dbt_server`."""

import os
import subprocess
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from vetl.jobs import dbt_process

COLD = dbt_process.COMMAND
"""The command that starts dbt in an installation of vetl."""
HERE = Path(__file__).parent
UNHEARD = "ignore:resource_tracker"
"""The warning that a killed dbt left semaphores."""
ADDRESS = "WARM_DBT"
"""The variable that names the server's socket to all processes of a run."""


@dataclass(frozen=True, slots=True)
class Done:
    exit_code: int
    output: str


@contextmanager
def warm_dbt() -> Generator[None]:
    """Provide the server; it imports dbt at the first request."""
    with TemporaryDirectory() as folder:
        address = f"{folder}/socket"
        server = subprocess.Popen(
            [sys.executable, "-P", "-W", UNHEARD, HERE / "warm_dbt_server.py", address],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        with server:
            assert server.stdout
            server.stdout.readline()
            os.environ[ADDRESS] = address
            yield


def command() -> tuple[str, ...]:
    return (sys.executable, "-I", "-S", str(HERE / "warm_dbt_client.py"), os.environ[ADDRESS])


def dbt(*arguments: str, folder: Path, environment: Mapping[str, str]) -> Done:
    done = subprocess.run(
        [*command(), *arguments],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return Done(done.returncode, done.stdout)
