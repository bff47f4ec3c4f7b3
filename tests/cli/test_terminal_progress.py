"""Progress: bars where somebody watches, a few lines elsewhere, never on standard output."""

import sys

import pytest

from pipelines.results import Progress
from pipelines.terminal_progress import showing_lists, showing_nodes


def some(practice_id: str, done: int, total: int | None, phase: str) -> Progress:
    return Progress(practice_id, "staff_tasks", done, total, phase)


def test_elsewhere_each_phase_of_a_list_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with showing_lists() as report:
        for done in range(3):
            report(some("a", done, None, "reading"))
        report(some("a", 3, 3, "certified"))

    assert capsys.readouterr() == ("", "a staff_tasks reading\na staff_tasks certified\n")


def test_on_a_terminal_a_list_is_one_bar_over_all_practices(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")

    with showing_lists() as report:
        report(some("a", 3, 4, "[reading]"))
        report(some("b", 2, 6, "[reading]"))
    with showing_nodes() as advance:
        advance(1, 2)

    out, err = capsys.readouterr()
    assert out == ""
    assert "5/10" in err
    assert "b [reading]" in err
    assert "1/2" in err
