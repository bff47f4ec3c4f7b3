"""The daily marts, cell by cell, against the definitions of the contract worked out in plain Python."""

from itertools import chain

from support.cells import Query, assert_equal, cells, groups, local_day
from support.daily import funnel, intent, outreach
from support.random_rows import SOURCE_CLOCK, Tables


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
        {key: outreach(requests, SOURCE_CLOCK) for key, requests in found.items()},
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
