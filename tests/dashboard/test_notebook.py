"""The notebook that `vetl notebook` creates, over a real published file and without a browser."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.dashboard_browser import answered
from support.dashboard_pages import Ask
from vetl.bundled import dashboards
from vetl.figures.catalogue import worked_questions


def test_every_cell_shows_the_marts_numbers(published: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VETL_WAREHOUSE__PUBLISHED", str(published))
    cells: dict[str, Any] = {"__name__": "notebook", "__file__": str(dashboards() / "notebook.py")}
    exec(compile((dashboards() / "notebook.py").read_text(), cells["__file__"], "exec"), cells)
    outputs, defined = cells["app"].run()

    first = ask("select practice_id from marts.practices order by name limit 1")[0][0]
    leaks = ask("select leaks from marts.practice_weekly where practice_id = ? order by week", first)
    assert [(number,) for number in defined["weeks"].get_column("leaks")] == leaks
    assert len(outputs) == 9
    assert "select" in outputs[7].text
    assert defined["question"].value in worked_questions()[0].statement
    defined["marts"].close()


def test_the_command_writes_a_notebook_once_and_serves_it(published: Path, tmp_path: Path) -> None:
    (tmp_path / "vetl.toml").write_text(f'[warehouse]\npublished = "{published}"\n')
    clean = {name: value for name, value in os.environ.items() if not name.startswith("VETL_")}
    environment = {**clean, "PYTHONUNBUFFERED": "1"}
    command = [sys.executable, "-m", "vetl", "notebook"]
    for _ in range(2):
        process = subprocess.Popen(
            command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert process.stdout is not None
        address = next(match[0] for line in process.stdout if (match := re.search(r"http://\S+", line)))
        answered(address, process)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
        with (tmp_path / "vetl_notebook.py").open("a") as notebook:
            notebook.write("# mine\n")
    assert (tmp_path / "vetl_notebook.py").read_text().count("# mine") == 2
