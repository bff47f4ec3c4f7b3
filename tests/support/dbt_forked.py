"""dbt in a process of its own, forked from one that has imported it: to import it takes seconds of CPU."""

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

PARENT = """
import json, os, sys
import dbt.adapters.duckdb
from dbt.cli.main import cli
for line in sys.stdin:
    asked = json.loads(line)
    child = os.fork()
    if not child:
        os.chdir(asked["folder"])
        os.environ.clear()
        os.environ.update(asked["environment"])
        output = os.open(asked["output"], os.O_CREAT | os.O_WRONLY)
        os.dup2(output, 1)
        os.dup2(output, 2)
        sys.exit(cli(asked["arguments"]))
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
"""Ends when nobody can ask any more."""


@dataclass(frozen=True, slots=True)
class Done:
    """A command that has ended, and what it printed."""

    exit_code: int
    output: str


def dbt(*arguments: str, folder: Path, environment: Mapping[str, str]) -> Done:
    """Run dbt in a folder and wait for it."""
    with TemporaryDirectory() as scratch:
        output = Path(scratch) / "output"
        asked = {
            "arguments": arguments,
            "folder": str(folder),
            "environment": dict(environment),
            "output": str(output),
        }
        parent = _parent()
        assert parent.stdin
        assert parent.stdout
        print(json.dumps(asked), file=parent.stdin, flush=True)
        return Done(int(parent.stdout.readline()), output.read_text("utf-8"))


@cache
def _parent() -> subprocess.Popen[str]:
    command = [sys.executable, "-c", PARENT]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
