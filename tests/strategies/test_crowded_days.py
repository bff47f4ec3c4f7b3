"""The proof that passes over a day beyond one page give: by hand, answer by answer."""

from datetime import UTC, date, datetime

from pipelines.core.pages import Page, Row, Window
from pipelines.reading.paging import Pass
from pipelines.strategies.phone_calls.crowded_days import rows_at

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
DAY = date(2026, 2, 28)


def passed(*pages: str, total: int) -> Pass:
    """Return one pass: each page as `id` or `id=value` words, two a page, all with one total."""
    rows = [tuple(row(word) for word in page.split()) for page in pages]
    return Pass(Window(DAY, DAY), tuple(Page(page, total, None, 2, NOON) for page in rows), 2)


def row(word: str) -> Row:
    identity, _, value = word.partition("=")
    return {"id": identity, "summary": value}


def test_calls_met_before_and_after_as_many_as_the_total_are_the_day() -> None:
    passes = [passed("a b", "c", total=3), passed("c b", "a", total=3)]

    assert sorted(str(call["id"]) for call in rows_at(passes, 1) or ()) == ["a", "b", "c"]


def test_a_call_that_is_missed_each_time_leaves_the_day_unproven() -> None:
    """The same two pages come again and again, as if each page sorted ties differently: `c` is never shown."""
    passes = [passed("a b", "b", total=3)] * 3

    assert [rows_at(passes, number) for number in (1, 2)] == [None, None]


def test_a_call_that_changed_in_between_is_not_guessed() -> None:
    passes = [passed("a b", "c=1", total=3), passed("a b", "c=2", total=3)]
    assert rows_at(passes, 1) is None

    passes.append(passed("a b", "c=2", total=3))

    assert rows_at(passes, 1) is None
    assert row("c=2") in (rows_at(passes, 2) or ())


def test_a_call_that_came_and_one_that_went_do_not_make_up_for_each_other() -> None:
    passes = [passed("a b", "c", total=3), passed("a b", "d", total=3)]

    assert rows_at(passes, 1) is None


def test_a_pass_with_a_false_total_makes_all_passes_worthless() -> None:
    lying = passed("a b", "c d", total=3)

    assert rows_at([passed("a b", "c", total=3), passed("a b", "c", total=3), lying], 1) is None
