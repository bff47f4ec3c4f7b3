"""`vetl act`: settings, ledger, private file and client around the ledger.

The data that acting rests on are read from the private file and from the ledger; reading them writes nothing.
"""

import asyncio
import getpass
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from vetl.addons.act.act_files import mirror, write_plan
from vetl.addons.act.acts import LISTS, UNASKED, BookingRequest, LedgerEntry, codes_in
from vetl.addons.act.applying import Applier
from vetl.addons.act.ledger import Ledger, Now, read_ledger, utc_now
from vetl.addons.act.planning import ActFacts, ActPlan, CertifiedList, made_today, make_plan
from vetl.addons.act.sending import ActPlatform, ApplyResult
from vetl.addons.act.settings import ActSettings
from vetl.addons.act.sighting import TasksRead, read_tasks
from vetl.core.errors import ConfigurationError, WarehouseError, WrongUse
from vetl.core.list_read import Practice
from vetl.core.zones import zone
from vetl.endpoints import REGISTRY, STAFF_TASKS
from vetl.engine.order import Order, Run
from vetl.engine.runner import StepRunner
from vetl.jobs.sync import chosen_practices, partner_client
from vetl.partner.client import PartnerClient
from vetl.partner.practice import PartnerPractice
from vetl.publishing.statements import Rows, reading
from vetl.settings import Settings
from vetl.store.connection import literal
from vetl.store.phone_calls.csv_frames import parse_calls
from vetl.store.warehouse import Warehouse, existing, opened, writing

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
    settings: Settings, names: Sequence[str] | None, entries: Sequence[LedgerEntry], now: datetime
) -> ActData:
    """Read the data about these practices, or about all. `now` is this machine's clock."""
    practices, file = chosen_practices(settings.practices, names), settings.warehouse.path
    [(clock, finished, as_of)], attempts, tasks, booked, asked = _answers(file, practices, entries)
    if clock is None or as_of is None:
        raise WarehouseError(f"{file}: nothing was built yet; run `vetl run` first")
    lists = [_Attempt(*row) for row in attempts]
    unfit = {
        item.id: reason
        for item in practices
        if (
            reason := _unfit(ActSettings.of(settings), item.id, lists, now)
            or ("not_built" if as_of < clock else None)
        )
    }
    on_platform = clock + max(now - finished, timedelta())
    zones = {item.id: zone(item.time_zone) for item in practices}
    names_of = {item.id: item.name for item in practices}
    facts = ActFacts(
        entries=entries,
        unfit=unfit,
        task_codes=frozenset(
            (practice_id, code)
            for practice_id, description, title in tasks
            for code in codes_in(description, title)
        ),
        booked=frozenset((practice_id, contact) for practice_id, contact in booked),
        made_today=made_today(entries, _zones(settings.practices), on_platform),
        certificates=[
            CertifiedList(item.practice_id, item.endpoint, item.state, item.certified_through)
            for item in lists
            if item.endpoint in LISTS
        ],
    )
    requests = [_request(row, names_of[row[0]], zones[row[0]]) for row in asked]
    return ActData(requests, facts, on_platform)


def _zones(practices: Sequence[Practice]) -> dict[str, str]:
    return {practice.id: practice.time_zone for practice in practices}


@dataclass(frozen=True, slots=True)
class _Attempt:
    practice_id: str
    endpoint: str
    state: str
    certified_through: str | None
    finished_at: datetime


def _unfit(rules: ActSettings, practice_id: str, lists: Sequence[_Attempt], now: datetime) -> str | None:
    """Return why nothing can be concluded for a practice: a list is uncertified or too old."""
    own = {item.endpoint: item for item in lists if item.practice_id == practice_id}
    oldest = timedelta(hours=rules.max_age_hours)
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


def _answers(file: Path, practices: Sequence[Practice], entries: Sequence[LedgerEntry]) -> list[Rows]:
    """Return the rows of each statement; of contacts those of acts that were asked for."""
    contacts = _texts({item for entry in entries if entry.state not in UNASKED for item in entry.act.contacts})
    values = {"practices": _texts(item.id for item in practices), "contacts": contacts or "null"}
    try:
        with reading(file) as read:
            statements = (_CLOCK, _CERTIFICATES, _CODES, _BOOKED, _REQUESTS)
            return [read(sql.format_map(values)).rows for sql in statements]
    except WrongUse as error:
        raise WarehouseError(f"{file}: acting needs the marts; run `vetl run` first ({error})") from None


def _texts(values: Iterable[str]) -> str:
    return ", ".join(literal(value) for value in sorted(values))


def plan_acts(settings: Settings, practices: Sequence[str] | None, *, now: Now = utc_now) -> ActPlan:
    """Make a plan from the private file. No request leaves."""
    existing(settings.warehouse)
    rules = ActSettings.of(settings)
    data = read_act_data(settings, practices, read_ledger(rules.ledger), now())
    plan = make_plan(data.requests, rules, data.facts)
    if rules.enabled:
        with Ledger.open(rules.ledger) as ledger:
            ledger.save_plan(plan.digest, practices, now())
        write_plan(settings.warehouse.published, plan, now())
    return plan


def apply_acts(settings: Settings, digest: str) -> ApplyResult:
    """Apply a plan by its digest, or go on with it. One applier at a time, and no sync beside it.

    Raise `ConfigurationError` if acting is off or stopped, or the credentials are refused, `LedgerError` if
    the ledger cannot be written (no request leaves that it does not hold), `Unreachable` if the platform does
    not answer the sign-in (nothing was sent), `WrongUse` if no such plan was made here, or it no longer fits
    the data.
    """
    rules = ActSettings.of(settings)
    if not rules.enabled:
        raise ConfigurationError("act.enabled is false: nothing is sent; docs/act.md shows how to begin")
    if _obstacle(rules):
        cause = "act.stop" if rules.stop else f"the file {rules.stop_file}"
        raise ConfigurationError(f"acting is stopped by {cause}; nothing is sent")
    existing(settings.warehouse)
    with writing(settings.warehouse), Ledger.open(rules.ledger) as ledger:
        data = _approved(settings, ledger, digest)
        client = partner_client(settings)
        with opened(settings.warehouse) as warehouse:
            return asyncio.run(_apply(settings, ledger, client, warehouse, data, digest))


def _approved(settings: Settings, ledger: Ledger, digest: str) -> ActData:
    """Return the data that the plan is applied to. A plan that was approved before is gone on with."""
    saved = ledger.plan(digest)
    if saved is None:
        raise WrongUse(f"{digest}: no such plan was made with this ledger; `vetl act plan` makes one")
    data = read_act_data(settings, saved.practices, ledger.entries(), utc_now())
    if saved.approved_at is None:
        plan = make_plan(data.requests, ActSettings.of(settings), data.facts)
        if plan.digest != digest:
            raise WrongUse(f"{digest}: this plan no longer fits the data; `vetl act plan` makes another")
        ledger.approve(plan, ActSettings.of(settings), _user(), data.now)
    return data


async def _apply(
    settings: Settings, ledger: Ledger, client: PartnerClient, warehouse: Warehouse, data: ActData, digest: str
) -> ApplyResult:
    async with client:
        signed_in, begun = await client.sign_in(), time.monotonic()
        rules, zones = ActSettings.of(settings), _zones(settings.practices)
        are_local = settings.partner.times_without_offset == "practice"

        def clock() -> datetime:
            return signed_in + timedelta(seconds=time.monotonic() - begun)

        # No source clock is recorded: the "now" of the marts is that of the last sync.
        with warehouse.run("act apply", settings.practices) as run:

            async def read(practice_id: str) -> TasksRead:
                return await _read_tasks(settings, client, warehouse, run.id, practice_id, clock())

            platform = ActPlatform(
                desk=lambda practice_id: PartnerPractice(
                    client, practice_id, local_times=zones[practice_id] if are_local else None
                ),
                read_tasks=read,
                clock=clock,
                obstacle=lambda: _obstacle(ActSettings.of(settings)),
            )
            applier = Applier(ledger, platform, rules, zones, data.requests, data.facts, digest)
            result = applier.result
            try:
                await applier.apply()
                run.exit_code = result.exit_code
            finally:
                run.summary = result.counts
                mirror(warehouse, ledger.entries())
            return result


async def _read_tasks(
    settings: Settings, client: PartnerClient, warehouse: Warehouse, run_id: str, practice_id: str, clock: datetime
) -> TasksRead:
    """Read all tasks of a practice as a sync reads a list; rows and certificates go into the private file."""
    practice = next(item for item in settings.practices if item.id == practice_id)
    order = Order(
        practices=[practice],
        endpoints=[STAFF_TASKS],
        names=settings.partner.query_names(REGISTRY),
        times_without_offset=settings.partner.times_without_offset,
    )
    run = Run(run_id, order, client, warehouse, parse_calls, clock, lambda _: None)
    runner = StepRunner(run, practice, STAFF_TASKS)
    reading = await runner.reading()
    read = await runner.drive(read_tasks(practice_id, reading))
    await runner.buffer.flush()
    return read


def _obstacle(rules: ActSettings) -> str | None:
    """Return why nothing may be sent: the kill switch of the settings, or its file."""
    return "stopped" if rules.stop or rules.stop_file.exists() else None


def _user() -> str:
    """Return who approves a plan: the account of this machine."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "unknown"
