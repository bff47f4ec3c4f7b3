"""The date range of a list: is it honoured, and under which names (contract: Endpoints, "not shown")."""

from collections.abc import Generator, Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from pipelines.doctor.asking import (
    Known,
    ask,
    candidates,
    far_ahead,
    fields_at_fault,
    is_unknown,
    recall,
    whole_bounds,
    written,
)
from pipelines.doctor.finding import Correction, Finding
from pipelines.pages import Page
from pipelines.steps import Step
from pipelines.strategies.dialect import Bounds
from pipelines.strategies.parameter_names import DATE_RANGE_NAMES

Found = Generator[Step, Any, list[Finding]]
FORMS: tuple[Bounds, ...] = ("instant", "day")
PARTNERS = dict(DATE_RANGE_NAMES) | {"start_date": "end_date"}
"""The end that goes with a start."""


def check_range(known: Known, *, fixed: bool = False) -> Found:
    """Prove the names of start and end, or find those that work. `fixed`: the contract shows them.

    Fills in `known`: names, bounds and the query for the whole list.
    """
    configured = known.names
    whole = yield from _try_start(known, configured.start)
    if whole is None and not fixed:
        hints = yield from fields_at_fault(known)
        for name in candidates(hints, PARTNERS):
            if name != configured.start and (whole := (yield from _try_start(known, name))) is not None:
                break
    if whole is None:
        return [(yield from _no_start(known))]
    if not whole.total_count:
        known.whole = {known.names.start: known.whole[known.names.start]}
        return [_too_few(known, "start"), _too_few(known, "end")]
    known.proven.add("start")
    findings = [name_finding(known, "start", configured.start, "a far future gives 0 rows, the past more")]
    return [*findings, (yield from _check_end(known, whole, configured.end, fixed=fixed))]


def _try_start(known: Known, name: str) -> Generator[Step, Any, Page | None]:
    """The whole list under this start, where a start in the far future empties it; an empty one proves less."""
    for bounds in FORMS:
        past, _ = whole_bounds(known.reading, bounds)
        for query in _ahead(name, bounds, far_ahead(known.reading.now)):
            page = yield from recall(known, query)
            if page is None:
                yield from fields_at_fault(known)  # a list that is not there says so here
                if (yield from is_unknown(known, name, query)):
                    break  # an end beside it would not help; a day might, where all faults have one message
                continue
            if page.total_count:
                return None  # taken, and without effect
            whole = yield from recall(known, {name: past})
            if whole is None:
                continue
            known.names = replace(known.names, start=name)
            known.bounds = bounds
            known.whole = {name: past}
            return whole
    return None


def _ahead(name: str, bounds: Bounds, at: datetime) -> Iterator[Mapping[str, str]]:
    """A range in the far future: with its start alone, and with an end for servers that want start <= end."""
    start = {name: written(at, bounds)}
    yield start
    if name in PARTNERS:
        yield {**start, PARTNERS[name]: written(at + timedelta(days=1), bounds)}


def _check_end(known: Known, whole: Page, configured: str, *, fixed: bool) -> Generator[Step, Any, Finding]:
    reading = known.reading
    early = written(reading.local_midnight(reading.history_start) + timedelta(seconds=1), known.bounds)
    _, late = whole_bounds(reading, known.bounds)
    partner = PARTNERS.get(known.names.start, configured)
    for name in (configured,) if fixed else candidates((configured, partner), PARTNERS.values()):
        narrow = yield from ask(known, {**known.whole, name: early})
        if narrow is None or narrow.total_count >= whole.total_count:
            continue
        wide = yield from ask(known, {**known.whole, name: late})
        if wide is None or wide.total_count <= narrow.total_count:
            continue
        known.names = replace(known.names, end=name)
        known.whole = {**known.whole, name: late}
        known.proven.add("end")
        evidence = f"an early end gives {narrow.total_count} rows, a late one {wide.total_count}"
        return name_finding(known, "end", configured, evidence)
    return Finding(
        known.endpoint,
        "end",
        "ignored",
        "none",
        f"{known.names.end} is not honoured, nor is any other name tried",
        "nothing needs to be done: every window reaches to the present, reading takes more requests",
    )


def name_finding(known: Known, key: str, configured: str, evidence: str) -> Finding:
    """A query name that was proven: as configured, or another one."""
    name = str(getattr(known.names, key))
    if name == configured:
        return Finding(known.endpoint, key, "ok", name, evidence)
    return Finding(
        known.endpoint,
        key,
        "contradicts",
        name,
        f"{configured} is not honoured; with {name}, {evidence}",
        f'set {key} = "{name}" in [partner.parameters.{known.endpoint}]',
        Correction(key, name),
    )


def _no_start(known: Known) -> Generator[Step, Any, Finding]:
    name = known.names.start
    known.bounds, known.whole = "none", {}
    if (yield from recall(known, {})) is None:
        return Finding(
            known.endpoint,
            "start",
            "contradicts",
            "none",
            f"{name} is refused, so is every other name tried, and so is a request without",
            f"ask the platform for its name and set start in [partner.parameters.{known.endpoint}]",
        )
    return Finding(
        known.endpoint,
        "start",
        "ignored",
        "none",
        f"{name} is not honoured, nor is any other name tried",
        f"ask the platform how {known.endpoint} is narrowed by date; until then it is read whole, each time",
    )


def _too_few(known: Known, key: str) -> Finding:
    name = str(getattr(known.names, key))
    return Finding(known.endpoint, key, "unknown", name, "the list is empty since history_start")
