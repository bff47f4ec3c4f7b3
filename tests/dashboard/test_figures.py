"""The figures on the pages are those of the marts.

The page of any measure gives the numbers of `vetl metric`, and refuses no choice without a word.
"""

import json
import re
from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any

import polars as pl
import pytest
from board import charts
from board.pages import PAGES
from board.words import named, plain
from streamlit.testing.v1 import AppTest
from support.dashboard_pages import Ask, Copied, Open

CALLERS, OUTREACH, REQUESTS = timedelta(days=7), timedelta(days=4), timedelta(days=14)
"""The times after which a figure changes no more by itself."""


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


def sums(ask: Ask, mart: str, columns: str, since: date, until: date, where: str = "true") -> tuple[int, ...]:
    """Return the sums of columns of a mart over these days."""
    totals = ", ".join(f"sum({column})" for column in columns.split())
    return ask(f"select {totals} from marts.{mart} where {where} and day between ? and ?", since, until)[0]


@pytest.mark.parametrize("path", ["", *(page.path for page in PAGES[1:])])
def test_every_page_is_whole_and_every_figure_defined(opened: Open, path: str) -> None:
    page = opened(path)

    assert not page.exception
    assert not page.warning
    assert not page.error
    said = [metric.proto.help for metric in page.metric] + [str(text.value) for text in page.markdown]
    assert [text for text in said if "does not say" in text] == []
    for metric in page.metric:
        assert not str(metric.delta).startswith(("+0 ", "0")), "a green +0 would be read as good news"
        if metric.delta == "no change":
            assert metric.proto.color == metric.proto.MetricColor.GRAY


def test_the_figures_of_a_monday_leave_open_days_out(opened: Open, ask: Ask, days: tuple[date, date]) -> None:
    since, until = days
    answered = sums(ask, "practice_daily", "answered_inbound_calls inbound_calls", *days)
    callers = sums(ask, "practice_daily", "booked_within_7_days new_booking_callers", since, until - CALLERS)
    outreach = sums(ask, "practice_daily", "booked contacted", since, until - OUTREACH)
    online = sums(ask, "practice_daily", "completed sessions", *days)
    by_client = "begun_by = 'client'"
    (not_booked,) = sums(ask, "booking_requests_daily", "not_booked", since, until - REQUESTS, by_client)
    (before,) = sums(
        ask, "booking_requests_daily", "not_booked", since - REQUESTS, since - timedelta(days=1), by_client
    )
    page = opened()

    assert values(page)[:4] == shares(answered, callers, online, outreach)
    people, visitors = (int(metric.value) for metric in page.metric[4:6])
    assert people + visitors == not_booked
    changes = [int(metric.delta.replace("no change", "0").replace(",", "")) for metric in page.metric[4:6]]
    assert sum(changes) == not_booked - before
    said = [caption.value for caption in page.caption]
    assert sum("21 of 28 days" in text for text in said) == 1
    assert sum("14 of 28 days" in text for text in said) == 2


def test_a_week_in_which_callers_may_still_be_booked_has_no_figure_of_them(opened: Open) -> None:
    """It would be 0 % every Monday."""
    page = opened(period="7")

    assert [str(metric.value) for metric in page.metric[1:2]] == ["\N{EN DASH}"]
    assert not page.metric[1].delta
    assert sum("no day is 7 days old yet" in caption.value for caption in page.caption) == 1


def test_the_scorecard_has_each_practice_and_its_share(opened: Open, ask: Ask, days: tuple[date, date]) -> None:
    expected = ask(
        """select name, sum(completed) / sum(sessions) from marts.practice_daily
           join marts.practices using (practice_id) where day between ? and ? group by name order by name""",
        *days,
    )
    table = opened(figure="online").dataframe[0].value

    assert list(zip(table["practice"], table["online_share"], strict=True)) == [
        (name, pytest.approx(float(share), abs=5e-4)) for name, share in expected
    ]


def test_calls_and_their_hours(opened: Open, ask: Ask, days: tuple[date, date]) -> None:
    by_direction = ask(
        """select direction, sum(answered_calls), sum(calls) from marts.booking_intent_daily
           where day between ? and ? group by direction""",
        *days,
    )
    ways = {direction: (answered, calls) for direction, answered, calls in by_direction}
    columns = "calls new_booking_intent_calls new_booking_calls missed_new_booking_calls"
    calls, wanted, booked, missed = sums(ask, "booking_intent_daily", columns, *days)
    page = opened("phones")

    found = values(page)
    assert [found[0], *found[2:]] == shares(ways["inbound"], ways["outbound"], (booked, wanted))
    hours = page.dataframe[0].value.to_dict("list")
    assert (sum(hours["missed_new_booking_calls"]), sum(hours["calls"])) == (missed, calls)
    unanswered = calls - sum(answered for answered, _ in ways.values())
    assert sum(hours["unanswered_calls"]) == unanswered
    [first, *_] = [json.loads(chart.proto.spec) for chart in page.get("vega_lite_chart")]
    assert first["encoding"]["color"]["field"] == "unanswered_calls", "the hours of a dead line looked best"


def test_one_line_reconciles_the_figures_of_the_phone(opened: Open, ask: Ask, days: tuple[date, date]) -> None:
    columns = "new_booking_intent_calls missed_new_booking_calls"
    calls, unbooked = sums(ask, "booking_intent_daily", columns, *days, "direction = 'inbound'")
    callers, missed = sums(ask, "practice_daily", "new_booking_callers missed_callers", *days)
    by_phone = "first_channel = 'call' and begun_by = 'client'"
    requests, open_ones = sums(ask, "booking_requests_daily", "episodes not_booked", *days, by_phone)
    line, *_ = [text.value for text in opened("phones").markdown if "inbound calls" in text.value]

    numbers = [int(text) for text in re.findall(r"[\d]+", line.replace(",", "")) if text != "14"]
    assert numbers == [calls, unbooked, round(callers / 28), round(missed / 28), requests, open_ones]


def test_outreach_and_its_suppressions(opened: Open, ask: Ask, days: tuple[date, date]) -> None:
    mart, (since, until) = "outreach_outcomes_daily", days
    requests, contacted = sums(ask, mart, "requests contacted", *days)
    ended = sums(ask, mart, "booked contacted opted_out", since, until - OUTREACH)
    reasons = ask(
        """select suppression_reason, sum(requests) from marts.outreach_suppressions_daily
           where day between ? and ? group by all""",
        *days,
    )
    page = opened("outreach")

    expected = [f"{requests:,}", *shares((contacted, requests), ended[:2], ended[:0:-1])]
    assert values(page) == expected
    table = next(frame.value for frame in page.dataframe if "suppression_reason" in frame.value)
    assert dict(zip(table["suppression_reason"], table["requests"], strict=True)) == {
        named(reason): requests for reason, requests in reasons
    }


def test_a_card_shows_its_last_weeks(opened: Open, ask: Ask) -> None:
    page = opened()
    weeks = ask(
        """select sum(answered_inbound_calls) / sum(inbound_calls) as answered from marts.practice_weekly
           where week + 6 < (select min(today) from marts.practices) group by week order by week desc limit 13"""
    )

    lines = [chart.proto for chart in page.get("vega_lite_chart")][: len(page.metric)]
    shown = pl.read_ipc_stream(lines[0].datasets[0].data.data).get_column("value")
    assert page.metric[0].label == "Calls answered"
    assert shown.to_list() == pytest.approx([value for (value,) in reversed(weeks)])
    assert len(lines) == len(page.metric)


def test_overview_and_call_back_have_one_number_of_people_to_call(opened: Open) -> None:
    (line,) = (str(item.value) for item in opened("call-back").markdown if "to call back" in str(item.value))
    labels = [str(getattr(link, "label", "")) for link in opened().get("page_link")]
    links = [label for label in labels if "to call back" in label]

    assert links
    assert line.split(" to call back")[0].strip("*") == links[0].split(" ")[0].strip("*")


def test_clients_to_call_back_are_those_of_the_list(opened: Open, ask: Ask) -> None:
    still_open = "from marts.call_back_list where reason not in ('declined', 'resolved')"
    [(people,)] = ask(f"select count(*) {still_open}")
    wanted, asked = ask(f"select wanted, count(*) {still_open} group by wanted order by 2 desc, 1")[0]
    [(everybody,)] = ask("select count(*) from marts.call_back_list")
    page = opened("call-back")

    assert len(page.dataframe[0].value) == people
    assert page.dataframe[0].value["urgency"].is_monotonic_increasing
    page.selectbox(key="wanted").select(wanted).run()
    assert len(page.dataframe[0].value) == asked
    assert len(opened("call-back", ended="all").dataframe[0].value) == everybody > people


def test_what_waits_is_the_whole_backlog(opened: Open, ask: Ask) -> None:
    waiting, old = ask(
        """select count(*), count(*) filter (where hours_pending >= 168)
           from marts.staff_tasks where status = 'pending'"""
    )[0]

    said = next(text.value for text in opened("tasks").markdown if "now, whenever created" in text.value)
    assert said == f"**{waiting} tasks wait** now, whenever created; {old} of them for over a week."


def test_appointments_count_by_the_day_of_the_visit(opened: Open, ask: Ask, days: tuple[date, date]) -> None:
    due, kept, canceled, no_show = ask(
        """select count(*), count(*) filter (where attendance = 'kept'),
                  count(*) filter (where attendance = 'canceled'),
                  count(*) filter (where attendance = 'no_show')
           from marts.appointments where booking_date_local::date between ? and ?""",
        *days,
    )[0]

    found = values(opened("appointments"))
    assert found[:4] == [f"{due:,}", *shares((kept, due), (canceled, due), (no_show, kept + no_show))]


@pytest.mark.parametrize("path", ["", "phones", "appointments", "online-booking", "outreach", "tasks"])
def test_weeks_are_whole_from_that_in_which_the_period_begins(
    path: str, opened: Open, days: tuple[date, date]
) -> None:
    since, until = days
    first, over = since - timedelta(days=since.weekday()), until - timedelta(days=until.weekday() + 1)

    weeks = [set(one.value["week"]) for one in opened(path).dataframe if "week" in one.value]
    in_running_week = opened(path, period="own", **{"from": over + timedelta(days=1), "to": until})

    assert weeks
    assert all(min(one).date() == first and max(one).date() <= over for one in weeks)
    assert not any("week" in one.value for one in in_running_week.dataframe)
    assert {line.value for line in in_running_week.info} & {
        "Nothing in the whole weeks of this period.",
        "No week of this period has ended all of its requests.",
    }


def test_ticks_have_the_decimals_that_they_need() -> None:
    """Half an hour is not 1, and half a percent not 1%."""
    table = pl.DataFrame({"practice": ["a", "b"], "hours": [0.3, 0.5], "calls": [1, 2]})

    def axis(amount: str, *, share: bool = False) -> dict[str, Any]:
        return charts.bars(table, amount, "practice", share=share).to_dict()["layer"][0]["encoding"]["x"]["axis"]

    assert {"format", "tickMinStep"}.isdisjoint(axis("hours"))
    assert axis("hours", share=True)["format"] == "~%"
    assert axis("calls")["tickMinStep"] == 1


@pytest.mark.parametrize("least", [30, 8])
def test_shares_of_few_are_marked(opened: Open, copied: Copied, least: int) -> None:
    """A week of one practice is a small sample; `[definitions] small_sample` says how small."""
    file = copied(f"update meta.catalogue set definition = '{least}' where column_name = 'small_sample'")
    page = opened("outreach", file, period="28", practice="loc-001")
    said = [caption.value for caption in page.caption]
    counts = [text for text in said if " of " in text and " contacted" in text]

    assert counts
    assert all((int(text.split(" of ")[1].split()[0]) < least) == ("few: says little" in text) for text in counts)


def test_an_unproven_list_is_no_good_news(opened: Open, ask: Ask) -> None:
    unproven = ask(
        """select count(*) from meta.proof
           where certified_through is null and endpoint not in ('clients', 'patients')"""
    )[0][0]
    page = opened("health")

    assert unproven == 0
    assert page.success[0].value.startswith("No call, session, appointment, outreach request or task is missing")
    assert any("Clients and patients are read by id" in info.value for info in page.info)
    assert len(page.dataframe[1].value) == ask("select count(*) from meta.proof")[0][0]


def test_the_rows_behind_a_figure_are_those_of_the_period(opened: Open, ask: Ask, days: tuple[date, date]) -> None:
    page = opened("rows", figure="booking_intent_daily.missed_intent_calls")
    expected = ask(
        "select call_key from marts.phone_calls where is_missed_intent and day between ? and ? order by 1", *days
    )

    assert not page.exception
    assert page.metric[0].value == str(len(expected))
    assert sorted((key,) for key in page.dataframe[0].value["call_key"]) == expected
    assert any("certified through" in str(line.value) for line in page.caption)
    assert any("&figure=booking_intent_daily.calls)" in text.value for text in opened("phones").markdown)


def test_people_behind_a_figure_of_one_day_are_keys(opened: Open, ask: Ask) -> None:
    figure = "practice_daily.unique_callers"
    ((practice, day, callers),) = ask(
        "select practice_id, day, unique_callers from marts.practice_daily where is_final = false"
        " and day < (select min(today) from marts.practices) order by 3 desc, 1, 2 limit 1"
    )
    page = opened("rows", figure=figure, span="day", of=practice, on=str(day))

    assert not page.exception
    assert page.metric[0].value == str(callers)
    assert "name" not in page.dataframe[0].value.columns
    assert "do not add up" in opened("rows", figure=figure).info[0].value


def test_the_weeks_ahead_count_what_is_booked_and_what_usually_was_by_now(opened: Open, ask: Ask) -> None:
    """The usual is a mean of the weeks that the history of each practice covers."""
    visits = ask(
        "select practice_id, attendance <> 'canceled', booking_date_local::date, created_at_local"
        " from marts.appointments"
    )
    booked, made, usual = [0] * 5, [0] * 5, [0.0] * 5
    for practice, today, now, earlier in ask(
        "select practice_id, today, as_of_local, least(8, (today - history_start - 28) // 7) from marts.practices"
    ):
        for of, is_on, day, created in visits:
            for ago in range(earlier + 1) if of == practice else ():
                week = (day - today).days // 7 + ago
                if 0 <= week < 5 and not ago:
                    booked[week] += is_on
                    made[week] += 1
                elif 0 <= week < 5 and created <= now - timedelta(weeks=ago):
                    usual[week] += 1 / earlier
    page = opened("appointments")
    table, weeks = page.dataframe[0].value, [week for week in range(5) if made[week]]

    assert booked[0]
    assert list(table["visits_booked"]) == [booked[week] for week in weeks]
    assert list(table["made_by_now"]) == [made[week] for week in weeks]
    assert list(table["usually_booked"]) == [pytest.approx(usual[week], abs=0.51) for week in weeks]
    assert page.markdown[0].value.startswith(f"**{booked[0]} visits are booked** for the next 7 days")


def test_overview_begins_with_what_is_unusual(opened: Open, ask: Ask, copied: Copied) -> None:
    """The costliest line first, of the chosen practices alone; without any, that is said."""
    fact = """
        insert into marts.headlines by name
        select practice_id, 'answered_hours' as measure, today as since, today as until, today as first_seen,
               'lower' as direction, 0.1 as value, 0.9 as usual, 12 as people, 0.99 as sureness,
               row_number() over (order by practice_id) as rank, '1 of 10 calls' as made_of,
               'Line *of* ' || practice_id as words from marts.practices
    """
    file = copied("delete from marts.headlines", fact)
    practices = [practice for (practice,) in ask("select practice_id from marts.practices order by all")]
    said = [text.value for text in opened(file=file).markdown]

    assert [f"**{plain(f'Line *of* {practice}')}.** It cost about 12 people." for practice in practices] == said[
        :2
    ]
    assert "*of*" not in said[0]
    [alone, *_] = [text.value for text in opened(file=file, practice=practices[1]).markdown]
    assert plain(practices[1]) in alone
    assert "Nothing is unusual" in opened(file=copied("delete from marts.headlines")).markdown[0].value
