"""Tables by width: columns are hidden by rank, words stay whole, colours can be turned off."""

import re
import sys
import time
from datetime import UTC, datetime, timedelta

import pytest

from pipelines.cli.output import direct
from pipelines.cli.quarantine import COLUMNS as QUARANTINE
from pipelines.cli.status import COLUMNS as STATUS
from pipelines.cli.terminal import TableColumn, print_table
from pipelines.cli.times import ago, in_words, local, zone
from pipelines.cli.views import PRACTICE_COLUMNS, SYNC_COLUMNS
from pipelines.jobs.logs import sentence

COLUMNS = (TableColumn("practice"), TableColumn("state"), TableColumn("rows", 1), TableColumn("evidence", 2))
ROWS = [("loc-001", "certified", 1200, "one page is one snapshot"), ("loc-002", "failed", 3, "")]
NOW = datetime(2026, 1, 16, 12, tzinfo=UTC)


def at_a_terminal(patch: pytest.MonkeyPatch, width: int, *, colours: bool = True) -> None:
    """Make standard output report that it is a terminal of this width."""
    direct(quiet=False, log_file=None, log_format="text")
    patch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    patch.setenv("TERM", "xterm-256color")
    patch.setenv("COLUMNS", str(width))
    patch.delenv("NO_COLOR", raising=False)
    if not colours:
        patch.setenv("NO_COLOR", "1")


def printed(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return [re.sub(r"\x1b\[\d+m", "", line).rstrip() for line in capsys.readouterr().out.splitlines()]


@pytest.mark.parametrize(
    ("width", "header"),
    [(60, "practice  state      rows  evidence"), (30, "practice  state      rows"), (20, "practice  state")],
)
def test_columns_leave_in_their_order_and_words_stay_whole(
    width: int, header: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    at_a_terminal(monkeypatch, width, colours=False)

    print_table("2 lists", COLUMNS, ROWS)

    title, head, first, second, *hidden = printed(capsys)
    assert (title, head) == ("2 lists", header)
    assert "certified" in first
    assert "failed" in second
    assert " ".join(hidden).startswith("not shown at this width:" if width < 60 else "")
    assert ("evidence" in " ".join(hidden)) == (width < 60)


def test_a_column_is_wrapped_before_it_is_hidden_and_an_empty_one_is_hidden(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    columns = (TableColumn("check"), TableColumn("found", 1, min_width=10), TableColumn("drift", 2))
    at_a_terminal(monkeypatch, 19, colours=False)

    print_table("", columns, [("order", "created_at descending", "")])
    print_table("", columns, [("order", "created_at descending", "field x")])

    wrapped = ["check  found", "order  created_at", "       descending"]
    assert printed(capsys) == [*wrapped, *wrapped, "not shown at this", "width: drift"]


@pytest.mark.parametrize(("width", "header"), [(40, "practice summary outcome"), (30, "practice summary")])
def test_answers_are_wrapped_and_lose_columns_only_if_words_would_break(
    width: int, header: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    at_a_terminal(monkeypatch, width, colours=False)

    print_table("", ("practice", "summary", "outcome"), [("loc-001", "wants to come", "appointment_booked")])

    assert printed(capsys)[0].split() == header.split()


def test_without_a_terminal_no_column_is_hidden(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    direct(quiet=False, log_file=None, log_format="text")

    print_table("", COLUMNS, ROWS)

    assert "one page is one snapshot" in capsys.readouterr().out


def test_states_have_colours_unless_no_color_is_set(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    at_a_terminal(monkeypatch, 60)
    print_table("", COLUMNS, ROWS)
    assert "\x1b[32mcertified" in capsys.readouterr().out
    at_a_terminal(monkeypatch, 60, colours=False)
    print_table("", COLUMNS, ROWS)
    assert "\x1b[3" not in capsys.readouterr().out


@pytest.mark.parametrize("columns", [(*STATUS, "quarantined"), SYNC_COLUMNS, PRACTICE_COLUMNS, QUARANTINE])
def test_columns_that_are_never_hidden_fit_into_80_columns(columns: tuple[str | TableColumn, ...]) -> None:
    """This is checked with the longest name of a list and an ordinary id; times and reasons need one word."""
    longest = {
        "practice": "practice-0001",
        "list": "service_reminder_events",
        "state": "uncertified",
        "certified until": "2025-12-31",
        "row": "r" * 15,
        "reason": "appointment",
    }
    named = [TableColumn(column) if isinstance(column, str) else column for column in columns]
    stay = [column.name for column in named if not column.hide_rank]

    assert sum(len(longest.get(name, name)) + 2 for name in stay) <= 80


def test_times_have_their_year_and_in_this_machines_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    try:
        assert local("2026-01-16T05:30:00Z") == "2026-01-16 00:30"
        assert local("2025-01-16") == "2025-01-16"
        assert local(None) == ""
        line = in_words(f"failed at {NOW.isoformat()}: 2026-01-16")
        assert line.startswith("failed at 2026-01-16 07:00 (")
        assert line.endswith("ago): 2026-01-16")
        assert zone() in {"EST", "EDT"}
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize(
    ("past", "words"),
    [
        (timedelta(seconds=59), "just now"),
        (timedelta(minutes=5), "5 min ago"),
        (timedelta(hours=23), "23 h ago"),
        (timedelta(days=1), "1 day ago"),
        (timedelta(days=40), "40 days ago"),
    ],
)
def test_ages_are_shown_in_their_largest_unit(past: timedelta, words: str) -> None:
    assert ago(NOW - past, NOW) == words
    assert ago((NOW - past).isoformat(), NOW) == words


def test_an_event_of_the_log_is_a_sentence_and_an_unknown_one_keeps_its_values() -> None:
    assert sentence("retry", {"asked": "GET x", "wait": 0.25, "attempt": 2, "cause": "HTTP 500"}) == (
        "GET x: asked again in 0.2 s after attempt 2: HTTP 500"
    )
    assert sentence("something_else", {"a": 1}) == "something else a=1"
