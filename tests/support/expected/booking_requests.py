"""The marts of booking requests: their contacts and waits, the unbooked ones, the clients to call."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from functools import partial
from typing import Any

from support.attribution import HOUR
from support.booking_requests import CALLED_BACK_WITHIN, DO_NOT_CHASE, LOST_AFTER, Requests
from support.cells import hours, median_of
from support.episodes import Contact, Episode
from support.mart_inputs import Expected, Known, once_for_each
from support.zones import on_the_wall

Episodes = list[tuple[str, Episode]]
KEPT = {"COMPLETED": True, "CANCELED": False, "NO_SHOW": False}
TWO_WEEKS = timedelta(days=14)


@once_for_each
def requests_by_practice(source: Known) -> dict[str, Requests]:
    """Return the known facts of each practice with rows."""
    names = {row["practice_id"] for table in source.tables for row in source.tables[table]}
    return {name: Requests(name, source.tables, source.region_of(name)) for name in names}


@once_for_each
def episodes(source: Known) -> Episodes:
    return [
        (name, episode) for name, known in requests_by_practice(source).items() for episode in known.episodes()
    ]


def booking_requests(source: Known) -> Expected:
    return {(practice, one.id): ledger_row(source, practice, one) for practice, one in episodes(source)}


def is_anonymous(episode: Episode) -> bool:
    return not episode.client_id and not episode.phone


def is_lost(source: Known, episode: Episode) -> bool:
    return episode.booking is None and source.now - episode.contacts[-1].at > LOST_AFTER


def ledger_row(source: Known, practice: str, episode: Episode) -> dict[str, Any]:
    first, last, booking = episode.contacts[0], episode.contacts[-1], episode.booking
    status = (episode.appointment or {}).get("status") or None
    return {
        "client_id": episode.client_id,
        "first_channel": first.channel,
        "first_at": first.at,
        "contacts": len(episode.contacts),
        "booked_via": booking and booking.via,
        "booked_at": booking and booking.at,
        "appointment_id": booking and booking.appointment_id,
        "attribution": booking and booking.attribution,
        "hours_to_booking": hours(first.at, booking.at) if booking else None,
        "lost_at": last.at + LOST_AFTER if is_lost(source, episode) else None,
        "begun_by": first.begun_by,
        "appointment_status": status,
        "is_kept": KEPT.get(status or ""),
        "day": day_of(source, practice, episode),
        "is_on_call_back_list": booking is None and why_not(source, practice, episode) is None,
        "is_anonymous": is_anonymous(episode),
    }


def why_not(source: Known, practice: str, episode: Episode) -> str | None:
    """Return the reason why nobody should call, or None if somebody should."""
    last = episode.last
    if not episode.tries:
        return "begun_by_practice"
    if is_anonymous(episode):
        return "anonymous"
    if episode.refusal:
        return episode.refusal
    if last.result in DO_NOT_CHASE:
        return last.result
    if episode.followed_up:
        return "followed_up"
    if source.now - last.at > CALLED_BACK_WITHIN:
        return "too_old"
    return answers(source)[practice, episode.id]


@once_for_each
def answers(source: Known) -> dict[tuple[str, str], str | None]:
    """Return what the client or number did since each unbooked episode that is not too old."""
    by_practice: dict[str, list[Episode]] = defaultdict(list)
    for practice, one in episodes(source):
        by_practice[practice].append(one)
    return {
        (practice, one.id): requests_by_practice(source)[practice].answer_since(one, own, source.now)
        for practice, own in by_practice.items()
        for one in own
        if one.booking is None and source.now - one.last.at <= CALLED_BACK_WITHIN
    }


def unbooked(episode: Episode) -> dict[str, Any]:
    last = episode.last
    return {
        "client_id": episode.client_id,
        "channel": last.channel,
        "last_at": last.at,
        "contacts": len(episode.tries),
        "reason": last.result,
        "last_contact_kind": last.channel,
        "last_contact_id": last.id,
        "wanted": last.wanted,
    }


def unbooked_requests(source: Known) -> Expected:
    return {
        (practice, one.id): {
            **unbooked(one),
            "first_at": one.contacts[0].at,
            "is_actionable": (why := why_not(source, practice, one)) is None,
            "not_actionable_because": why,
            "begun_by": one.contacts[0].begun_by,
        }
        for practice, one in episodes(source)
        if one.booking is None
    }


def urgency(source: Known, episode: Episode) -> tuple[Any, ...]:
    """Order by those that cannot wait, then emergencies, then the number of attempts, then the newest."""
    last = episode.last
    can_wait = last.result == "resolved" or source.now - last.at > LOST_AFTER
    return (can_wait, last.wanted != "emergency", -len(episode.tries), -last.at.timestamp(), episode.id)


def call_back_list(source: Known) -> Expected:
    to_call: dict[str, list[Episode]] = defaultdict(list)
    for practice, one in episodes(source):
        if one.booking is None and why_not(source, practice, one) is None:
            to_call[practice].append(one)
    return {
        (practice, one.id): {
            **unbooked(one),
            "age_hours": hours(one.last.at, source.now),
            "phone_number": one.phone,
            "urgency": place,
        }
        for practice, calls in to_call.items()
        for place, one in enumerate(sorted(calls, key=partial(urgency, source)), 1)
    }


def booking_request_contacts(source: Known) -> Expected:
    return {
        (practice, contact.channel, contact.id): contact_row(source, practice, one, contact)
        for practice, one in episodes(source)
        for contact in one.contacts
    }


def contact_row(source: Known, practice: str, episode: Episode, contact: Contact) -> dict[str, Any]:
    local = on_the_wall(contact.at, source.zone_of(practice))
    return {
        "episode_id": episode.id,
        "client_id": contact.client_id,
        "begun_by": contact.begun_by,
        "wanted": contact.wanted,
        "result": contact.result,
        "is_booked": contact.booked_at is not None,
        "day": local.date() if local else None,
        "began_at": contact.at,
        "began_at_local": local,
        "is_answerable": (practice, contact.channel, contact.id) in waits(source),
        "hours_to_response": waits(source).get((practice, contact.channel, contact.id), (None, None))[1],
    }


def day_of(source: Known, practice: str, episode: Episode) -> date | None:
    local = on_the_wall(episode.contacts[0].at, source.zone_of(practice))
    return local.date() if local else None


def booking_requests_daily(source: Known) -> Expected:
    days: dict[tuple[Any, ...], list[Episode]] = defaultdict(list)
    for practice, one in episodes(source):
        first = one.contacts[0]
        days[practice, day_of(source, practice, one), first.channel, first.begun_by].append(one)
    return {key: cohort(source, of_day) for key, of_day in days.items()}


def cohort(source: Known, of_day: list[Episode]) -> dict[str, Any]:
    taken = [hours(one.contacts[0].at, one.booking.at) or 0 for one in of_day if one.booking]
    within = {days: sum(value <= days * 24 for value in taken) for days in (1, 7, 14)}
    kept = sum(KEPT.get((one.appointment or {}).get("status") or "") is True for one in of_day)
    lost = sum(is_lost(source, one) for one in of_day)
    nobody = [one for one in of_day if is_anonymous(one)]
    closed = [one.booking is not None or is_lost(source, one) for one in of_day]
    return {
        "episodes": len(of_day),
        "booked_within_1_day": within[1],
        "booked_within_7_days": within[7],
        "booked_within_14_days": within[14],
        "kept": kept,
        "not_booked": len(of_day) - len(taken),
        "lost": lost,
        "anonymous": len(nobody),
        "anonymous_not_booked": sum(one.booking is None for one in nobody),
        "is_mature": all(closed) and all(source.now - one.contacts[0].at > TWO_WEEKS for one in of_day),
    }


def first_responses_daily(source: Known) -> Expected:
    """Return how soon the practice reacted to contacts of known people that booked nothing."""
    of_day: dict[tuple[Any, ...], list[float | None]] = defaultdict(list)
    for (practice, channel, _), (day, wait) in waits(source).items():
        of_day[practice, day, channel].append(wait)
    return {key: responses(values) for key, values in of_day.items()}


@once_for_each
def waits(source: Known) -> dict[tuple[str, str, str], tuple[date | None, float | None]]:
    """Return the day of each contact of known people that booked nothing, and the hours until a reaction."""
    found: dict[tuple[str, str, str], tuple[date | None, float | None]] = {}
    for practice, known in requests_by_practice(source).items():
        acts = acts_of(known)
        for contact in known.contacts():
            person = known.person(contact.client_id, contact.phone)
            if contact.begun_by == "client" and not contact.booked_at and person:
                local = on_the_wall(contact.at, source.zone_of(practice))
                since = [hours(contact.at, at) or 0.0 for at in acts[person] if at >= contact.at]
                wait = min((value for value in since if value <= TWO_WEEKS / HOUR), default=None)
                found[practice, contact.channel, contact.id] = (local.date() if local else None, wait)
    return found


def acts_of(known: Requests) -> Mapping[str, list[datetime]]:
    """Return the times of outbound calls, first outreach messages and tasks, by client or number."""
    acts: dict[str, list[datetime]] = defaultdict(list)
    told = [(known.caller(row), row["called_at"]) for row in known.calls if row["direction"] == "outbound"]
    told += [(known.contacted(row), row["contacted_at"]) for row in known.requests]
    by_people = [row for row in known.tasks if not known.is_made_by_vetl(row)]
    told += [((row["client_id"] or None, None), row["created_at"]) for row in by_people]
    told += [((row.get("client_id") or None, None), row["sent_at"]) for row in known.messages]
    for somebody, at in told:
        person = known.person(*somebody)
        if person and at:
            acts[person].append(at)
    return acts


def responses(waits: list[float | None]) -> dict[str, Any]:
    taken = [wait for wait in waits if wait is not None]
    return {
        "contacts": len(waits),
        "responded_within_5_minutes": sum(wait * 60 <= 5 for wait in taken),
        "responded_within_1_hour": sum(wait <= 1 for wait in taken),
        "responded_within_1_day": sum(wait <= 24 for wait in taken),
        "responded": len(taken),
        "median_hours_to_response": median_of(taken),
    }


def visit_waits_daily(source: Known) -> Expected:
    cells: dict[Any, list[float | None]] = defaultdict(list)
    for practice, one in episodes(source):
        first = one.contacts[0]
        if one.booking and first.begun_by == "client":
            visit = (one.appointment or {}).get("booking_date")
            wait = (visit - first.at) / timedelta(days=1) if visit else None
            cells[practice, day_of(source, practice, one), first.channel].append(wait)
    return {key: waited(waits) for key, waits in cells.items()}


def waited(waits: list[float | None]) -> dict[str, Any]:
    known = [wait for wait in waits if wait is not None]
    return {
        "booked": len(waits),
        "with_visit": len(known),
        **{
            f"seen_within_{name}": sum(wait <= days for wait in known)
            for name, days in (("1_day", 1), ("7_days", 7), ("14_days", 14))
        },
        "median_days_to_visit": median_of(known),
    }


def unbooked_value_monthly(source: Known) -> Expected:
    """Return the unbooked requests of known people. The settings assume no value."""
    counts: Counter[Any] = Counter()
    for practice, one in episodes(source):
        if one.booking is None and one.contacts[0].begun_by == "client" and not is_anonymous(one):
            day = day_of(source, practice, one)
            counts[practice, day.replace(day=1) if day else None] += 1
    return {key: (number, None, None) for key, number in counts.items()}
