"""What of the answers is kept for `sync`, in `control.capabilities`."""

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from pipelines.doctor.asking import Known, whole_bounds
from pipelines.doctor.finding import Finding
from pipelines.endpoint import UpdatedWindows
from pipelines.steps import Learnt, Step
from pipelines.strategies.dialect import dialect_of
from pipelines.strategies.reading import Reading

UNUSABLE = "unusable"
"""The capability that says why a list cannot be read whole; null where it can."""
PARAMETERS = "parameters"
"""The capability that says of each query parameter whether it is proven, ignored under every name, or open."""

QUERY_PARAMETERS = ("start", "end", "per_page", "page", "status")
STATES = {"ok": "proven", "contradicts": "proven", "ignored": "ignored", "unknown": "open"}


def known_already(reading: Reading) -> Known:
    """What earlier checks kept of a list, to go on from; nothing where there were none."""
    capabilities = reading.capabilities
    dialect = dialect_of(reading.names, reading.endpoint.page_size, capabilities)
    states: Mapping[str, str] = capabilities.get(PARAMETERS, {})
    proven = {name for name, state in states.items() if state == "proven"}
    known = Known(reading, dialect.names, proven=proven, bounds=dialect.bounds, thorough=False)
    if "start" in proven:
        start, end = whole_bounds(reading, dialect.bounds)
        known.whole = {dialect.names.start: start} | ({dialect.names.end: end} if "end" in proven else {})
    if "per_page" in proven:
        known.smallest = {dialect.names.per_page: "1"}
        known.largest = {dialect.names.per_page: str(dialect.page_size)}
    return known


def is_hopeless(finding: Finding) -> bool:
    """Whether the list cannot be read whole: it needs a parameter that is honoured under no name."""
    return finding.state == "contradicts" and finding.correction is None


def keep(known: Known, findings: Sequence[Finding]) -> Generator[Step, Any, None]:
    """What `sync` shall use from now on, with its evidence."""
    by_check = {finding.check: finding for finding in findings}
    if known.proven or known.names != known.reading.names:
        evidence = (
            f"proven by doctor: {', '.join(sorted(known.proven)) or 'none; taken, where others are refused'}"
        )
        yield Learnt("names", asdict(known.names), evidence)
    if known.page_base is not None:
        yield Learnt("page_base", known.page_base, by_check["page"].evidence)
    if known.page_size is not None:
        size = min(known.page_size, known.reading.endpoint.page_size)
        yield Learnt("page_size", size, by_check.get("page size", by_check["per_page"]).evidence)
    if isinstance(known.reading.endpoint.strategy, UpdatedWindows):
        yield from _bounds(known, by_check)
    yield from _parameters(known, by_check)
    hopeless = next((finding.evidence for finding in findings if is_hopeless(finding)), None)
    if hopeless or known.proven:  # an empty list proves nothing, and is asked again
        yield Learnt(UNUSABLE, hopeless, hopeless or "every parameter that is needed works")
    yield from (Learnt(f"seen_{name}", found, evidence) for name, found, evidence in _facts(findings))


def _parameters(known: Known, by_check: Mapping[str, Finding]) -> Iterator[Learnt]:
    """What is open is asked again at the next sync: a list that was empty, or too short to tell."""
    before: Mapping[str, str] = known.reading.capabilities.get(PARAMETERS, {})
    found = {
        name: "ignored" if is_hopeless(by_check[name]) else STATES[by_check[name].state]
        for name in QUERY_PARAMETERS
        if name in by_check
    }
    if {**before, **found} != before:
        told = ", ".join(f"{name} {state}" for name, state in found.items())
        yield Learnt(PARAMETERS, {**before, **found}, told)


def _bounds(known: Known, by_check: Mapping[str, Finding]) -> Iterator[Learnt]:
    if "start" not in by_check:
        return
    if by_check["start"].state == "ignored":
        yield Learnt("bounds", "none", by_check["start"].evidence)
    elif "bounds" in by_check and by_check["bounds"].state == "note":
        yield Learnt("bounds", known.bounds, by_check["bounds"].evidence)
    elif "start" in known.proven and known.bounds == "day":
        yield Learnt("bounds", "day", "date-times are refused, dates are taken")


def _facts(findings: Sequence[Finding]) -> Iterator[tuple[str, str, str]]:
    """What is kept to be looked up; `sync` does not rely on it."""
    for finding in findings:
        if finding.state == "note" or finding.check == "beyond the end":
            yield finding.check.replace(" ", "_"), finding.found, finding.evidence
