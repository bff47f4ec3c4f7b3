"""Progress: bars on a terminal, otherwise a line every few seconds, never on standard output."""

import sys
from threading import Event

import pytest

from pipelines.cli import progress as shown
from pipelines.cli.output import direct, say
from pipelines.cli.progress import showing_lists, showing_nodes
from pipelines.cli.terminal import print_table
from pipelines.core.results import Progress, Waiting


def some(practice_id: str, done: int, total: int | None, phase: str = "reading") -> Progress:
    """Return a report; at the end of a list it has the number of new rows."""
    brought = {} if phase == "reading" else {"new": 1, "changed": 1, "requests": 3}
    return Progress(practice_id, "staff_tasks", done, total, phase, **brought)


@pytest.fixture(autouse=True)
def _usual_output() -> None:
    direct(quiet=False, log_file=None, log_format="text")


def test_elsewhere_a_line_comes_every_few_seconds_and_one_at_the_end(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shown, "LINES_EVERY", 3600.0)
    with showing_lists(2) as report:
        report(some("a", 1, 4))
        monkeypatch.setattr(shown.time, "monotonic", lambda: 1e9)
    assert capsys.readouterr() == ("", "")
    monkeypatch.undo()

    monkeypatch.setattr(shown, "LINES_EVERY", 0.0)
    with showing_lists(2) as report:
        report(some("a", 3, 4))
        report(some("b", 2, 6))
        report(some("a", 4, 4, "certified"))
        report(some("b", 6, 6, "failed"))

    assert capsys.readouterr().err.splitlines() == [
        "reading staff_tasks 3 rows (0 of 2 practices)",
        "reading staff_tasks 5 of 10 rows (0 of 2 practices)",
        "reading staff_tasks 6 of 10 rows (1 of 2 practices)",
        "staff_tasks: all 2 practices done, 2 rows new, 2 changed, 6 requests",
    ]


def test_only_a_long_wait_has_a_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    said = Event()

    def say_it(line: str) -> None:
        say(line)
        said.set()

    monkeypatch.setattr(shown, "say", say_it)
    monkeypatch.setattr(shown, "SILENT_WAIT", 0.01)
    with showing_lists(1) as report:
        report(Waiting("signing in to https://platform.example.com, attempt 2, waits 5 s"))
        assert said.wait(30)
        monkeypatch.setattr(shown, "SILENT_WAIT", 3600.0)
        report(Waiting("signing in to https://platform.example.com, attempt 3"))
        report(Waiting())
        report(Waiting("what the end of the command cuts short"))

    assert capsys.readouterr().err == "signing in to https://platform.example.com, attempt 2, waits 5 s\n"


def test_quiet_is_quiet(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    direct(quiet=True, log_file=None, log_format="text")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with showing_lists() as report:
        report(some("a", 4, 4, "certified"))
    with showing_nodes() as advance:
        advance(1, 2)
    print_table("2 lists", ("practice",), [("loc-001",)])

    assert capsys.readouterr() == ("", "")


def test_no_time_is_left_while_rows_are_read_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")

    with showing_lists(1) as report:
        report(some("a", 12, 9))
    again = capsys.readouterr().err
    with showing_lists(1) as report:
        report(some("a", 12, 9, "certified"))

    assert "12 rows" in again
    assert "00:00" not in again
    assert "00:00" in capsys.readouterr().err


def test_on_a_terminal_a_list_is_one_bar_over_all_practices(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")

    with showing_lists(3) as report:
        report(Waiting("signing in to https://platform.example.com"))
        report(some("a", 3_000, 4_000))
        report(some("b", 2_000, 6_000))
        report(some("c", 500, 500, "certified"))
    with showing_lists(1) as report:
        report(some("a", 4, 9, "certified"))
    with showing_nodes() as advance:
        advance(1, 2)

    out, err = capsys.readouterr()
    assert out == ""
    assert "signing in to https://platform.example.com" in err
    assert "5,500 of 10,500 rows" in err
    assert "1 of 3 practices" in err
    assert "✓" in err
    assert "1 of 2 models and tests" in err
