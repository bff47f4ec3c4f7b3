"""What of the answers is kept for `sync`, in `control.capabilities`."""

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from pipelines.doctor.asking import Known
from pipelines.doctor.finding import Finding
from pipelines.endpoint import UpdatedWindows
from pipelines.steps import Learnt, Step

UNUSABLE = "unusable"
"""The capability that says why a list cannot be read whole; null where it can."""


def is_hopeless(finding: Finding) -> bool:
    """Whether the list cannot be read whole: it needs a parameter that is honoured under no name."""
    return finding.state == "contradicts" and finding.correction is None


def keep(known: Known, findings: Sequence[Finding]) -> Generator[Step, Any, None]:
    """What `sync` shall use from now on, with its evidence."""
    by_check = {finding.check: finding for finding in findings}
    if known.proven:
        evidence = f"proven by doctor: {', '.join(sorted(known.proven))}"
        yield Learnt("names", asdict(known.names), evidence)
    if known.page_base is not None:
        yield Learnt("page_base", known.page_base, by_check["page"].evidence)
    if known.page_size is not None:
        size = min(known.page_size, known.reading.endpoint.page_size)
        yield Learnt("page_size", size, by_check.get("page size", by_check["per_page"]).evidence)
    if isinstance(known.reading.endpoint.strategy, UpdatedWindows):
        yield from _bounds(known, by_check)
    hopeless = next((finding.evidence for finding in findings if is_hopeless(finding)), None)
    if hopeless or known.proven:  # an empty list proves nothing, and is asked again
        yield Learnt(UNUSABLE, hopeless, hopeless or "every parameter that is needed works")
    yield from (Learnt(f"seen_{name}", found, evidence) for name, found, evidence in _facts(findings))


def _bounds(known: Known, by_check: Mapping[str, Finding]) -> Iterator[Learnt]:
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
