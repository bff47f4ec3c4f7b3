"""Find the parameters that a sync needs to read a list, and keep them in `control.capabilities`.

There is one entry for each query parameter of a list. An undecided result never replaces a proof, unless that
proof is in doubt: a doctor that finds too few rows must not undo a sync.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from vetl.core.endpoint import KnownValues
from vetl.core.errors import ConfigurationError, Failing
from vetl.core.list_read import KEYS, Capabilities, Key, Parameter, Reading, Result
from vetl.core.pages import Page, Window
from vetl.core.steps import Learnt, Plan, ReadPage
from vetl.discovery import page_parameters, parameter_names, ranges
from vetl.discovery.conventions import QueryConventions, conventions_of
from vetl.discovery.first_look import FirstLook, Pages, first_look
from vetl.discovery.identity import Identity
from vetl.discovery.probes import Finding, Findings, ListKnowledge


def ask_for_practice() -> Plan[None]:
    """Ask for any answer for this practice: the call list needs no parameter (contract: Phone calls)."""
    yield ReadPage({}, 0, 1, lenient=True)


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
    findings = yield from check_parameters(knowledge, [key for key in _keys(reading) if _is_open(seen, key)])
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
    """Return the conventions with the status filter decided; check the filter if it is undecided.

    It stays so if the platform fails on a page of the list, perhaps on one row.
    """
    if conventions.status is not Result.UNDECIDED:
        return conventions
    everything = conventions.widest(reading) if reading.endpoint.strategy.has_range else Window()
    knowledge = ListKnowledge(reading, conventions.names, whole=conventions.filters(everything), thorough=False)
    knowledge.smallest = {conventions.names.per_page: "1"}
    before = Capabilities.of({}, reading.names)
    try:
        findings = yield from parameter_names.check_statuses(knowledge, _statuses(reading))
    except Failing:
        return conventions
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
    page = yield from knowledge.recall({**knowledge.whole, **knowledge.largest})
    bounds = yield from ranges.granularity(knowledge, ranges.timed_rows(page.rows if page else ()))
    start = now.parameters["start"].model_copy(update={"bounds": bounds})
    return Capabilities(parameters={**now.parameters, "start": start})


def check_parameters(knowledge: ListKnowledge, keys: Collection[Key] = KEYS) -> Findings:
    """Check these query parameters, whose names the contract does not show."""
    findings: list[Finding] = []
    if keys and not knowledge.reading.endpoint.strategy.has_range:
        yield from knowledge.fields_at_fault()  # raises if the list does not exist
    elif "start" in keys:
        findings += yield from ranges.check_range(knowledge)
    elif "end" in keys:
        findings.append((yield from ranges.check_end(knowledge)))
    if "per_page" in keys:
        findings += yield from page_parameters.check_size(knowledge)
    if "page" in keys:
        findings += yield from page_parameters.check_numbers(knowledge)
    statuses = _statuses(knowledge.reading)
    if "status" in keys and statuses:
        findings += yield from parameter_names.check_statuses(knowledge, statuses)
    yield from parameter_names.choose_accepted_names(
        knowledge, [finding.check for finding in findings if finding.state == "unknown"], statuses
    )
    return findings


def _statuses(reading: Reading) -> tuple[str, ...]:
    """Return the values of `status` that the contract lists; none if the list has no such filter."""
    field = reading.endpoint.record.model_fields.get("status")
    annotations = field.metadata if field else ()
    return next((item.values for item in annotations if isinstance(item, KnownValues)), ())


RESULTS = {
    "ok": Result.HONOURED,
    "contradicts": Result.HONOURED,
    "ignored": Result.IGNORED,
    "unknown": Result.UNDECIDED,
}


def capabilities_of(reading: Reading, doubts: Collection[str] = ()) -> Capabilities:
    """Return the stored capabilities of a list under the configured names, without those in doubt.

    A full reconcile starts without any.
    """
    stored = {} if reading.reconcile == "full" else reading.capabilities
    return Capabilities.of({key: value for key, value in stored.items() if key not in doubts}, reading.names)


def restore_knowledge(reading: Reading, before: Capabilities) -> ListKnowledge:
    """Rebuild the knowledge of a list from its stored capabilities."""
    conventions = conventions_of(reading, before)
    proven: set[str] = {key for key in KEYS if before.result(key) is Result.HONOURED}
    ignored = frozenset(key for key in KEYS if before.result(key) is Result.IGNORED)
    knowledge = ListKnowledge(
        reading, before.names, proven=proven, bounds=conventions.bounds, thorough=False, ignored=ignored
    )
    knowledge.refuses_future = before.parameters["end"].refuses_future
    knowledge.most_days = conventions.most_days
    start, end = knowledge.widest(conventions.bounds)
    ranged = {"start": start, "end": end} if reading.endpoint.strategy.has_range else {}
    knowledge.whole = {getattr(before.names, key): value for key, value in ranged.items() if key in proven}
    knowledge.page_base = before.parameters["page"].base
    knowledge.page_size = before.parameters["per_page"].size
    if "per_page" in proven:
        knowledge.smallest = {before.names.per_page: "1"}
        knowledge.largest = {before.names.per_page: str(conventions.page_size)}
    return knowledge


def is_hopeless(finding: Finding) -> bool:
    """Return whether the list cannot be read whole, because a parameter that it needs works under no name."""
    return finding.state == "contradicts" and finding.correction is None


def after(knowledge: ListKnowledge, before: Capabilities, findings: Sequence[Finding]) -> Capabilities:
    """Return the capabilities of the list with these findings applied."""
    findings_by_check = {finding.check: finding for finding in findings}
    return Capabilities(
        parameters={key: _parameter(knowledge, before, key, findings_by_check.get(key)) for key in KEYS}
    )


def _parameter(knowledge: ListKnowledge, before: Capabilities, key: Key, finding: Finding | None) -> Parameter:
    """Return the new state of a parameter. Without a finding it stays as it is.

    An ignored parameter keeps its name, unless it is a start without which the server refuses the list.
    """
    earlier = before.parameters[key]
    if finding is None:
        return earlier
    result = Result.IGNORED if is_hopeless(finding) else RESULTS[finding.state]
    is_used = result is not Result.IGNORED or (key == "start" and knowledge.required)
    name = str(getattr(knowledge.names, key)) if is_used else earlier.configured
    return Parameter(
        name=name,
        configured=earlier.configured,
        result=result,
        base=knowledge.page_base if key == "page" and result is Result.HONOURED else None,
        size=knowledge.page_size if key == "per_page" else None,
        bounds=_bounds(knowledge, key),
        refuses_future=key == "end" and knowledge.refuses_future,
        most_days=knowledge.most_days if key == "start" else None,
    )


def _bounds(knowledge: ListKnowledge, key: Key) -> Literal["instant", "day"] | None:
    if key == "end":
        return "day" if knowledge.end_in_days else None
    if key != "start":
        return None
    if knowledge.required and knowledge.accepted_start:
        return knowledge.accepted_start[1]
    return "day" if knowledge.bounds == "day" else None


def record(before: Mapping[str, Any], now: Capabilities, evidence: Mapping[str, str]) -> Plan[None]:
    """Yield a step for each parameter that differs from the stored value `before`, with its evidence."""
    for key, item in now.parameters.items():
        value = item.model_dump(mode="json")
        if item.result is Result.UNDECIDED and key not in before and item.name == item.configured:
            continue
        if before.get(key) != value:
            yield Learnt(key, value, evidence.get(key, "checked again"))
