"""A fact keeps its first day, ends when it is found no more, and is one again if it comes back soon."""

from dataclasses import replace
from datetime import date, timedelta

from hypothesis import given, strategies as st
from vetl.headlines.finding import NEWS, Headline, kept
from vetl.headlines.measures import made_of, words_of
from vetl.headlines.surprise import Fact

MONDAY = date(2026, 3, 2)
SHIFT = Fact("p", "shift", "answered", None, MONDAY, None, 0.6, 0.85, 60, 100, 25, 6.0)
HOURS = replace(SHIFT, shape="hours", until=MONDAY, some=1, whole=17, value=1 / 17, people=13, hours=(8, 12))


def day(number: int) -> dict[str, date]:
    return {"p": MONDAY + timedelta(days=number)}


def test_a_fact_keeps_its_first_day_and_the_day_it_was_stated() -> None:
    first = kept([], [SHIFT], day(5))
    later = kept(first, [replace(SHIFT, since=MONDAY + timedelta(days=2), people=40)], day(9))

    assert later == [Headline(replace(SHIFT, people=40), day(5)["p"], 1)]


def test_a_fact_that_is_found_no_more_is_over_and_stays() -> None:
    over = kept(kept([], [SHIFT], day(5)), [], day(9))
    assert over == [Headline(replace(SHIFT, until=day(8)["p"]), day(5)["p"], None)]

    again = kept(over, [replace(SHIFT, since=day(12)["p"])], day(15))
    assert [(one.fact.since, one.fact.until, one.rank) for one in again] == [(MONDAY, None, 1)]

    much_later = kept(over, [replace(SHIFT, since=day(40)["p"])], day(45))
    assert [one.fact.since for one in much_later] == [day(40)["p"], MONDAY]


def test_hours_are_news_for_a_week_and_other_practices_stay() -> None:
    other = replace(SHIFT, practice_id="q")
    first = kept([], [HOURS, other], {**day(1), "q": MONDAY})
    assert [(one.fact.practice_id, one.rank) for one in first] == [("q", 1), ("p", 2)]

    later = kept(first, [HOURS], {"p": MONDAY + NEWS})
    assert [(one.fact.practice_id, one.rank, one.fact.until) for one in later] == [
        ("p", None, MONDAY),
        ("q", None, None),
    ]


def _level(practice: str, measure: str, since: int, people: int) -> Fact:
    return replace(
        SHIFT, practice_id=practice, measure=measure, since=MONDAY + timedelta(days=since), people=float(people)
    )


FACTS = st.lists(
    st.builds(
        _level,
        st.sampled_from("pq"),
        st.sampled_from(["answered", "no_show", "task_done"]),
        st.integers(-30, 0),
        st.integers(4, 90),
    ),
    unique_by=lambda fact: (fact.practice_id, fact.measure),
)


@given(mornings=st.lists(FACTS, min_size=1, max_size=6))
def test_a_key_is_one_fact_and_ranks_count_the_present_ones(mornings: list[list[Fact]]) -> None:
    lines: list[Headline] = []
    for number, found in enumerate(mornings):
        today = {"p": MONDAY + timedelta(days=number), "q": MONDAY + timedelta(days=number)}
        before = {(one.fact.practice_id, one.fact.key, one.fact.since) for one in lines}
        lines = kept(lines, found, today)
        keys = [(one.fact.practice_id, one.fact.key, one.fact.since) for one in lines]
        assert len(keys) == len(set(keys))
        assert before <= set(keys), "a fact once stated stays"
        assert [one.rank for one in lines if one.rank] == list(range(1, len(found) + 1))


def test_a_line_says_practice_time_and_both_levels() -> None:
    assert words_of(SHIFT, "Harbor") == (
        "Harbor: since 2 March 2026 60% of calls in opening hours are answered; usual are 85%"
    )
    assert words_of(HOURS, "Harbor") == (
        "Harbor: on 2 March 2026 from 8:00 to 12:00 16 of 17 calls were unanswered; usual are 3"
    )
    assert words_of(replace(SHIFT, shape="weekday", weekday=0), "Harbor") == (
        "Harbor: on Mondays 60% of calls in opening hours are answered; on other days 85% (since 2 March 2026)"
    )
    assert made_of(HOURS) == "1 of 17 calls"


def test_a_part_is_named_only_if_it_is_a_plain_word() -> None:
    source = replace(SHIFT, measure="source", value=0.01, usual=0.2)

    assert "come from newsletter;" in words_of(replace(source, part="newsletter"), "Harbor")
    assert "come from walk in;" in words_of(replace(source, part="walk in"), "Harbor")
    for text in ("jane@example.com", "+12125550100", "Jane Doe of Main Street"):
        assert "come from one source;" in words_of(replace(source, part=text), "Harbor")
