"""`python -m sandbox`, and what the package may not know."""

import ast
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

REPOSITORY = Path(__file__).parents[2]


def start(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "sandbox", *arguments],
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_it_says_one_line_of_json_once_it_answers_and_ends_on_interrupt() -> None:
    with start("--json", "--practices", "2", "--days", "3") as process:
        assert process.stdout is not None
        told = json.loads(process.stdout.readline())
        assert list(told) == ["base_url", "username", "password", "role", "webhook_secret", "practices"]
        assert [list(practice) for practice in told["practices"]] == [["id", "name", "time_zone"]] * 2
        assert httpx.get(told["base_url"]).status_code == 200
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err) == (0, "", "")


@pytest.mark.parametrize("arguments", [["--practices", "0"], ["--faults", "none", "--days", "-1"]])
def test_senseless_arguments_are_one_line(arguments: list[str]) -> None:
    with start(*arguments) as process:
        out, err = process.communicate(timeout=20)
    assert (process.returncode, out) == (2, "")
    assert err.startswith("sandbox: ")
    assert err.count("\n") == 1


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def test_it_is_an_independent_reading_of_the_contract() -> None:
    """A mistake in reading the contract must not be made twice in the same way."""
    for path in (REPOSITORY / "sandbox").rglob("*.py"):
        assert not any(name.split(".")[0] == "pipelines" for name in imported(path)), path
