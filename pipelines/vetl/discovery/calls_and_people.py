"""Check the lists whose parameters the contract shows: phone calls, clients and patients.

Calls prove the time zone of the practice: JSON `created_at` beside the local minutes of the CSV.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from functools import partial

from vetl.core import zones as tz
from vetl.core.errors import RequestRefused, VetlError
from vetl.core.pages import CallsPage, Page, Row, key_of
from vetl.core.steps import GetRecords, Plan, ReadCalls, ReadPage, do
from vetl.discovery.probes import Correction, Finding, Findings, ListKnowledge

SHOWN = 5
STEP = 3
"""Days between two comparisons of all zones: after a change of clocks, zones differ for at least a week."""
YEAR = timedelta(days=366)
NOON = time(18, tzinfo=UTC)
"""The time of a day at which zones are compared: about noon in America."""
BESIDE = timedelta(days=1)
"""Calls of the days beside a distinguishing day are compared too."""
USUAL = (
    "America/New_York", "America/Chicago", "America/Denver", "America/Phoenix", "America/Los_Angeles",
    "America/Anchorage", "Pacific/Honolulu", "America/Toronto", "America/Vancouver", "Europe/London",
    "Europe/Berlin", "Australia/Sydney",
)  # fmt: skip
"""Preferred zones, if several fit."""
TIMES = "times without an offset"


def zones_that_fit(calls: Sequence[tz.Pair], configured: str = "") -> list[str]:
    """Return all zones in which every call has its local minute: the configured one first, then the usual ones."""
    zones = sorted(tz.names(), key=lambda name: (name != configured, name not in USUAL, "/" not in name, name))
    return [name for name in zones if tz.fits(name, calls)]


def distinguishing_day(zones: Sequence[str], start: date, end: date, seen: Collection[date]) -> date | None:
    """Return the latest day of `[start, end]` on which most zones differ from the first one.

    Leave out days within `BESIDE` of a day in `seen`. Return `None` if the zones agree on all days.
    """
    best, most = None, 0
    for back in range(0, (end - start).days + 1, STEP):
        day = end - timedelta(days=back)
        at = datetime.combine(day, NOON)
        own = tz.offset_at(zones[0], at)
        differing = sum(tz.offset_at(name, at) != own for name in zones[1:])
        if differing > most and all(abs(day - other) > BESIDE for other in seen):
            best, most = day, differing
    return best


def check_zone(endpoint: str, configured: str, calls: Sequence[tz.Pair]) -> Finding:
    """Return a finding that confirms the configured zone, names the zone that fits, or the zones to choose from.

    A zone is named alone only if all zones that fit these calls had the same time in the year before the last
    call: calls of one half of the year fit zones that differ in the other half.
    """
    if len(calls) < tz.ENOUGH:
        evidence = f"{len(calls)} calls could be matched between JSON and CSV; {tz.ENOUGH} are needed"
        return Finding(endpoint, "time zone", "unknown", configured, evidence)
    evidence, zones = tz.differences(calls), zones_that_fit(calls, configured)
    if not zones:
        remedy = "ask the platform which time zone the practice keeps"
        return Finding(
            endpoint, "time zone", "contradicts", "none fits", f"{evidence}, {configured} does not", remedy
        )
    choices, differ_on = _choices(zones, min(at for at, _ in calls), max(at for at, _ in calls))
    more = f"{', '.join(choices[1:SHOWN])} {'fits' if len(choices) == 2 else 'fit'} as well"  # noqa: PLR2004
    if zones[0] == configured:
        if differ_on:
            evidence = f"{evidence}; {more}, with another time on {differ_on:%Y-%m-%d}"
        return Finding(endpoint, "time zone", "note" if differ_on else "ok", configured, evidence)
    evidence = f"{evidence}, {configured} does not"
    if differ_on:
        remedy = (
            f"ask the platform which zone the practice keeps, and set time_zone: {choices[0]} fits these calls,"
            f" {more}, and their times differ on {differ_on:%Y-%m-%d}, of which there are no calls"
        )
        return Finding(endpoint, "time zone", "contradicts", "several fit", evidence, remedy)
    same = f" ({', '.join(zones[1:SHOWN])} had the same time in the last year)" if zones[1:] else ""
    remedy, correction = f'set time_zone = "{zones[0]}"{same}', Correction("time_zone", zones[0])
    return Finding(endpoint, "time zone", "contradicts", zones[0], evidence, remedy, correction)


def check_times(
    endpoint: str, configured: str, setting: tz.TimesWithoutOffset | None, calls: Sequence[tz.Pair]
) -> Finding:
    """Return a finding that confirms or corrects how times without an offset are read.

    They show no zone: practice-local times differ from the CSV as those of a practice in UTC would.
    """
    written_in = tz.zone(configured) if setting == "practice" else UTC
    walls = [(at.astimezone(written_in).replace(tzinfo=None), local) for at, local in calls]
    as_utc = [(wall.replace(tzinfo=UTC), local) for wall, local in walls]
    found = partial(Finding, endpoint, TIMES)
    match all(wall == local for wall, local in walls), tz.fits(configured, as_utc):
        case True, True:
            return found("unknown", "", f"{len(calls)} calls have no offset, and {configured} had the time of UTC")
        case True, False:
            value, evidence = (
                "practice",
                f"{len(calls)} calls have no offset in JSON, and their CSV the same minute",
            )
        case False, True:
            value, evidence = "utc", f"{tz.differences(as_utc)}, as {configured} does, and have no offset"
        case _:
            remedy = (
                "ask the platform in which zone its times without an offset are, and which zone the practice keeps"
            )
            evidence = f"{tz.differences(as_utc)}, {configured} does not, and they have no offset"
            return found("contradicts", "neither fits", evidence, remedy)
    remedy = f'set times_without_offset = "{value}" in [partner]'
    if value == setting:
        return found("ok", value, evidence)
    if value == "utc" and setting is None:
        return found("note", value, evidence, remedy)
    remedy = f"{remedy}; the next sync reads all stored times again"
    return found("contradicts", value, evidence, remedy, Correction("times_without_offset", value))


def _choices(zones: Sequence[str], first: datetime, last: datetime) -> tuple[list[str], date | None]:
    """Return one zone of each group that had the same time in the year, and a day on which two groups differ."""
    start = min(first, last - YEAR)
    moments = [start + timedelta(days=past) for past in range(0, (last - start).days + 1, STEP)]
    groups: dict[tuple[timedelta | None, ...], str] = {}
    for name in zones:
        groups.setdefault(tuple(tz.offset_at(name, at) for at in moments), name)
    differing = (at.date() for at, *offsets in zip(moments, *groups, strict=True) if len(set(offsets)) > 1)
    return list(groups.values()), next(differing, None)


LARGEST_CSV = 5_000
SPAN = timedelta(days=6)
ZONE_LOOKS = 6
"""Most days that are read to distinguish the zones that fit."""
INTENT_NAMES = ("booking_intent", "wants_booking", "intent", "has_booking_intent", "bookingIntent")
CLIENT_NAMES = ("client_id", "client", "clientId", "matched_client_id", "service_client_id")


def check_calls(knowledge: ListKnowledge, rows: Sequence[Row]) -> Findings:
    """Check the CSV's paging, the filters that the contract describes, and the practice's time zone."""
    return [
        *(yield from _csv(knowledge)),
        *(yield from _strictness(knowledge)),
        (yield from _filter(knowledge, "intent filter", INTENT_NAMES, "booking_intent", ("true", "false"))),
        (yield from _filter(knowledge, "client filter", CLIENT_NAMES, "client_id", clients_in(rows)[:2])),
        *(yield from _zone(knowledge, without_offset=any(tz.lacks_offset(row.get("created_at")) for row in rows))),
    ]


def _read_page(query: Mapping[str, str]) -> Plan[CallsPage | None]:
    try:
        page = yield from do(ReadCalls(query, 0, LARGEST_CSV, lenient=True))
    except RequestRefused:
        return None
    return page


def _csv(knowledge: ListKnowledge) -> Findings:
    one = yield from _read_page({**knowledge.whole, "per_page": "1", "page": "0"})
    two = yield from _read_page({**knowledge.whole, "per_page": "1", "page": "1"})
    over = yield from _read_page({**knowledge.whole, "per_page": str(LARGEST_CSV + 1), "page": "999999"})
    json = yield from knowledge.recall({**knowledge.whole, "per_page": "1"})
    if one is None or two is None or json is None:
        remedy = "ask the platform why the CSV is refused; phone calls cannot be read without it"
        return [knowledge.finding("csv", "contradicts", "refused", "format=csv is refused", remedy)]
    if one.total_count < 2:  # noqa: PLR2004 - two pages are compared
        return [knowledge.finding("csv", "unknown", "", "fewer than two calls")]
    obeyed = one.rows == two.rows == 1 and (one.frame != two.frame or (yield from _tens_differ(knowledge)))
    agree = one.total_count == json.total_count or (yield from _totals_agree(knowledge))
    most = "refused" if over is None else f"cut to {over.per_page}"
    evidence = f"{'as many' if agree else 'not as many'} calls as in JSON; per_page={LARGEST_CSV + 1} is {most}"
    if obeyed and agree:
        return [knowledge.finding("csv", "ok", "paged from 0", evidence)]
    remedy = "ask the platform how the CSV is paged; without it phone calls cannot be read whole"
    return [
        knowledge.finding("csv", "contradicts", "not paged" if not obeyed else "other total", evidence, remedy)
    ]


def _tens_differ(knowledge: ListKnowledge) -> Plan[bool]:
    """Compare ten calls with the next ten: the CSV has neither ids nor seconds, so single calls may look alike."""
    first = yield from _read_page({**knowledge.whole, "per_page": "10", "page": "0"})
    second = yield from _read_page({**knowledge.whole, "per_page": "10", "page": "1"})
    return first is not None and second is not None and first.frame != second.frame


def _totals_agree(knowledge: ListKnowledge) -> Plan[bool]:
    """Compare the totals up to three times, because a call may arrive between the two requests."""
    for _ in range(3):
        csv = yield from _read_page({**knowledge.whole, "per_page": "1", "page": "0"})
        json = yield from knowledge.ask({**knowledge.whole, "per_page": "1"})
        if csv is not None and json is not None and csv.total_count == json.total_count:
            return True
    return False


def _strictness(knowledge: ListKnowledge) -> Findings:
    """Check that another date format and an unknown direction are refused with 400 (contract: Phone calls)."""
    findings: list[Finding] = []
    for name, value in (("start_date", "01/31/2026"), ("direction", "vetl_doctor")):
        page = yield from knowledge.ask({**knowledge.whole, name: value, **knowledge.smallest})
        if page is not None:
            evidence = f"a bad {name} is accepted; the contract says 400"
            findings.append(knowledge.finding(f"bad {name}", "note", "accepted", evidence))
    return findings


def _filter(
    knowledge: ListKnowledge, check: str, names: Sequence[str], column: str, values: Sequence[str]
) -> Plan[Finding]:
    """Find the name of a filter, which the contract does not show: two values show their own calls only."""
    for name in names if len(values) > 1 else ():
        proven = 0
        for value in values:
            page = yield from knowledge.ask({**knowledge.whole, **knowledge.largest, name: value})
            if page is None or not page.rows:
                break
            proven += all(str(row.get(column)) in (value, value.capitalize()) for row in page.rows)
        if proven == len(values):
            return knowledge.finding(check, "ok", name, "two values show their own calls only")
    return knowledge.finding(check, "unknown", "", "no name tried is honoured; vetl does not need it")


def _zone(knowledge: ListKnowledge, *, without_offset: bool) -> Findings:
    """Compare calls of the last days, and of days on which the zones that still fit differ."""
    latest = yield from _latest_day(knowledge)
    configured = knowledge.reading.time_zone.key
    if latest is None:
        return [check_zone(knowledge.endpoint, configured, [])]
    calls = yield from _pairs(knowledge, latest - SPAN, latest)
    seen: set[date] = set()
    for _ in range(ZONE_LOOKS):
        zones = zones_that_fit(calls, configured)
        day = distinguishing_day(zones, knowledge.reading.history_start, latest, seen) if zones else None
        if day is None:
            break
        seen.add(day)
        calls += yield from _pairs(knowledge, day - BESIDE, day + BESIDE)
    setting = knowledge.reading.times_without_offset
    if len(calls) >= tz.ENOUGH and (without_offset or setting == "practice"):
        return [check_times(knowledge.endpoint, configured, setting, calls)]
    return [check_zone(knowledge.endpoint, configured, calls)]


def _pairs(knowledge: ListKnowledge, first: date, last: date) -> Plan[list[tz.Pair]]:
    """Read the calls of some days as JSON and as CSV, and pair them."""
    days = {"start_date": first.isoformat(), "end_date": last.isoformat()}
    json = yield from knowledge.ask({**days, **knowledge.largest})
    if json is None or not json.rows:
        return []
    csv = yield from _read_page({**days, "per_page": str(LARGEST_CSV)})
    return tz.pairs(json.rows, csv.frame if csv else ())


def _latest_day(knowledge: ListKnowledge) -> Plan[date | None]:
    """Return the day of the newest call in the CSV, or `None` if history holds no call."""
    reading = knowledge.reading
    end = reading.local_now.date() + timedelta(days=1)
    length = SPAN
    while True:
        start = max(reading.history_start, end - length)
        days = {"start_date": start.isoformat(), "end_date": end.isoformat()}
        page = yield from _read_page({**days, "per_page": "1000"})
        days_here = [row["called_at_local"].date() for row in page.frame] if page else []
        if days_here or start == reading.history_start:
            return max(days_here, default=None)
        length *= 8


def clients_in(rows: Sequence[Row]) -> list[str]:
    """Return the client ids that rows mention, each once."""
    return list(dict.fromkeys(str(row["client_id"]) for row in rows if row.get("client_id") is not None))


MOST_CLIENTS = 100
"""Most clients that one search returns (contract: Limits)."""
A_LETTER = "a"
NOBODY = "vetl-doctor-nobody"
SEARCHED = ("name", "email", "phone")


def check_clients(ids: Sequence[str]) -> Findings:
    """Get a client that other rows mention, and search for it by name, email and phone; report no values.

    A search that returns exactly `MOST_CLIENTS` may be cut off, so it does not prove that a client is missing.
    Raise `VetlError` if the client cannot be read.
    """
    got = yield from do(GetRecords(tuple(ids[:1])))
    client = next(iter(got.values()), None)
    if isinstance(client, VetlError):
        raise client
    return [_get(ids, client), *(yield from _searches(client)), *(yield from _cut())]


def _get(ids: Sequence[str], client: Row | None) -> Finding:
    if not ids:
        return Finding("clients", "get", "unknown", "", "no row mentions a client")
    if client is None:
        return Finding(
            "clients", "get", "note", "not found", "a client that a call mentions is not found by its id"
        )
    return Finding("clients", "get", "ok", "by id", "a client that a call mentions is there")


def _searches(client: Row | None) -> Findings:
    """Search by each field that the client has, and by a value that nobody has, for contrast."""
    findings: list[Finding] = []
    for name in SEARCHED:
        value = str((client or {}).get(name) or "")
        if client is None or not value:
            continue
        page = yield from _ask({name: value})
        nobody = yield from _ask({name: NOBODY})
        findings.append(_search(name, client, page, nobody))
    return findings


def _search(name: str, client: Row, page: Page | None, nobody: Page | None) -> Finding:
    check = f"search by {name}"
    if page is None:
        return Finding("clients", check, "note", "refused", f"a search by {name} is refused; vetl gets by id")
    if key_of(client) in {key_of(row) for row in page.rows}:
        if nobody is not None and key_of(client) in {key_of(row) for row in nobody.rows}:
            evidence = f"a search by a {name} that nobody has finds the client too; vetl gets by id"
            return Finding("clients", check, "note", "ignored", evidence)
        return Finding("clients", check, "ok", name, f"finds the client by its {name}, and not by another {name}")
    cut = len(page.rows) == MOST_CLIENTS
    evidence = f"finds {len(page.rows)} clients without the client that has this {name}; vetl gets by id"
    return Finding("clients", check, "note", "possibly cut" if cut else "not found", evidence)


def _cut() -> Findings:
    """Search by a common letter, to see whether results are cut off."""
    page = yield from _ask({"name": A_LETTER})
    if page is None:
        return []
    if len(page.rows) == MOST_CLIENTS:
        evidence = f"exactly {MOST_CLIENTS} found: possibly cut off, so vetl gets clients by id"
        return [Finding("clients", "search", "note", "possibly cut", evidence)]
    return [Finding("clients", "search", "ok", "whole", f"{len(page.rows)} found, fewer than {MOST_CLIENTS}")]


def check_patients(ids: Sequence[str]) -> Findings:
    """Check that a search by client returns the patients of that client only, for two clients (contract)."""
    shown = 0
    for client in ids[:2]:
        page = yield from _ask({"client_id": client})
        if page is None:
            evidence = "a search by client_id is refused; vetl gets patients by id"
            return [Finding("patients", "client_id", "note", "refused", evidence)]
        if any(str(row.get("client_id")) != client for row in page.rows):
            evidence = "patients of other clients are shown; vetl gets them by id"
            return [Finding("patients", "client_id", "note", "", evidence)]
        shown += bool(page.rows)
    if shown == 2:  # noqa: PLR2004 - two contrasting values
        return [Finding("patients", "client_id", "ok", "client_id", "two clients show their own patients only")]
    return [Finding("patients", "client_id", "unknown", "", "too few clients with patients")]


def _ask(query: Mapping[str, str]) -> Plan[Page | None]:
    """Read the whole list, which has no pages; return `None` if the server refuses the query."""
    try:
        page = yield from do(ReadPage(query, 0, MOST_CLIENTS, lenient=True))
    except RequestRefused:
        return None
    return page
