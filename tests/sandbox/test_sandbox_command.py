"""`python -m sandbox` and `vetl sandbox serve`."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from sandbox.__main__ import main

REPOSITORY = Path(__file__).parents[2]
SMALL = ("--practices", "2", "--days", "3")


@contextmanager
def started(*arguments: str, command: Sequence[str] = ("-m", "sandbox")) -> Generator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, *command, *arguments],
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def test_it_says_one_line_of_json_once_it_answers_and_ends_on_interrupt() -> None:
    with started("--json", "--faults", "drifting", *SMALL) as process:
        assert process.stdout is not None
        description = json.loads(process.stdout.readline())
        assert list(description) == ["base_url", "username", "password", "role", "webhook_secret", "practices"]
        assert [list(practice) for practice in description["practices"]] == [["id", "name", "time_zone"]] * 2
        faults = httpx.get(f"{description['base_url']}/_control/faults").json()["data"]
        assert len(faults["rules"]) > 5
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err) == (0, "", "")


@pytest.mark.parametrize("arguments", [["--practices", "0"], ["--faults", "none", "--days", "-1"]])
def test_senseless_arguments_are_one_line(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["sandbox", *arguments])
    assert main() == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("sandbox: ")
    assert err.count("\n") == 1


def pasted(commands: list[str], folder: Path) -> str:
    here = {"PYTHONPATH": str(REPOSITORY), "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    script = "set -e\n" + "".join(commands)
    done = subprocess.run(
        ["bash", "-c", script], cwd=folder, env=os.environ | here, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_printed_commands_can_be_pasted(tmp_path: Path) -> None:
    """Its curl lines read calls; with its settings vetl reads a list."""
    with started(*SMALL, "--calls", "3000", command=("-m", "pipelines", "sandbox", "serve")) as process:
        assert process.stdout is not None
        lines = list(iter(process.stdout.readline, "  vetl run\n"))
        curl, vetl = lines.index("With curl:\n"), lines.index("With vetl, in an empty folder:\n")
        page = json.loads(pasted(lines[curl + 1 : vetl], tmp_path))["data"]
        assert len(page["content"]) == 2
        assert page["total_count"] > 1400  # 120 without --calls
        sync = "vetl sync --endpoint staff_tasks --json"
        report = json.loads(pasted([*lines[vetl + 1 :], sync], tmp_path))
        assert "loc-002" in json.dumps(report)
