"""The demand ledger and the leak list, cell by cell, against plain Python."""

from datetime import timedelta
from typing import Any

import pytest
from support.cells import Query, assert_equal, cells, hours
from support.demand import SILENCE, Demand, Episode
from support.random_rows import SOURCE_CLOCK, ZONES, Tables

Episodes = list[tuple[str, Episode]]


@pytest.fixture(scope="module")
def episodes(rows: Tables) -> Episodes:
    return [(practice, episode) for practice in (*ZONES, "gone") for episode in Demand(practice, rows).episodes()]


def client_of(episode: Episode) -> str | None:
    return min((one.client_id for one in episode.contacts if one.client_id), default=None)


def ledger_row(episode: Episode) -> tuple[Any, ...]:
    first, last, booking = episode.contacts[0], episode.contacts[-1], episode.booking
    given_up = booking is None and SOURCE_CLOCK - last.at > SILENCE
    return (
        client_of(episode),
        first.channel,
        first.at,
        len(episode.contacts),
        booking and booking.via,
        booking and booking.at,
        booking and booking.appointment_id,
        booking and booking.attribution,
        hours(first.at, booking.at) if booking else None,
        last.at + SILENCE if given_up else None,
    )


def test_demand_ledger(episodes: Episodes, query: Query) -> None:
    assert_equal(
        {(practice, episode.id): ledger_row(episode) for practice, episode in episodes},
        cells(query("select * from marts.demand_ledger"), key_width=2),
    )


def test_leak_list(episodes: Episodes, query: Query) -> None:
    expected = {
        (practice, episode.id): (
            client_of(episode),
            (last := episode.contacts[-1]).channel,
            last.at,
            hours(last.at, SOURCE_CLOCK),
            last.result,
        )
        for practice, episode in episodes
        if episode.booking is None and not episode.followed_up
    }

    assert_equal(expected, cells(query("select * from marts.leak_list"), key_width=2))


def test_the_newest_leak_comes_first(query: Query) -> None:
    times = [at for (at,) in query("select last_at from marts.leak_list")]

    assert sorted(times, reverse=True) == times


def test_a_contact_belongs_to_its_episode(episodes: Episodes, query: Query) -> None:
    expected = {
        (practice, contact.channel, contact.id): (episode.id, contact.client_id, contact.result)
        for practice, episode in episodes
        for contact in episode.contacts
    }
    columns = "practice_id, channel, contact_id, episode_id, client_id, result"

    assert_equal(expected, cells(query(f"select {columns} from marts.demand_contacts"), key_width=3))


def test_the_random_rows_reach_what_is_hard(episodes: Episodes) -> None:
    """Long episodes, callers known by their number alone, every way to a booking, and follow-ups."""
    found = [episode for _, episode in episodes]
    ways = {(one.booking.via, one.booking.attribution) for one in found if one.booking}

    assert max(len(one.contacts) for one in found) > 5
    assert any(one.party.startswith("phone:") and len(one.contacts) > 1 for one in found)
    assert {("session", "exact"), ("call", "inferred"), ("outreach", "inferred"), ("other", "inferred")} <= ways
    assert any(one.followed_up for one in found)
    assert any(
        two.at - one.at > timedelta(days=7)
        for each in found
        for one, two in zip(each.contacts, each.contacts[1:], strict=False)
    )
