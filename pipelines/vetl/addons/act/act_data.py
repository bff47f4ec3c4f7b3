"""The data that acting rests on, read from the private file and from the ledger; nothing is written."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from vetl.addons.act.acts import LISTS, UNASKED, BookingRequest, LedgerEntry, codes_in
from vetl.addons.act.planning import ActFacts, CertifiedList, made_today
from vetl.addons.act.settings import ActSettings
from vetl.core.errors import WarehouseError, WrongUse
from vetl.core.list_read import Practice
from vetl.core.zones import zone
from vetl.publishing.statements import Rows, query
from vetl.settings import Settings
from vetl.store.connection import literal

NO_TEXT = "unknown"

_SAID = {"callback": "a call was asked for"}
"""Classifications of calls that would not be understood in a title."""

_REQUESTS = """
select unbooked.practice_id, unbooked.episode_id, unbooked.client_id, unbooked.phone_number, unbooked.last_at,
    unbooked.urgency, unbooked.channel, unbooked.wanted, unbooked.reason, unbooked.contacts, clients.name,
    list(contacts.channel || ':' || contacts.contact_id order by contacts.began_at, contacts.contact_id)
from marts.call_back_list as unbooked
join marts.booking_request_contacts as contacts using (practice_id, episode_id)
left join raw.clients as clients on clients.practice_id = unbooked.practice_id and clients.id = unbooked.client_id
where unbooked.practice_id in ({practices})
group by all order by unbooked.practice_id, unbooked.urgency
"""
_CERTIFICATES = """
select practice_id, endpoint, state, certified_through, finished_at from control.attempts
where practice_id in ({practices}) order by practice_id, endpoint
"""
_CLOCK = """
select max_by(source_clock, started_at), max_by(finished_at, started_at),
    (select max(as_of) from marts.practices)
from control.runs where source_clock is not null and finished_at is not null
"""
_CODES = """
select distinct practice_id, description, title from raw.staff_tasks
where practice_id in ({practices}) and (contains(description, '[vetl ') or contains(title, '[vetl '))
"""
_BOOKED = """
select distinct contacts.practice_id, contacts.channel || ':' || contacts.contact_id
from marts.booking_request_contacts as contacts join marts.booking_requests using (practice_id, episode_id)
where booked_at is not null and contacts.practice_id in ({practices})
    and contacts.channel || ':' || contacts.contact_id in ({contacts})
"""


@dataclass(frozen=True, slots=True)
class ActData:
    """The booking requests and the facts for a plan.

    `now`: the platform's time, by its clock at the last sync and the time that has passed since.
    """

    requests: Sequence[BookingRequest]
    facts: ActFacts
    now: datetime


def read_act_data(
    settings: Settings, practices: Sequence[Practice], entries: Sequence[LedgerEntry], now: datetime
) -> ActData:
    """Read the data about these practices. `now` is this machine's clock."""
    file, names = settings.warehouse.path, _texts(item.id for item in practices)
    clock, finished, as_of = _rows(file, _CLOCK, names)[0]
    if clock is None or as_of is None:
        raise WarehouseError(f"{file}: nothing was built yet; run `vetl run` first")
    lists = [_Attempt(*row) for row in _rows(file, _CERTIFICATES, names)]
    unfit = {
        item.id: reason
        for item in practices
        if (reason := _unfit(settings, item.id, lists, now) or ("not_built" if as_of < clock else None))
    }
    on_platform = clock + max(now - finished, timedelta())
    zones = {item.id: zone(item.time_zone) for item in practices}
    names_of = {item.id: item.name for item in practices}
    facts = ActFacts(
        entries=entries,
        unfit=unfit,
        task_codes=frozenset(
            (practice_id, code)
            for practice_id, description, title in _rows(file, _CODES, names)
            for code in codes_in(description, title)
        ),
        booked=_booked(file, names, entries),
        made_today=made_today(entries, zones_of(settings), on_platform),
        certificates=[
            CertifiedList(item.practice_id, item.endpoint, item.state, item.certified_through)
            for item in lists
            if item.endpoint in LISTS
        ],
    )
    requests = [_request(row, names_of[row[0]], zones[row[0]]) for row in _rows(file, _REQUESTS, names)]
    return ActData(requests, facts, on_platform)


def zones_of(settings: Settings) -> dict[str, str]:
    """Return the time zone of each practice."""
    return {practice.id: practice.time_zone for practice in settings.practices}


@dataclass(frozen=True, slots=True)
class _Attempt:
    practice_id: str
    endpoint: str
    state: str
    certified_through: str | None
    finished_at: datetime


def _unfit(settings: Settings, practice_id: str, lists: Sequence[_Attempt], now: datetime) -> str | None:
    """Return why nothing can be concluded for a practice: a list is uncertified or too old."""
    own = {item.endpoint: item for item in lists if item.practice_id == practice_id}
    oldest = timedelta(hours=ActSettings.of(settings).max_age_hours)
    for endpoint in LISTS:
        attempt = own.get(endpoint)
        if attempt is None or attempt.state != "certified":
            return "uncertified"
        if not timedelta(minutes=-5) <= now - attempt.finished_at <= oldest:
            return "too_old"  # or in the future: a clock was put back, and no age is known
    return None


def _request(row: tuple[Any, ...], practice: str, rules: ZoneInfo) -> BookingRequest:
    practice_id, episode_id, client_id, number, last_at, urgency, channel, *more = row
    wanted, reason, tries, name, contacts = more
    fields = {
        "practice": practice,
        "channel": channel,
        "last_at": last_at.astimezone(rules).strftime("%Y-%m-%d %H:%M"),
        "wanted": _SAID.get(wanted, (wanted or "an appointment").replace("_", " ")),
        "reason": (reason or NO_TEXT).replace("_", " "),
        "tries": tries,
        "client_id": client_id,
        "client_name": name,
        "phone_number": number or "see the client",
    }
    return BookingRequest(
        practice_id=practice_id,
        episode_id=episode_id,
        contacts=tuple(contacts),
        client_id=client_id or None,
        phone_number=number or None,
        last_at=last_at.astimezone(UTC),
        urgency=urgency,
        fields={key: str(value or NO_TEXT) for key, value in fields.items()},
    )


def _booked(file: Path, names: str, entries: Sequence[LedgerEntry]) -> frozenset[tuple[str, str]]:
    """Return the contacts of acts that were asked for whose episode is booked by now."""
    contacts = _texts({item for entry in entries if entry.state not in UNASKED for item in entry.act.contacts})
    rows = _rows(file, _BOOKED, names, contacts) if contacts else []
    return frozenset((practice_id, contact) for practice_id, contact in rows)


def _rows(file: Path, sql: str, practices: str, contacts: str = "") -> Rows:
    try:
        return query(file, sql.format(practices=practices, contacts=contacts)).rows
    except WrongUse as error:
        raise WarehouseError(f"{file}: acting needs the marts; run `vetl run` first ({error})") from None


def _texts(values: Iterable[str]) -> str:
    return ", ".join(literal(value) for value in sorted(values))
