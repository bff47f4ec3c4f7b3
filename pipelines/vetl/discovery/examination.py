"""Select the checks of a list: `vetl doctor` runs all, a sync runs those that its read needs."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from vetl.core.endpoint import ByReference, DateWindows, KnownValues, QueryNames
from vetl.core.errors import ConfigurationError, NotFound, PracticeRefused, RequestRefused
from vetl.core.list_read import KEYS, Capabilities, Key, Parameter, Reading, Result
from vetl.core.pages import Page, Window
from vetl.core.steps import Learnt, Plan, ReadPage
from vetl.discovery.calls_and_people import check_calls, check_clients, check_patients, clients_in
from vetl.discovery.capability_store import (
    after,
    capabilities_of,
    is_hopeless,
    record,
    record_facts,
    restore_knowledge,
)
from vetl.discovery.conventions import QueryConventions
from vetl.discovery.first_look import FirstLook, Pages, first_look
from vetl.discovery.identity import Identity
from vetl.discovery.page_parameters import check_numbers, check_size
from vetl.discovery.parameter_names import choose_accepted_names
from vetl.discovery.probes import Finding, Findings, ListKnowledge, fields_at_fault, recall
from vetl.discovery.ranges import check_bounds, check_end, check_range, granularity, timed_rows
from vetl.discovery.row_checks import check_contents, check_statuses, check_total_pages
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
            case ByReference():
                check = check_clients if endpoint.name == "clients" else check_patients
                return Examination((yield from check(clients)))
            case _:
                return Examination((yield from _examine_list(reading)))
    except NotFound as error:
        withdrawn = endpoint.may_be_withdrawn
        if withdrawn:
            evidence = f"{error}; it is declared proposed, vetl keeps the data it has"
            return Examination([Finding(endpoint.name, "list", "note", "withdrawn", evidence)])
        remedy = "check partner.base_url, and ask the platform whether this practice has the list"
        return Examination([Finding(endpoint.name, "list", "refused", "not there", str(error), remedy)])


def ask_for_practice() -> Plan[None]:
    """Ask for any answer for this practice: the call list needs no parameter (contract: Phone calls)."""
    yield ReadPage({}, 0, 1, lenient=True)


def check_practice() -> Plan[Finding]:
    """Check that the platform answers for this practice."""
    try:
        yield from ask_for_practice()
    except (PracticeRefused, RequestRefused) as refusal:
        return Finding("", "practice", "refused", str(refusal.status), str(refusal), _remedy(refusal))
    return Finding("", "practice", "ok", "answers", "the call list answers for this X-Client-Id")


def _remedy(refusal: PracticeRefused | RequestRefused) -> str:
    if refusal.status < 400:  # noqa: PLR2004 - a redirect
        return "correct base_url in [partner]"
    if isinstance(refusal, RequestRefused) and refusal.fields:
        return "ask the platform why it refuses this request"
    return "check the id in [[practices]], and ask the platform whether the credentials are good for it"


@dataclass(frozen=True, slots=True)
class Discovered:
    """The capabilities of a list, the verdict on its ids, and the pages read on the way, which the sync reuses."""

    capabilities: Capabilities
    ids: Identity = field(default_factory=Identity)
    pages: Pages = field(default_factory=dict[Any, Page])


def discover(reading: Reading, doubts: Collection[str] = ()) -> Plan[Discovered]:
    """Find the parameters that a sync needs to read a list, and their names; check only those that are undecided.

    `doubts` are parameters to check again even if they are decided. The status filter is checked when a strategy
    needs it (`find_status`).

    Requests: six at a first sync of a server that behaves as configured, three of which are pages of the read;
    about 20 at other servers; none once all parameters are decided. Each sync spends two to four requests on a
    list that is empty or fits one page, and six on a list whose date range the server ignores. Raise
    `ConfigurationError` if the list cannot be read whole, because the server ignores a parameter that this needs;
    `RequestRefused` if the list does not exist, or the server refuses every form of the query.
    """
    before, look = capabilities_of(reading, doubts), FirstLook()
    if not doubts and all(item.result is Result.UNDECIDED for item in before.parameters.values()):
        look = yield from first_look(reading)
        if look.ids.verdict == "changing":
            return Discovered(before, look.ids)
    seen = look.decided(before)
    knowledge = restore_knowledge(reading, seen)
    findings = yield from _parameters(knowledge, [key for key in _keys(reading) if _is_open(seen, key)])
    now = after(knowledge, seen, findings)
    start = now.parameters["start"]
    if start.result is now.result("end") is Result.HONOURED and start.bounds is None:
        now = yield from _with_bounds(knowledge, now)
    contradicted = set(doubts) & {"start", "end"}
    now = _still_believed(Capabilities.of(reading.capabilities, reading.names), now, contradicted)
    evidence = {**look.evidence, **{finding.check: finding.evidence for finding in findings}}
    yield from record(reading.capabilities, now, evidence)
    for finding in filter(is_hopeless, findings):
        raise ConfigurationError(f"{reading.endpoint.name}: {finding.evidence}; {finding.remedy}")
    return Discovered(now, look.ids, look.pages)


def find_status(reading: Reading, conventions: QueryConventions) -> Plan[QueryConventions]:
    """Return the conventions with the status filter decided; check the filter if it is undecided."""
    if conventions.status is not Result.UNDECIDED:
        return conventions
    everything = reading.whole_history if reading.endpoint.strategy.has_range else Window()
    knowledge = ListKnowledge(reading, conventions.names, whole=conventions.filters(everything), thorough=False)
    knowledge.smallest = {conventions.names.per_page: "1"}
    before = Capabilities.of({}, reading.names)
    findings = yield from check_statuses(knowledge, _statuses(reading))
    status = after(knowledge, before, findings).parameters["status"]
    if status.result is not Result.UNDECIDED:
        yield Learnt("status", status.model_dump(mode="json"), findings[0].evidence)
    return replace(conventions, names=replace(conventions.names, status=status.name), status=status.result)


def _still_believed(earlier: Capabilities, now: Capabilities, contradicted: Collection[str]) -> Capabilities:
    """Keep earlier proofs that this check could not repeat, because the list moves or is empty by now."""
    proved: dict[Key, Parameter] = {
        key: item
        for key, item in earlier.parameters.items()
        if now.result(key) is Result.UNDECIDED and item.result is Result.HONOURED and key not in contradicted
    }
    return Capabilities(parameters={**now.parameters, **proved})


def _keys(reading: Reading) -> Sequence[Key]:
    """Return the parameters that a read needs (contract: Staff tasks, AI outbound requests have no date range)."""
    has_range = reading.endpoint.strategy.has_range
    return ("start", "end", "per_page", "page") if has_range else ("per_page", "page")


def _is_open(before: Capabilities, key: Key) -> bool:
    """Return whether a parameter is checked; an ignored page size is not, because it costs requests only."""
    result = before.result(key)
    return result is Result.UNDECIDED or (result is Result.IGNORED and key != "per_page")


def _with_bounds(knowledge: ListKnowledge, now: Capabilities) -> Plan[Capabilities]:
    page = yield from recall(knowledge, {**knowledge.whole, **knowledge.largest})
    bounds = yield from granularity(knowledge, timed_rows(page.rows if page else ()))
    start = now.parameters["start"].model_copy(update={"bounds": bounds})
    return Capabilities(parameters={**now.parameters, "start": start})


def _examine_list(reading: Reading) -> Findings:
    before = Capabilities.of({}, reading.names)
    knowledge = ListKnowledge(reading, reading.names)
    findings = yield from _parameters(knowledge)
    page = yield from recall(knowledge, {**knowledge.whole, **knowledge.largest})
    if page is not None:
        if reading.endpoint.strategy.has_range and knowledge.bounds != "none":
            findings += yield from check_bounds(knowledge, page.rows)
        findings += yield from _contents(knowledge, page)
    decided = after(knowledge, before, findings)
    if knowledge.bounds != "none" and any(item.check == "bounds" and item.state == "note" for item in findings):
        start = decided.parameters["start"].model_copy(update={"bounds": knowledge.bounds})
        decided = Capabilities(parameters={**decided.parameters, "start": start})
    yield from record({}, decided, {finding.check: finding.evidence for finding in findings})
    yield from record_facts(findings)
    return findings


def _parameters(knowledge: ListKnowledge, keys: Collection[Key] = KEYS) -> Findings:
    """Check these query parameters, whose names the contract does not show."""
    findings: list[Finding] = []
    if keys and not knowledge.reading.endpoint.strategy.has_range:
        yield from fields_at_fault(knowledge)  # raises if the list does not exist
    elif "start" in keys:
        findings += yield from check_range(knowledge)
    elif "end" in keys:
        findings.append((yield from check_end(knowledge, knowledge.names.end)))
    if "per_page" in keys:
        findings += yield from check_size(knowledge)
    if "page" in keys:
        findings += yield from check_numbers(knowledge)
    statuses = _statuses(knowledge.reading)
    if "status" in keys and statuses:
        findings += yield from check_statuses(knowledge, statuses)
    yield from choose_accepted_names(
        knowledge, [finding.check for finding in findings if finding.state == "unknown"], statuses
    )
    return findings


def _contents(knowledge: ListKnowledge, page: Page) -> Findings:
    promised = knowledge.endpoint not in WITHOUT_TOTAL_PAGES
    findings = list(check_total_pages(knowledge, page, promised=promised))
    return [*findings, *(yield from check_contents(knowledge, page, knowledge.reading.endpoint.record))]


def _examine_calls(reading: Reading) -> Plan[Examination]:
    """Check phone calls under the names that the contract shows, and under no other."""
    knowledge = ListKnowledge(reading, QueryNames(status="state"))
    findings = yield from check_range(knowledge, fixed=True)
    findings += yield from check_size(knowledge, fixed=True)
    findings += yield from check_numbers(knowledge, fixed=True)
    findings += yield from check_statuses(knowledge, CALL_STATES.values, column="state", fixed=True)
    page = yield from recall(knowledge, {**knowledge.whole, **knowledge.largest})
    if page is not None:
        findings += list(check_total_pages(knowledge, page, promised=True))
        findings += yield from check_contents(knowledge, page, PhoneCall)
        findings += yield from check_calls(knowledge, page.rows)
    return Examination(findings, clients_in(page.rows if page else ()))


def _statuses(reading: Reading) -> tuple[str, ...]:
    """Return the values of `status` that the contract lists; none if the list has no such filter."""
    field = reading.endpoint.record.model_fields.get("status")
    annotations = field.metadata if field else ()
    return next((item.values for item in annotations if isinstance(item, KnownValues)), ())
