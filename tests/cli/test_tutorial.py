"""The tutorial and the first answer, typed by a reader: each block runs, and prints what the page says.

The demo of the first answer also gives the answer that README shows.
"""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Self

import pytest
from support.processes import free_port
from support.readme_example import PAGE, answered, example

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```(sh|text)(?: title=\"([^\"]*)\")?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
STATE = '\ncode=$?; declare -px > "$KEPT"; exit $code\n'


class Reader:
    """A shell whose variables outlive a block, and the terminals beside it; `vetl` runs no test of dbt."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._kept = folder / ".shell"
        self._kept.touch()
        programs = folder / ".programs"
        programs.mkdir()
        vetl = programs / "vetl"
        vetl.write_text(f'#!/bin/sh\nexec {sys.executable} -m support.untested_vetl "$@"\n')
        vetl.chmod(0o755)
        path = os.pathsep.join((str(programs), str(Path(sys.executable).parent), os.environ["PATH"]))
        clean = {name: value for name, value in os.environ.items() if not name.startswith("VETL_")}
        more = {"PATH": path, "KEPT": str(self._kept), "TZ": "UTC", "PYTHONPATH": os.pathsep.join(sys.path)}
        self._environment = {**clean, **more}
        self._beside: list[subprocess.Popen[str]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        while self._beside:
            self.stop_first()

    def types(self, commands: str) -> str:
        """Run a block; return its output and its error output as one text."""
        script = f'set -eo pipefail; source "$KEPT"\n{commands}{STATE}'
        done = subprocess.run(
            ["bash", "-c", script],
            cwd=self._folder,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=1200,
        )
        assert done.returncode == 0, done.stdout
        return done.stdout

    def opens(self, command: str) -> None:
        """Open another terminal with a command; return after its first line."""
        terminal = subprocess.Popen(
            ["bash", "-c", f"exec env {command}"],
            cwd=self._folder,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self._beside.append(terminal)
        assert terminal.stdout
        assert terminal.stdout.readline()

    def stop_first(self) -> None:
        """Press Ctrl-C in the terminal that was opened first."""
        terminal = self._beside.pop(0)
        terminal.send_signal(signal.SIGINT)
        terminal.communicate(timeout=60)


@pytest.mark.parametrize(("name", "least"), [("tutorial", 16), ("first-answer", 10)])
def test_every_command_of_a_page_prints_the_output_of_the_page(name: str, least: int, tmp_path: Path) -> None:
    page = (ROOT / "docs" / f"{name}.md").read_text("utf-8")
    for written in ("8787", "8791"):
        page = page.replace(written, str(free_port()))
    blocks = BLOCK.findall(page)
    assert len(blocks) >= least
    said = ""
    with Reader(tmp_path) as reader:
        for language, title, content in blocks:
            if language == "text":
                missing = [line for line in content.splitlines() if line not in said]
                assert missing == [], said
            elif title == "another terminal":
                reader.opens(content.strip())
            else:
                if title:
                    reader.stop_first()
                said = reader.types(content)
    if name == "first-answer":  # `make answers` writes the answer again
        statement, shown = example(PAGE.read_text("utf-8"))
        assert answered(tmp_path / "demo/warehouse/data/analytics.duckdb", statement) == shown
