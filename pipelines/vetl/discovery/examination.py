"""All checks of a list and the report on them, for `vetl doctor`; `discover` has the checks that a sync needs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from typing import Any

from pydantic import BaseModel

from vetl.core.endpoint import ByReference, DateWindows, KnownValues, QueryNames
from vetl.core.errors import NotFound, PracticeRefused, RequestRefused
from vetl.core.list_read import Capabilities, Reading
from vetl.core.pages import Page, Row, instant, key_of
from vetl.core.steps import Learnt, Plan
from vetl.discovery import calls_and_people, discover, page_parameters, parameter_names, ranges
from vetl.discovery.probes import Finding, Findings, ListKnowledge
from vetl.partner.answers import redact
from vetl.partner.models import CALL_STATES, PhoneCall

WITHOUT_TOTAL_PAGES = frozenset({"booking_sessions"})


@dataclass(frozen=True, slots=True)
class Examination:
    """The findings of one list, and the client ids that its rows mention."""

    findings: Sequence[Finding]
    clients: Sequence[str] = ()


def examine(reading: Reading, clients: Sequence[str] = ()) -> Plan[Examination]:
    """Run all checks of one list. `clients` are the ids that rows of other lists mention.

    Raise `PracticeRefused` if the platform answers nothing for this practice.
    """
    endpoint = reading.endpoint
    try:
        match endpoint.strategy:
            case DateWindows():
                return (yield from _examine_calls(reading))
            case ByReference() if endpoint.name == "clients":
                return Examination((yield from calls_and_people.check_clients(clients)))
            case ByReference():
                return Examination((yield from calls_and_people.check_patients(clients)))
            case _:
                return Examination((yield from _examine_list(reading)))
    except NotFound as error:
        withdrawn = endpoint.may_be_withdrawn
        if withdrawn:
            evidence = f"{error}; it is declared proposed, vetl keeps the data it has"
            return Examination([Finding(endpoint.name, "list", "note", "withdrawn", evidence)])
        remedy = "check partner.base_url, and ask the platform whether this practice has the list"
        return Examination([Finding(endpoint.name, "list", "refused", "not there", str(error), remedy)])


def check_practice() -> Plan[Finding]:
    """Check that the platform answers for this practice."""
    try:
        yield from discover.ask_for_practice()
    except (PracticeRefused, RequestRefused) as refusal:
        return Finding("", "practice", "refused", str(refusal.status), str(refusal), _remedy(refusal))
    return Finding("", "practice", "ok", "answers", "the call list answers for this X-Client-Id")


def _remedy(refusal: PracticeRefused | RequestRefused) -> str:
    if refusal.status < 400:  # noqa: PLR2004 - a redirect
        return "correct base_url in [partner]"
    if isinstance(refusal, RequestRefused) and refusal.fields:
        return "ask the platform why it refuses this request"
    return "check the id in [[practices]], and ask the platform whether the credentials are good for it"


def _examine_list(reading: Reading) -> Findings:
    before = Capabilities.of({}, reading.names)
    knowledge = ListKnowledge(reading, reading.names)
    findings = yield from discover.check_parameters(knowledge)
    page = yield from knowledge.recall({**knowledge.whole, **knowledge.largest})
    if page is not None:
        if reading.endpoint.strategy.has_range and knowledge.bounds != "none":
            findings += yield from ranges.check_bounds(knowledge, page.rows)
        findings += yield from _contents(knowledge, page)
    decided = discover.after(knowledge, before, findings)
    if knowledge.bounds != "none" and any(item.check == "bounds" and item.state == "note" for item in findings):
        start = decided.parameters["start"].model_copy(update={"bounds": knowledge.bounds})
        decided = Capabilities(parameters={**decided.parameters, "start": start})
    yield from discover.record({}, decided, {finding.check: finding.evidence for finding in findings})
    yield from record_facts(findings)
    return findings


def _contents(knowledge: ListKnowledge, page: Page) -> Findings:
    promised = knowledge.endpoint not in WITHOUT_TOTAL_PAGES
    findings = list(check_total_pages(knowledge, page, promised=promised))
    return [*findings, *(yield from check_contents(knowledge, page, knowledge.reading.endpoint.record))]


def _examine_calls(reading: Reading) -> Plan[Examination]:
    knowledge = ListKnowledge(reading, QueryNames(status="state"))
    findings = yield from ranges.check_range(knowledge)
    findings += yield from page_parameters.check_size(knowledge)
    findings += yield from page_parameters.check_numbers(knowledge)
    findings += yield from parameter_names.check_statuses(knowledge, CALL_STATES.values, column="state")
    page = yield from knowledge.recall({**knowledge.whole, **knowledge.largest})
    if page is not None:
        findings += list(check_total_pages(knowledge, page, promised=True))
        findings += yield from check_contents(knowledge, page, PhoneCall)
        findings += yield from calls_and_people.check_calls(knowledge, page.rows)
    return Examination(findings, calls_and_people.clients_in(page.rows if page else ()))


@dataclass(frozen=True, slots=True)
class Examined:
    """All findings of one practice, and the number of HTTP requests that they took."""

    practice_id: str
    findings: tuple[Finding, ...]
    requests: int


@dataclass(frozen=True, slots=True)
class Report:
    """The result of `vetl doctor`.

    `written` are the keys of `vetl.toml` that were corrected: the checks found nothing wrong with the new values.
    `overridden` are the keys among them that an environment variable overrides, so that the correction has no
    effect.
    """

    source_clock: datetime
    practices: tuple[Examined, ...]
    requests: int
    rate_limited: int
    written: tuple[str, ...] = ()
    overridden: tuple[str, ...] = ()

    @property
    def contradictions(self) -> list[tuple[str, Finding]]:
        """Return the findings in which the source differs from the configuration, each with its practice."""
        return [
            (practice.practice_id, finding)
            for practice in self.practices
            for finding in practice.findings
            if finding.state in ("contradicts", "refused")
        ]

    @property
    def exit_code(self) -> int:
        """Return 3 if the configuration contradicts the source, else 0."""
        return 3 if self.contradictions or self.overridden else 0

    def as_json(self) -> dict[str, Any]:
        """Return the report as plain JSON values."""
        return {
            "exit_code": self.exit_code,
            "source_clock": self.source_clock.isoformat(),
            "requests": self.requests,
            "rate_limited": self.rate_limited,
            "written": list(self.written),
            "overridden": list(self.overridden),
            "practices": [_without_empty(asdict(practice)) for practice in self.practices],
        }


def _without_empty(practice: Mapping[str, Any]) -> dict[str, Any]:
    findings = [
        {name: value for name, value in finding.items() if value not in ("", None)}
        for finding in practice["findings"]
    ]
    return {**practice, "findings": findings}


ENOUGH = 3
"""Distinct times that are needed to recognise an order."""


SHOWN = 5


def check_contents(knowledge: ListKnowledge, page: Page, record: type[BaseModel]) -> Findings:
    """Check one page of rows; read it once more to see whether its order is stable."""
    again = yield from knowledge.ask({**knowledge.whole, **knowledge.largest})
    stable = again is not None and [*map(key_of, again.rows)] == [*map(key_of, page.rows)]
    return [_order(knowledge, page.rows, stable=stable), *drift(knowledge.endpoint, page.rows, record)]


def check_total_pages(knowledge: ListKnowledge, page: Page, *, promised: bool) -> Iterator[Finding]:
    """Check `total_pages`, which every paged list except booking sessions has (contract: Endpoints)."""
    present = page.total_pages is not None
    if present != promised:
        answer = "there" if present else "missing"
        evidence = "the contract says otherwise; vetl uses total_count alone"
        yield knowledge.finding("total_pages", "note", answer, evidence)


def _order(knowledge: ListKnowledge, rows: Sequence[Row], *, stable: bool) -> Finding:
    orders = [
        f"{column} {direction}"
        for column in ("created_at", "updated_at")
        for direction in ("descending", "ascending")
        if _is_sorted(rows, column, falling=direction == "descending")
    ]
    order = " or ".join(orders) or "none that shows"
    evidence = f"{len(rows)} rows; " + ("twice the same" if stable else "another order the second time")
    state = "unknown" if len(rows) < ENOUGH else "note"
    return knowledge.finding("order", state, order if state == "note" else "", evidence)


def _is_sorted(rows: Sequence[Row], column: str, *, falling: bool) -> bool:
    times = [at for row in rows if (at := instant(row.get(column))) is not None]
    if len(times) < len(rows) or len(set(times)) < ENOUGH:
        return False
    return all(above >= below if falling else above <= below for above, below in pairwise(times))


def drift(endpoint: str, rows: Sequence[Row], record: type[BaseModel]) -> Iterator[Finding]:
    """Return fields and enum values that the contract does not list, redacted: field names are data too."""
    fields = record.model_fields
    strange = sorted({name for row in rows for name in row} - set(fields))
    if strange:
        examples = ", ".join(redact(name) for name in strange[:SHOWN])
        yield Finding(endpoint, "fields", "note", examples, "unknown to the contract; kept in _extra")
    for name, field in fields.items():
        values = next((set(item.values) for item in field.metadata if isinstance(item, KnownValues)), None)
        if values is None:
            continue
        strange_values = {str(row[name]) for row in rows if row.get(name) is not None} - values
        if strange_values:
            examples = ", ".join(redact(value) for value in sorted(strange_values)[:SHOWN])
            yield Finding(
                endpoint, f"values of {name}", "note", examples, "unknown to the contract; kept as they are"
            )


MOVES = """
with versions as (
    select practice_id, id, stage, _valid_from as seen_at from history.booking_sessions where stage <> ''
    union all
    select practice_id, id, stage, _loaded_at as seen_at from raw.booking_sessions where stage <> ''
)
select earlier.stage, later.stage, count(*)
from versions as earlier
inner join versions as later using (practice_id, id)
where earlier.seen_at < later.seen_at and earlier.stage <> later.stage
group by all order by all
"""
"""The pairs of stages at which a session was seen one after the other, and how often. All pairs, not only
neighbours: a sync sees some of the stages."""


def order_of_stages(moves: Mapping[tuple[str, str], int]) -> tuple[str, ...]:
    """Return the stages as most sessions passed them, or none if the majorities form a circle."""
    before: dict[str, set[str]] = {}
    for (here, there), times in moves.items():
        if times > moves.get((there, here), 0):
            before.setdefault(there, set()).add(here)
    try:
        return tuple(TopologicalSorter(before).static_order())
    except CycleError:
        return ()


def record_facts(findings: Sequence[Finding]) -> Iterator[Learnt]:
    """Yield steps that store findings for information; a sync does not use them."""
    for finding in findings:
        if finding.state == "note" or finding.check == "beyond the end":
            yield Learnt(f"seen_{finding.check.replace(' ', '_')}", finding.found, finding.evidence)
