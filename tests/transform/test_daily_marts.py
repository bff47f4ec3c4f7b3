"""The daily marts, cell by cell, against the definitions of the contract worked out in plain Python."""

from datetime import timedelta
from itertools import chain
from typing import Any

from support.cells import Query, assert_equal, cells, count, groups, hours, local_day, median_of, rate
from support.random_rows import SOURCE_CLOCK, Row, Tables


def funnel(sessions: list[Row]) -> tuple[Any, ...]:
    completed = [row for row in sessions if row["status"] == "completed"]
    minutes = [hours(row["created_at"], row["last_activity_at"] or row["updated_at"]) for row in completed]
    return (
        len(sessions),
        len(completed),
        count(sessions, lambda row: row["status"] == "abandoned"),
        count(sessions, lambda row: row["status"] == "active"),
        count(sessions, lambda row: row["appointment_id"] or row["remote_appointment_id"]),
        rate(len(completed), len(sessions)),
        median_of(None if value is None else value * 60 for value in minutes),
    )


def intent(calls: list[Row]) -> tuple[Any, ...]:
    wanted = [row for row in calls if row["booking_intent"]]
    booked = count(wanted, lambda row: row["booked"])
    return (
        len(calls),
        len(wanted),
        count(calls, lambda row: row["booked"]),
        booked,
        rate(len(wanted), len(calls)),
        rate(booked, len(wanted)),
        len(wanted) - booked,
    )


def outreach(requests: list[Row]) -> tuple[Any, ...]:
    contacted = [row for row in requests if row["contacted_at"]]
    booked = count(requests, lambda row: row["outcome"] == "booked")
    ended = [row for row in requests if row["outcome"]]
    return (
        len(requests),
        len(contacted),
        booked,
        count(requests, lambda row: row["outcome"] == "opted_out"),
        count(requests, lambda row: row["outcome"] == "no_response"),
        count(requests, lambda row: row["outcome"] == "undeliverable"),
        count(requests, lambda row: row["status"] == "suppressed"),
        count(requests, lambda row: row["status"] == "failed" and row["outcome"] != "undeliverable"),
        count(requests, lambda row: row["status"] in {"received", "queued", "in_progress"}),
        rate(booked, len(contacted)),
        median_of(hours(row["created_at"], row["contacted_at"]) for row in contacted),
        median_of(hours(row["created_at"], row["completed_at"]) for row in ended),
        all(row["created_at"] and SOURCE_CLOCK - row["created_at"] >= timedelta(hours=96) for row in requests),
    )


def test_booking_funnel_daily(rows: Tables, query: Query) -> None:
    columns = ("referral_source", "referral_campaign", "referral_medium", "client_type")
    found = groups(rows["booking_sessions"], local_day, *columns)

    assert_equal(
        {key: funnel(sessions) for key, sessions in found.items()},
        cells(query("select * from marts.booking_funnel_daily"), key_width=6),
    )


def test_booking_intent_daily(rows: Tables, query: Query) -> None:
    columns = ("direction", "caller_type", "call_classification")
    found = groups(rows["phone_calls"], lambda row: row["call_date"], *columns)

    assert_equal(
        {key: intent(calls) for key, calls in found.items()},
        cells(query("select * from marts.booking_intent_daily"), key_width=5),
    )


def test_outreach_outcomes_daily(rows: Tables, query: Query) -> None:
    found = groups(rows["ai_outbound_requests"], local_day, "purpose", "channel")

    assert_equal(
        {key: outreach(requests) for key, requests in found.items()},
        cells(query("select * from marts.outreach_outcomes_daily"), key_width=4),
    )


def test_the_random_rows_reach_what_is_hard(query: Query) -> None:
    """The comparison above is worth something only where nulls, both maturities and empty rates occur."""
    found = query(
        "select count(*) filter (where day is null), count(*) filter (where is_mature),"
        " count(*) filter (where not is_mature), count(*) filter (where booked_rate is null),"
        " count(*) filter (where channel is null), max(failed_undispatched), max(open)"
        " from marts.outreach_outcomes_daily"
    )

    assert all(chain.from_iterable(found))
