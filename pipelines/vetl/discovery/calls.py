"""Check phone calls, whose parameter names the contract shows (contract: Phone calls)."""

from collections.abc import Mapping, Sequence
from datetime import date, timedelta

from vetl.core.errors import RequestRefused
from vetl.core.pages import CallsPage, Row
from vetl.core.steps import Plan, ReadCalls, do
from vetl.discovery.csv_calls import local_minute
from vetl.discovery.probes import ListKnowledge, ask, recall
from vetl.discovery.report import Finding
from vetl.discovery.time_zone import (
    BESIDE,
    Pair,
    check_zone,
    distinguishing_day,
    pairs,
    zones_that_fit,
)

LARGEST_CSV = 5_000
SPAN = timedelta(days=6)
ZONE_LOOKS = 6
"""Most days that are read to distinguish the zones that fit."""
INTENT_NAMES = ("booking_intent", "wants_booking", "intent", "has_booking_intent", "bookingIntent")
CLIENT_NAMES = ("client_id", "client", "clientId", "matched_client_id", "service_client_id")

Findings = Plan[list[Finding]]


def check_calls(knowledge: ListKnowledge, rows: Sequence[Row]) -> Findings:
    """Check the CSV's paging, the filters that the contract describes, and the practice's time zone."""
    return [
        *(yield from _csv(knowledge)),
        *(yield from _strictness(knowledge)),
        (yield from _intent_filter(knowledge)),
        (yield from _client_filter(knowledge, rows)),
        (yield from _zone(knowledge)),
    ]


def _read_page(query: Mapping[str, str]) -> Plan[CallsPage | None]:
    try:
        page = yield from do(ReadCalls(query, 0, LARGEST_CSV, lenient=True))
    except RequestRefused:
        return None
    return page


def _csv(knowledge: ListKnowledge) -> Findings:
    endpoint = knowledge.endpoint
    one = yield from _read_page({**knowledge.whole, "per_page": "1", "page": "0"})
    two = yield from _read_page({**knowledge.whole, "per_page": "1", "page": "1"})
    over = yield from _read_page({**knowledge.whole, "per_page": str(LARGEST_CSV + 1), "page": "999999"})
    json = yield from recall(knowledge, {**knowledge.whole, "per_page": "1"})
    if one is None or two is None or json is None:
        remedy = "ask the platform why the CSV is refused; phone calls cannot be read without it"
        return [Finding(endpoint, "csv", "contradicts", "refused", "format=csv is refused", remedy)]
    if one.total_count < 2:  # noqa: PLR2004 - two pages are compared
        return [Finding(endpoint, "csv", "unknown", "", "fewer than two calls")]
    obeyed = one.rows == two.rows == 1 and (one.frame != two.frame or (yield from _tens_differ(knowledge)))
    agree = one.total_count == json.total_count or (yield from _totals_agree(knowledge))
    most = "refused" if over is None else f"cut to {over.per_page}"
    evidence = f"{'as many' if agree else 'not as many'} calls as in JSON; per_page={LARGEST_CSV + 1} is {most}"
    if obeyed and agree:
        return [Finding(endpoint, "csv", "ok", "paged from 0", evidence)]
    remedy = "ask the platform how the CSV is paged; without it phone calls cannot be read whole"
    return [
        Finding(endpoint, "csv", "contradicts", "not paged" if not obeyed else "other total", evidence, remedy)
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
        json = yield from ask(knowledge, {**knowledge.whole, "per_page": "1"})
        if csv is not None and json is not None and csv.total_count == json.total_count:
            return True
    return False


def _strictness(knowledge: ListKnowledge) -> Findings:
    """Check that another date format and an unknown direction are refused with 400 (contract: Phone calls)."""
    findings: list[Finding] = []
    for name, value in (("start_date", "01/31/2026"), ("direction", "vetl_doctor")):
        page = yield from ask(knowledge, {**knowledge.whole, name: value, **knowledge.smallest})
        if page is not None:
            evidence = f"a bad {name} is accepted; the contract says 400"
            findings.append(Finding(knowledge.endpoint, f"bad {name}", "note", "accepted", evidence))
    return findings


def _intent_filter(knowledge: ListKnowledge) -> Plan[Finding]:
    """Find the name of the boolean filter, which the contract does not show, by rows of both kinds."""
    for name in INTENT_NAMES:
        kinds: list[bool] = []
        for value in (True, False):
            page = yield from ask(knowledge, {**knowledge.whole, **knowledge.smallest, name: str(value).lower()})
            kinds.append(page is not None and all(row.get("booking_intent") is value for row in page.rows))
            if page is not None and not page.rows:
                kinds[-1] = False
        if all(kinds):
            return Finding(
                knowledge.endpoint, "intent filter", "ok", name, "true and false show calls of their kind"
            )
    return Finding(
        knowledge.endpoint, "intent filter", "unknown", "", "no name tried is honoured; vetl does not need it"
    )


def _client_filter(knowledge: ListKnowledge, rows: Sequence[Row]) -> Plan[Finding]:
    """Find the name of the client filter, which the contract does not show, by the calls of two clients."""
    clients = list(dict.fromkeys(str(row["client_id"]) for row in rows if row.get("client_id") is not None))[:2]
    for name in CLIENT_NAMES if len(clients) > 1 else ():
        proven = 0
        for client in clients:
            page = yield from ask(knowledge, {**knowledge.whole, **knowledge.largest, name: client})
            if page is None or not page.rows:
                break
            proven += all(str(row.get("client_id")) == client for row in page.rows)
        if proven == len(clients):
            return Finding(
                knowledge.endpoint, "client filter", "ok", name, "two clients show their own calls only"
            )
    return Finding(
        knowledge.endpoint, "client filter", "unknown", "", "no name tried is honoured; vetl does not need it"
    )


def _zone(knowledge: ListKnowledge) -> Plan[Finding]:
    """Compare calls of the last days, and of days on which the zones that still fit differ."""
    latest = yield from _latest_day(knowledge)
    configured = knowledge.reading.time_zone.key
    if latest is None:
        return check_zone(knowledge.endpoint, configured, [])
    calls = yield from _pairs(knowledge, latest - SPAN, latest)
    seen: set[date] = set()
    for _ in range(ZONE_LOOKS):
        zones = zones_that_fit(calls, configured)
        day = distinguishing_day(zones, knowledge.reading.history_start, latest, seen) if zones else None
        if day is None:
            break
        seen.add(day)
        calls += yield from _pairs(knowledge, day - BESIDE, day + BESIDE)
    return check_zone(knowledge.endpoint, configured, calls)


def _pairs(knowledge: ListKnowledge, first: date, last: date) -> Plan[list[Pair]]:
    """Read the calls of some days as JSON and as CSV, and pair them."""
    days = {"start_date": first.isoformat(), "end_date": last.isoformat()}
    json = yield from ask(knowledge, {**days, **knowledge.largest})
    if json is None or not json.rows:
        return []
    csv = yield from _read_page({**days, "per_page": str(LARGEST_CSV)})
    return pairs(json.rows, csv.frame if csv else ())


def _latest_day(knowledge: ListKnowledge) -> Plan[date | None]:
    """Return the day of the newest call in the CSV, or `None` if history holds no call."""
    reading = knowledge.reading
    end = reading.local_now.date() + timedelta(days=1)
    length = SPAN
    while True:
        start = max(reading.history_start, end - length)
        days = {"start_date": start.isoformat(), "end_date": end.isoformat()}
        page = yield from _read_page({**days, "per_page": "1000"})
        minutes = [minute for row in page.frame if (minute := local_minute(row))] if page else []
        if minutes or start == reading.history_start:
            return max(minutes).date() if minutes else None
        length *= 8
