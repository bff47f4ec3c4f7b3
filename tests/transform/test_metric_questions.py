"""The answers of `vetl metric`, from the file alone, compared with the rows; and the refused questions."""

import re
import shutil
from datetime import date, timedelta
from pathlib import Path

import duckdb
import pytest
from support.cells import Cells, Query, assert_equal, cells, rate
from support.dbt_build import Build
from vetl.bundled import dbt_project
from vetl.cli import app
from vetl.core.errors import WrongUse
from vetl.figures.ask import MetricAnswer, MetricQuestion, ask
from vetl.publishing.descriptions import declared_metrics
from vetl.publishing.marts import table_of

BY_DAY = ("practice", "day")


def values(answer: MetricAnswer, key: int) -> Cells:
    return {name: row[-3:-2] for name, row in cells(answer.rows, key).items()}


def sums(*columns: str, **others: str) -> dict[str, str]:
    """Return the aggregates of metrics with the names of columns, and with other names."""
    return {name: f"sum({sql})" for name, sql in ({name: name for name in columns} | others).items()}


OF_ROWS: dict[str, tuple[str, dict[str, str]]] = {
    "booking_requests left join marts.call_back_list as listed using (practice_id, episode_id)": (
        "first_channel",
        {
            "booking_requests": "count(*)",
            "booking_requests_booked": "count(booked_via)",
            "booking_requests_booked_exactly": "count(*) filter (where attribution = 'exact')",
            "booking_requests_lost": "count(lost_at)",
            "booking_requests_to_call_back": "count(listed.episode_id)",
            "booking_request_contacts": "sum(booking_requests.contacts)",
            "booking_request_booked_rate": "count(booked_via) / count(*)",
            "median_hours_to_booking": "median(hours_to_booking)",
            "booking_requests_kept": "count(*) filter (where is_kept)",
            "booking_requests_of_known_unbooked": (
                "count(*) filter (where begun_by = 'client' and booked_at is null and not is_anonymous)"
            ),
        },
    ),
    "appointments": ("booked_via", {"appointments": "count(*)", "appointments_attributed": "count(booked_via)"}),
    "phone_calls": (
        "direction",
        {
            "staff_minutes": "sum(duration_seconds) filter (where is_answered) / 60",
            "answered_rate": "count(*) filter (where is_answered) / count(*)",
        },
    ),
    "booking_funnel_stages": (
        "stage",
        sums(stage_sessions="sessions", stage_reached="reached", stage_continued="continued")
        | sums(stage_left="reached - continued")
        | {"drop_off_rate": "sum(reached - continued) / nullif(sum(reached), 0)"},
    ),
    "staff_task_turnaround_daily": ("task_type", sums(tasks_reopened="reopened")),
    "visits_daily": (
        "lead_time",
        sums(visits="appointments", visits_kept="kept", visits_canceled="canceled", visits_missed="no_show")
        | sums(visits_due="kept + no_show", visits_with_a_result="appointments - open")
        | {"no_show_rate": "sum(no_show) / nullif(sum(kept + no_show), 0)"}
        | {"cancellation_rate": "sum(canceled) / nullif(sum(appointments - open), 0)"},
    ),
    "rebookings_daily": (
        "day",
        sums("kept_visits", rebooked_when_leaving="booked_when_leaving")
        | sums(rebooked_within_30_days="booked_within_30_days")
        | {"rebooked_rate": "sum(booked_within_30_days) / nullif(sum(kept_visits), 0)"},
    ),
    "recalls_daily": (
        "day",
        sums(reminders_due="reminders", reminders_booked="booked_before + booked_after")
        | {"reminder_booked_rate": "sum(booked_before + booked_after) / sum(reminders)"},
    ),
    "visit_waits_daily": (
        "first_channel",
        sums("seen_within_7_days", "seen_within_14_days", requests_with_visit="with_visit")
        | {"seen_within_7_days_rate": "sum(seen_within_7_days) / nullif(sum(with_visit), 0)"},
    ),
    "call_endings_daily": (
        "call_classification",
        sums(inbound_calls="calls", calls_resolved="resolved", calls_handed_over="handed_over")
        | sums(calls_lost="lost", calls_with_an_ending="resolved + handed_over + lost")
        | {"containment_rate": "sum(resolved) / nullif(sum(resolved + handed_over + lost), 0)"},
    ),
    "first_responses_daily": (
        "channel",
        sums("responded_within_5_minutes", "responded_within_1_hour", "responded_within_1_day")
        | sums(contacts_to_answer="contacts", contacts_responded="responded")
        | {"response_within_1_day_rate": "sum(responded_within_1_day) / sum(contacts)"},
    ),
}
"""Marts, a dimension, and the metrics that no column of another mart counts: `test_explain.py` has the others."""


OF_NOW = {
    "booking_requests_to_call_back": ("booking_requests", "count(*) filter (where is_on_call_back_list)"),
    "median_hours_pending": ("staff_tasks", "median(hours_pending)"),
    "outreach_open": ("outreach_requests", "count(*) filter (where is_open)"),
    "reminders_overdue": ("recalls", "count(*) filter (where state = 'overdue')"),
    "sessions_active": ("booking_sessions", "count(*) filter (where status = 'active')"),
    "tasks_pending": ("staff_tasks", "count(*) filter (where status = 'pending')"),
}
"""The metrics that count what is so now: their rows and the aggregate over them."""


@pytest.mark.parametrize("mart", OF_ROWS)
def test_a_metric_is_the_rows_that_it_counts(mart: str, file: Path, query: Query) -> None:
    dimension, metrics = OF_ROWS[mart]
    for metric, aggregate in metrics.items():
        table, _, joined = mart.partition(" ")
        expected = query(
            f"select practice_id, {dimension}, {aggregate} from {table_of(table)} {joined} group by all"
        )
        found = values(ask(file, MetricQuestion(metric, ("practice", dimension))), 2)
        assert_equal(cells(expected, 2), found)


def test_every_metric_is_compared(filled: Build, query: Query) -> None:
    explained = {name for (name,) in query("select distinct counted_as from meta.catalogue")}
    compared = {metric for _, metrics in OF_ROWS.values() for metric in metrics} | OF_NOW.keys()

    assert {node["name"] for node in filled.manifest["metrics"].values()} - compared - explained == set(), (
        "compare them with the rows of their mart, in OF_ROWS"
    )


def test_a_rate_of_a_week_is_taken_of_its_sums(file: Path, filled: Build) -> None:
    def of(metric: str) -> Cells:
        return values(ask(file, MetricQuestion(metric, ("practice", "week"))), 2)

    rates = [node for node in filled.manifest["metrics"].values() if node["type"] == "ratio"]
    for node in rates:
        if node["name"] != "drop_off_rate":  # it has a value for a stage alone
            parts = node["type_params"]
            numerator, denominator = (of(parts[part]["name"]) for part in ("numerator", "denominator"))
            expected = {key: (rate(numerator[key][0], denominator[key][0]),) for key in denominator}
            assert_equal(expected, of(node["name"]))
    assert len(rates) > 10


@pytest.mark.parametrize("period", ["day", "week"])
@pytest.mark.parametrize("name", ["unique_callers", "missed_callers", "recovered_within_7_days"])
def test_people_are_read_from_the_mart_that_counts_them(name: str, period: str, file: Path, query: Query) -> None:
    mart = {"day": "practice_daily", "week": "practice_weekly"}[period]
    answer = ask(file, MetricQuestion(name, ("practice", period)))

    assert_equal(cells(query(f"select practice_id, {period}, {name} from {table_of(mart)}"), 2), values(answer, 2))


def test_a_comparison_limits_the_rows_and_null_is_a_value(file: Path, query: Query) -> None:
    for where, condition in {
        "direction=inbound": "direction = 'inbound'",
        "direction!=inbound": "direction is distinct from 'inbound'",
        "caller_type=null": "caller_type is null",
        "caller_type!=null": "caller_type is not null",
        "hour_of_day<=9": "extract(hour from called_at_local) <= 9",
    }.items():
        expected = query(f"select count(*) from marts.phone_calls where {condition}")[0][0]
        assert ask(file, MetricQuestion("calls", where=[where])).rows[0][0] == expected, where


def test_a_period_is_final_only_if_each_of_its_days_is(file: Path, query: Query) -> None:
    expected = query(
        "select practice_id, month, count(*), bool_and(is_final) from meta.practice_days group by all"
    )
    answer = ask(file, MetricQuestion("calls", ("practice", "month")))

    days = {row[:2]: row[2:] for row in expected}
    assert {row[:2]: row[-2:] for row in answer.rows} == {
        row[:2]: days.get(row[:2], (0, False))
        for row in answer.rows  # a practice that was taken out has no days
    }
    assert {True, False} == {row[-1] for row in expected}


@pytest.mark.parametrize(("metric", "days"), [("calls", 0), ("rebooked_rate", 30)])
def test_a_value_is_final_only_after_the_days_in_which_it_can_grow(
    metric: str, days: int, file: Path, tmp_path: Path
) -> None:
    """The random rows are of four weeks, so the practices of this copy were read three weeks later."""
    later = Path(shutil.copy(file, tmp_path / "later.duckdb"))
    with duckdb.connect(later) as connection:
        connection.execute("set TimeZone = 'UTC'; update marts.practices set as_of = as_of + interval 21 days")
        rows = connection.execute(
            f"select practice_id, day, is_final and ends_at + interval {24 * days} hours <= as_of"
            " from meta.practice_days join marts.practices using (practice_id)"
        ).fetchall()
    is_final = {row[:2]: row[2] for row in rows}

    answer = {row[:2]: row[-1] for row in ask(later, MetricQuestion(metric, BY_DAY)).rows}

    assert answer == {key: is_final.get(key, False) for key in answer}
    assert {True, False} == set(answer.values())


def test_a_measure_of_now_has_a_value_of_now_alone_which_is_never_final(file: Path, query: Query) -> None:
    """What still waits today of a month is no backlog of that month."""
    for name, (mart, aggregate) in OF_NOW.items():
        answer = ask(file, MetricQuestion(name, ("practice",)))
        expected = cells(query(f"select practice_id, {aggregate} from {table_of(mart)} group by all"), 1)
        assert_equal(expected, values(answer, 1))
        assert {row[-1] for row in answer.rows} == {False}
        assert "never final" in answer.metric.maturity
        for question in (
            *(MetricQuestion(name, ("practice", time)) for time in ("day", "week", "month", "weekday")),
            MetricQuestion(name, where=["week=2026-01-12"]),
            MetricQuestion(name, since=date(2026, 1, 12)),
            MetricQuestion(name, until=date(2026, 1, 12)),
        ):
            with pytest.raises(WrongUse, match="counts the present state, so no earlier day, week or month has a"):
                ask(file, question)
    assert OF_NOW.keys() == {name for name, is_of_now in declared_metrics(dbt_project()).items() if is_of_now}


@pytest.fixture
def without_a_value(file: Path, tmp_path: Path) -> Path:
    """Provide a copy in which no call comes from a new caller, none is made at 3, and every outreach is mature."""
    copied = Path(shutil.copy(file, tmp_path / "without.duckdb"))
    with duckdb.connect(copied) as connection:
        # In the private file the mart is a view, in the published one a table.
        rest = "from marts.phone_calls where caller_type <> 'new' and hour(called_at_local) <> 3"
        connection.execute(f"create temp table kept as {rest}")
        connection.execute("drop view marts.phone_calls")
        connection.execute("create table marts.phone_calls as from kept")
        connection.execute("delete from marts.outreach_requests where not is_mature")
    return copied


@pytest.mark.parametrize(
    ("metric", "where"),
    [
        ("calls", "caller_type=new"),
        ("calls", "hour_of_day=3"),
        ("outreach_requests", "is_mature=false"),
    ],
)
def test_a_possible_value_that_no_row_has_counts_nothing_and_says_so(
    metric: str, where: str, without_a_value: Path
) -> None:
    answer = ask(without_a_value, MetricQuestion(metric, where=[where]))

    assert answer.rows[0][0] == 0
    assert f"no row has {where}; values are " in "; ".join(answer.notes)


def test_days_without_data_have_no_number(file: Path) -> None:
    for question in (
        MetricQuestion("calls", since=date(2099, 1, 1)),
        MetricQuestion("calls", until=date(1999, 1, 1)),
        MetricQuestion("answered_rate", where=["week=2099-01-05"]),
        MetricQuestion("calls", ("caller_type",), since=date(2099, 1, 1)),
        MetricQuestion("unique_callers", ("practice", "week"), since=date(2099, 1, 1)),
    ):
        answer = ask(file, question)
        assert answer.rows == []
        assert re.match(
            r"there are no data of these days, so there is no number; the days are \d{4}-\d\d-\d\d to \d{4}-",
            answer.notes[0],
        )


def test_the_command_says_what_is_missing_without_being_asked(
    file: Path, query: Query, capsys: pytest.CaptureFixture[str]
) -> None:
    ((monday,),) = query("select cast(date_trunc('week', min(day)) as date) from marts.phone_calls")
    wednesday = monday + timedelta(days=9)

    assert app.execute(["metric", "calls", "--since", "2099-01-01", "--file", str(file)]) == 0
    assert "there are no data of these days, so there is no number" in capsys.readouterr().out
    asked = ("--by", "week", "--since", str(wednesday), "--until", str(wednesday + timedelta(days=4)))
    assert app.execute(["metric", "calls", *asked, "--file", str(file)]) == 0
    assert f"not every week is whole: {monday + timedelta(days=7)} (5 of 7 days)" in capsys.readouterr().out


def test_a_day_of_the_week_has_its_name(file: Path, query: Query) -> None:
    ((mondays,),) = query("select count(*) from marts.phone_calls where isodow(day) = 1")

    for text in ("Monday", "monday", "Mon", "1"):
        assert ask(file, MetricQuestion("calls", where=[f"weekday={text}"])).rows[0][0] == mondays
    later = ask(file, MetricQuestion("calls", ("weekday",), where=["weekday>Monday"])).rows
    assert [row[0] for row in later] == [2, 3, 4, 5, 6, 7]


def test_a_part_of_a_week_or_a_month_is_said(file: Path, query: Query) -> None:
    ((monday,),) = query(
        "select cast(date_trunc('week', day) as date) as monday from marts.phone_calls join meta.practice_days"
        " using (practice_id, day) group by monday having count(distinct day) = 7 order by count(*) desc limit 1"
    )
    wednesday, until = monday + timedelta(days=2), monday + timedelta(days=6)
    whole = ask(file, MetricQuestion("calls", ("week",), since=monday, until=until))
    part = ask(file, MetricQuestion("calls", ("week",), since=wednesday, until=until))
    mondays = ask(file, MetricQuestion("calls", ("week",), ["weekday=Monday"], monday, until))
    months = ask(file, MetricQuestion("calls", ("practice", "month"), since=wednesday, until=until))

    assert not any("is whole" in note for note in (*whole.notes, *mondays.notes))
    assert f"not every week is whole: {monday} (5 of 7 days)" in part.notes
    assert any(note.startswith(f"not every month is whole: {wednesday:%Y-%m}-01 (") for note in months.notes)


@pytest.mark.parametrize(
    ("question", "message"),
    [
        (MetricQuestion("unique_callers"), "do not add up; ask --by practice,day or --by practice,week"),
        (MetricQuestion("unique_callers", ("day",)), "do not add up"),
        (MetricQuestion("drop_off_rate"), "counts at each stage, so they do not add up; ask --by stage"),
        (MetricQuestion("cals"), "metric cals: not known here; did you mean calls"),
        (MetricQuestion("calls", ("pratice",)), "--by pratice: not known here; did you mean practice"),
        (MetricQuestion("calls", where=["(select 1)=1"]), "must be a dimension"),
        (MetricQuestion("calls", where=["client_name=Ann"]), "not known here"),
        (MetricQuestion("calls", where=["direction<null"]), "null can only be compared"),
        (MetricQuestion("calls", where=["hour_of_day<x"]), "hour_of_day<x: not known here; values are 0 to 23"),
        (MetricQuestion("calls", where=["month=12/2025"]), "month=12/2025: must be a month such as 2025-12"),
        (
            MetricQuestion("calls", where=["week>x"]),
            "week>x: must be a day such as 2025-12-01, a week by its Monday",
        ),
        (MetricQuestion("calls", where=["caller_type=New"]), "no row has caller_type=New; values are "),
        (MetricQuestion("calls", where=["group=Nowhere"]), "no row has group=Nowhere; values are "),
        (MetricQuestion("calls", where=["hour_of_day=25"]), "hour_of_day=25: not known here; values are 0 to 23"),
        (MetricQuestion("calls", where=["weekday=8"]), "weekday=8: not known here; values are Monday, Tuesday"),
        (MetricQuestion("calls", where=["weekday=T"]), "weekday=T: not known here; values are Monday, Tuesday"),
        (
            MetricQuestion("calls", where=["state=' or 1=1; drop table marts.phone_calls"]),
            "no row has state=' or 1=1; drop table marts.phone_calls; values are ",
        ),
        (
            MetricQuestion("calls", since=date(2026, 2, 1), until=date(2026, 1, 1)),
            "the first day, 2026-02-01, is after the last one, 2026-01-01",
        ),
    ],
)
def test_a_question_with_no_right_answer_is_refused_in_one_line(
    question: MetricQuestion, message: str, file: Path
) -> None:
    with pytest.raises(WrongUse, match=message) as refused:
        ask(file, question)

    assert "\n" not in str(refused.value)
