"""The marts of demand: the ledger of wishes, its contacts, and those that nobody follows up."""

from typing import Any

from support.cells import hours
from support.demand import SILENCE, Contact, Demand, Episode
from support.known import Expected, Known
from support.zones import on_the_wall

Episodes = list[tuple[str, Episode]]


def episodes(known: Known) -> Episodes:
    names = {row["practice_id"] for table in known.tables for row in known.tables[table]}
    return [(name, episode) for name in names for episode in Demand(name, known.tables).episodes()]


def client_of(episode: Episode) -> str | None:
    return min((one.client_id for one in episode.contacts if one.client_id), default=None)


def demand_ledger(known: Known) -> Expected:
    return {(practice, one.id): ledger_row(known, one) for practice, one in episodes(known)}


def ledger_row(known: Known, episode: Episode) -> tuple[Any, ...]:
    first, last, booking = episode.contacts[0], episode.contacts[-1], episode.booking
    given_up = booking is None and known.now - last.at > SILENCE
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


def leak_list(known: Known) -> Expected:
    return {
        (practice, one.id): (
            client_of(one),
            (last := one.contacts[-1]).channel,
            last.at,
            hours(last.at, known.now),
            last.result,
        )
        for practice, one in episodes(known)
        if one.booking is None and not one.followed_up
    }


def demand_contacts(known: Known) -> Expected:
    return {
        (practice, contact.channel, contact.id): contact_row(known, practice, one, contact)
        for practice, one in episodes(known)
        for contact in one.contacts
    }


def contact_row(known: Known, practice: str, episode: Episode, contact: Contact) -> dict[str, Any]:
    local = on_the_wall(contact.at, known.zone_of(practice))
    return {
        "episode_id": episode.id,
        "client_id": contact.client_id,
        "result": contact.result,
        "is_booked": contact.booked_at is not None,
        "day": local.date() if local else None,
        "began_at": contact.at,
        "began_at_local": local,
    }
