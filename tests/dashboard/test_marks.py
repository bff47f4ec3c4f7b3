"""Marks on Call back: who was reached leaves the list, who did not answer comes last, until they try again."""

import stat
from pathlib import Path

import pytest
from board.marks import Marks, parameters_of
from streamlit.testing.v1 import AppTest
from support.dashboard_pages import Ask, Open

OPEN = "from marts.call_back_list where reason is null or reason not in ('declined', 'resolved')"


@pytest.fixture
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "marks.sqlite"
    monkeypatch.setenv("VETL_DASHBOARD__MARKS", str(path))
    return path


def people(page: AppTest) -> int:
    assert not page.exception
    (line,) = (str(item.value) for item in page.markdown if "to call back" in str(item.value))
    return int(line.split()[0].removeprefix("**").replace(",", ""))


def press(page: AppTest, mark: str) -> AppTest:
    """Press the button of the first person."""
    first = next(button for button in page.button if (button.key or "").startswith(f"{mark}-"))
    return first.click().run()


def test_who_is_done_or_not_needed_leaves_the_list_until_asked_for(opened: Open, ask: Ask, ledger: Path) -> None:
    ((everybody,),) = ask(f"select count(*) {OPEN}")
    page = opened("call-back")
    first = page.button[0].key

    assert people(page) == everybody
    page = press(page, "done")
    assert people(page) == everybody - 1
    assert page.button[0].key != first
    assert people(press(page, "not_needed")) == everybody - 2
    assert people(opened("call-back", marked="all")) == everybody
    assert stat.S_IMODE(ledger.stat().st_mode) == 0o600


def test_who_does_not_answer_comes_last_and_is_counted(opened: Open, ask: Ask, ledger: Path) -> None:
    ((everybody,),) = ask(f"select count(*) {OPEN}")
    page = opened("call-back")
    first = (page.button[0].key or "").removeprefix("done-")
    page = press(press(page, "no_answer"), "no_answer")

    assert people(page) == everybody
    assert first not in {(button.key or "").removeprefix("done-") for button in page.button}
    table = page.dataframe[0].value
    assert list(table["unanswered"].dropna()) == [1, 1]
    assert list(table["unanswered"].tail(2)) == [1, 1]
    assert ledger.exists()


def test_a_mark_holds_until_the_client_tries_again(opened: Open, ask: Ask, ledger: Path) -> None:
    ((everybody,),) = ask(f"select count(*) {OPEN}")
    page = press(opened("call-back"), "done")
    assert people(page) == everybody - 1

    with Marks.open(ledger) as marks, marks.writing():
        marks._connection.execute("update marks set marked_at = '2020-01-01T00:00:00+00:00'")  # pyright: ignore[reportPrivateUsage]

    assert people(opened("call-back")) == everybody


def test_a_file_that_cannot_be_kept_is_said_in_a_line(opened: Open, ledger: Path) -> None:
    page = opened("call-back")
    ledger.mkdir()

    page = press(page, "done")

    assert "marks.sqlite" in page.error[0].value


def test_without_a_place_for_marks_there_are_no_buttons(opened: Open) -> None:
    assert not [button for button in opened("call-back").button if (button.key or "").startswith("done-")]
    assert not any(parameters_of(None).values())
