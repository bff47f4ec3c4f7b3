"""Read and write `control.capabilities`: one entry for each query parameter of a list.

An undecided result never replaces a proof, unless that proof is in doubt: a doctor that finds too few rows must
not undo a sync.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Literal

from vetl.core.list_read import KEYS, Capabilities, Key, Parameter, Reading, Result
from vetl.core.steps import Learnt, Plan
from vetl.discovery.conventions import Bounds, QueryConventions
from vetl.discovery.probes import Finding, ListKnowledge, whole_bounds

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


def conventions_of(reading: Reading, capabilities: Capabilities) -> QueryConventions:
    """Return the query conventions of a list, as far as its capabilities are decided."""
    ignored = capabilities.result("start") is Result.IGNORED
    start, per_page, page = (capabilities.parameters[key] for key in ("start", "per_page", "page"))
    return QueryConventions(
        capabilities.names,
        page_size=min(per_page.size or reading.endpoint.page_size, reading.endpoint.page_size),
        page_base=page.base if page.result is Result.HONOURED else None,
        bounds="none" if ignored else start.bounds or _form(start),
        end=capabilities.result("end"),
        status=capabilities.result("status"),
        end_in_days=capabilities.parameters["end"].bounds == "day",
        required={start.name: whole_bounds(reading, start.bounds)[0]} if ignored and start.bounds else {},
    )


def _form(start: Parameter) -> Bounds:
    """Return whole days for a start that works but whose precision is unknown: days are correct in both cases."""
    return "instant" if start.result is Result.UNDECIDED else "day"


def restore_knowledge(reading: Reading, before: Capabilities) -> ListKnowledge:
    """Rebuild the knowledge of a list from its stored capabilities."""
    conventions = conventions_of(reading, before)
    proven: set[str] = {key for key in KEYS if before.result(key) is Result.HONOURED}
    ignored = frozenset(key for key in KEYS if before.result(key) is Result.IGNORED)
    knowledge = ListKnowledge(
        reading, before.names, proven=proven, bounds=conventions.bounds, thorough=False, ignored=ignored
    )
    start, end = whole_bounds(reading, conventions.bounds)
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


def record_facts(findings: Sequence[Finding]) -> Iterator[Learnt]:
    """Yield steps that store findings for information; a sync does not use them."""
    for finding in findings:
        if finding.state == "note" or finding.check == "beyond the end":
            yield Learnt(f"seen_{finding.check.replace(' ', '_')}", finding.found, finding.evidence)
