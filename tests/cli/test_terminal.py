"""Tables that fit into a terminal, progress that is never on standard output, times and events in words."""

import re
import sys
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from threading import Event

import pytest
from vetl.cli import progress as shown
from vetl.cli.commands import ago, in_words, local
from vetl.cli.progress import showing_lists, showing_nodes
from vetl.cli.terminal import TableColumn, direct, print_table, say
from vetl.core.list_read import Progress, Waiting
from vetl.forgetting.job import Forgetting
from vetl.run import forgetting_in_words

COLUMNS = (TableColumn("practice"), TableColumn("state"), TableColumn("rows", 1), TableColumn("evidence", 2))
ROWS = [("loc-001", "certified", 1200, "one page is one snapshot"), ("loc-002", "failed", 3, "")]
NOW = datetime(2026, 1, 16, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _usual_output() -> None:
    direct(quiet=False, log_file=None, log_format="text")


def at_a_terminal(patch: pytest.MonkeyPatch, width: int, *, colours: bool = True) -> None:
    """Make both outputs report that they are a terminal of this width."""
    for stream in (sys.stdout, sys.stderr):
        patch.setattr(stream, "isatty", lambda: True, raising=False)
    patch.setenv("TERM", "xterm-256color")
    patch.setenv("COLUMNS", str(width))
    patch.delenv("NO_COLOR", raising=False)
    if not colours:
        patch.setenv("NO_COLOR", "1")


def some(practice_id: str, done: int, total: int | None, phase: str = "reading") -> Progress:
    """Return a report; at the end of a list it has the number of new rows."""
    brought = {} if phase == "reading" else {"new": 1, "changed": 1, "requests": 3}
    return Progress(practice_id, "staff_tasks", done, total, phase, **brought)


@pytest.mark.parametrize(
    ("width", "header"),
    [(60, "practice  state      rows  evidence"), (30, "practice  state      rows"), (20, "practice  state")],
)
def test_columns_leave_in_their_order_and_words_stay_whole(
    width: int, header: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    at_a_terminal(monkeypatch, width, colours=False)

    print_table("2 lists", COLUMNS, ROWS)

    lines = [re.sub(r"\x1b\[\d+m", "", line).rstrip() for line in capsys.readouterr().out.splitlines()]
    title, head, first, second, *hidden = lines
    assert (title, head) == ("2 lists", header)
    assert "certified" in first
    assert "failed" in second
    assert " ".join(hidden).startswith("not shown at this width:" if width < 60 else "")


def test_states_have_colours_unless_no_color_is_set(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for colours in (True, False):
        at_a_terminal(monkeypatch, 60, colours=colours)
        print_table("", COLUMNS, ROWS)
        assert ("\x1b[32mcertified" in capsys.readouterr().out) is colours


def test_times_have_their_year_and_in_this_machines_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    try:
        assert local("2026-01-16T05:30:00Z") == "2026-01-16 00:30"
        assert local("2025-01-16") == "2025-01-16"
        assert in_words(f"failed at {NOW.isoformat()}: no").startswith("failed at 2026-01-16 07:00 (")
    finally:
        monkeypatch.undo()
        time.tzset()
    words = {59: "just now", 300: "5 min ago", 82_800: "23 h ago", 86_400: "1 day ago", 3_456_000: "40 days ago"}
    assert {past: ago(NOW - timedelta(seconds=past), NOW) for past in words} == words


def test_a_forgetting_says_whether_it_is_complete() -> None:
    done = Forgetting("client-1", {}, deliveries=0, removed=(), lakes=(), left=())
    left = replace(done, left=("a.duckdb", "b.duckdb"))

    assert forgetting_in_words(done) == "the forgetting of client-1 is complete"
    assert forgetting_in_words(left).endswith(" is not complete: still mentioned in a.duckdb, b.duckdb")


def test_elsewhere_a_line_comes_every_few_seconds_and_one_at_the_end(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shown, "LINES_EVERY", 3600.0)
    with showing_lists(2) as report:
        report(some("a", 1, 4))
    assert capsys.readouterr() == ("", "")

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
        assert said.wait(60)
        monkeypatch.setattr(shown, "SILENT_WAIT", 3600.0)
        report(Waiting("signing in to https://platform.example.com, attempt 3"))

    assert capsys.readouterr().err == "signing in to https://platform.example.com, attempt 2, waits 5 s\n"


def test_quiet_is_quiet(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    direct(quiet=True, log_file=None, log_format="text")
    at_a_terminal(monkeypatch, 120)
    with showing_lists() as report:
        report(some("a", 4, 4, "certified"))
    with showing_nodes() as advance:
        advance(1, 2)
    print_table("2 lists", ("practice",), [("loc-001",)])

    assert capsys.readouterr() == ("", "")


def test_on_a_terminal_a_list_is_one_bar_over_all_practices(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    at_a_terminal(monkeypatch, 120)

    with showing_lists(3) as report:
        report(Waiting("signing in to https://platform.example.com"))
        report(some("a", 3_000, 4_000))
        report(some("b", 2_000, 6_000))
        report(some("c", 500, 500, "certified"))
    with showing_nodes() as advance:
        advance(1, 2)

    out, err = capsys.readouterr()
    assert out == ""
    expected = ("signing in to https://platform.example.com", "5,500 of 10,500 rows", "1 of 3 practices")
    assert [words for words in (*expected, "1 of 2 models and tests") if words not in err] == []
