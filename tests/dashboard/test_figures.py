"""The figures on the pages are those of the marts."""

from collections.abc import Callable, Sequence
from datetime import date, timedelta
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

Open = Callable[..., AppTest]
Ask = Callable[..., list[tuple[Any, ...]]]
PATHS = ("", "funnel", "calls", "outreach", "tasks", "leaks", "health")


@pytest.fixture
def days(ask: Ask) -> tuple[date, date]:
    """Return the usual period: 28 days up to yesterday."""
    today: date = ask("select min(today) from marts.practices")[0][0]
    return today - timedelta(days=28), today - timedelta(days=1)


def values(page: AppTest) -> list[str]:
    assert not page.exception
    assert not page.warning
    return [str(metric.value) for metric in page.metric]


def shares(*pairs: Sequence[int]) -> list[str]:
    """Format shares as the pages do: whole percents, one digit below ten."""
    return [
        f"{100 * got / of:.0f}%" if got / of >= 0.1 else f"{100 * got / of:.1f}".rstrip("0").rstrip(".") + "%"
        for got, of in pairs
    ]


@pytest.mark.parametrize("path", PATHS)
def test_every_page_is_whole_and_every_figure_defined(opened: Open, path: str) -> None:
    page = opened(path)

    assert not page.exception
    assert not page.warning
    assert not page.error
    said = [metric.proto.help for metric in page.metric] + [str(text.value) for text in page.markdown]
    assert [text for text in said if "does not say" in text] == []


def test_the_five_numbers_of_a_monday_morning(opened: Open, ask: Ask, days: tuple[date, date]) -> None:
    since, until = days
    sums = """select sum(booked_within_7_days), sum(new_booking_callers), sum(recovered_within_7_days),
                     sum(missed_callers), sum(completed), sum(sessions), sum(booked), sum(contacted), sum(leaks)
              from marts.practice_daily where day between ? and ?"""
    now = ask(sums, since, until)[0]
    before = ask(sums, since - timedelta(days=28), since - timedelta(days=1))[0]
    page = opened()

    assert values(page) == [*shares(now[0:2], now[2:4], now[4:6], now[6:8]), f"{now[8]:,}"]
    assert page.metric[4].delta == f"{int(now[8] - before[8]):+,}"


def test_the_biggest_leak_is_the_largest_of_all(opened: Open, ask: Ask, days: tuple[date, date]) -> None:
    leaked, episodes, name = ask(
        """select sum(leaked), sum(episodes), any_value(name)
           from marts.demand_daily join marts.practices using (practice_id)
           where begun_by = 'client' and day between ? and ?
           group by practice_id, first_channel order by 1 desc""",
        *days,
    )[0]

    sentence = next(text.value for text in opened().markdown if "biggest leak" in text.value)
    assert f"at {name}**: of {episodes} wishes for an appointment that began there, {leaked} are" in sentence


def test_calls_and_their_hours(opened: Open, ask: Ask, days: tuple[date, date]) -> None:
    calls, answered, wanted, booked, missed = ask(
        """select sum(calls), sum(answered_calls), sum(new_booking_intent_calls), sum(new_booking_calls),
                  sum(missed_new_booking_calls) from marts.booking_intent_daily where day between ? and ?""",
        *days,
    )[0]
    page = opened("calls")

    assert values(page) == [f"{calls:,}", *shares((answered, calls), (booked, wanted)), f"{missed:,}"]
    hours = page.dataframe[0].value.to_dict("list")
    assert (sum(hours["missed_new_booking_calls"]), sum(hours["calls"])) == (missed, calls)


def test_the_hours_of_all_days_are_those_of_the_hourly_mart(opened: Open, ask: Ask) -> None:
    first, last = ask("select min(day), max(day) from marts.phone_calls")[0]
    page = opened("calls", period="Own days", **{"from": str(first), "to": str(last - timedelta(days=1))})
    shown = {(row["weekday"], row["hour"]): row["calls"] for row in page.dataframe[0].value.to_dict("records")}
    hourly = ask(
        """select weekday, hour, calls - (
               select count(*) from marts.phone_calls
               where day = ? and isodow(called_at_local) = weekday and hour(called_at_local) = hour
           ) from (select weekday, hour, sum(calls)::bigint as calls
                   from marts.booking_intent_hourly group by all)""",
        last,
    )

    assert shown == {(weekday, hour): calls for weekday, hour, calls in hourly if calls}


def test_outreach_and_its_suppressions(opened: Open, ask: Ask, days: tuple[date, date]) -> None:
    requests, contacted, booked, opted_out = ask(
        """select sum(requests), sum(contacted), sum(booked), sum(opted_out)
           from marts.outreach_outcomes_daily where day between ? and ?""",
        *days,
    )[0]
    reasons = ask(
        """select suppression_reason, sum(requests) from marts.outreach_suppressions_daily
           where day between ? and ? group by all""",
        *days,
    )
    page = opened("outreach")

    expected = [f"{requests:,}", *shares((contacted, requests), (booked, contacted), (opted_out, contacted))]
    assert values(page) == expected
    table = next(frame.value for frame in page.dataframe if "suppression_reason" in frame.value)
    assert dict(zip(table["suppression_reason"], table["requests"], strict=True)) == dict(reasons)


def test_clients_to_call_back_are_those_of_the_leak_list(opened: Open, ask: Ask) -> None:
    people = ask("select count(*) from marts.leak_list")[0][0]
    wanted, asked = ask("select wanted, count(*) from marts.leak_list group by wanted order by 2 desc, 1")[0]
    page = opened("leaks")

    assert len(page.dataframe[0].value) == people
    assert page.dataframe[0].value["urgency"].is_monotonic_increasing
    page.selectbox(key="wanted").select(wanted).run()
    assert len(page.dataframe[0].value) == asked


def test_shares_of_few_are_marked(opened: Open, ask: Ask) -> None:
    """A week of one practice is a small sample."""
    name = ask("select name from marts.practices order by name limit 1")[0][0]
    page = opened("outreach", period="Last 7 days", practice=name)
    marked = [caption.value for caption in page.caption if "few: says little" in caption.value]
    counts = [
        caption.value for caption in page.caption if " of " in caption.value and " contacted" in caption.value
    ]

    assert all((int(text.split(" of ")[1].split()[0]) < 30) == (text in marked) for text in counts)
    assert marked


def test_an_unproven_list_is_no_good_news(opened: Open, ask: Ask) -> None:
    unproven = ask(
        """select count(*) from marts.proof
           where certified_through is null and endpoint not in ('clients', 'patients')"""
    )[0][0]
    page = opened("health")

    assert unproven == 0
    assert page.success[0].value.startswith("Nothing is missing")
    assert len(page.dataframe[0].value) == ask("select count(*) from marts.proof")[0][0]
