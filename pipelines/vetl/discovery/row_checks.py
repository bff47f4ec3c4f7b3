"""Check rows: their order, unknown fields and values, the status filter, the order of booking stages."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise

from pydantic import BaseModel

from vetl.core.endpoint import KnownValues
from vetl.core.pages import Page, Row, instant, key_of
from vetl.core.steps import Plan
from vetl.discovery.parameter_names import STATUS_NAMES
from vetl.discovery.probes import (
    SLIGHT,
    TWICE,
    Finding,
    Findings,
    ListKnowledge,
    ask,
    bisected,
    name_finding,
    recall,
)
from vetl.partner.answers import redact

ENOUGH = 3
"""Distinct times that are needed to recognise an order."""
SHOWN = 5


def check_contents(knowledge: ListKnowledge, page: Page, record: type[BaseModel]) -> Findings:
    """Check one page of rows; read it once more to see whether its order is stable."""
    again = yield from ask(knowledge, {**knowledge.whole, **knowledge.largest})
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


NO_STATUS = "vetl_doctor"


def check_statuses(
    knowledge: ListKnowledge, statuses: Sequence[str], *, column: str = "status", fixed: bool = False
) -> Findings:
    """Prove the name of the filter on `column`, by two of the statuses that the contract lists."""
    configured = knowledge.names.status
    plain = yield from recall(knowledge, knowledge.whole)
    if plain is None or not plain.total_count:
        return [knowledge.finding("status", "unknown", configured, "the list is empty")]
    tried = _contrasting(plain, statuses, column)
    evidence = yield from _evidence(knowledge, plain, configured, tried, column)
    if (
        evidence is None
        and not fixed
        and (yield from _any_works(knowledge, plain, tried[-1], STATUS_NAMES)) is not False
    ):
        works = partial(_any_works, knowledge, plain, tried[-1])
        for name in (yield from bisected(STATUS_NAMES, works)):
            if name != configured and (evidence := (yield from _evidence(knowledge, plain, name, tried, column))):
                knowledge.names = replace(knowledge.names, status=name)
                break
    if evidence is None:
        return [_ignored(knowledge)]
    knowledge.proven.add("status")
    finding = name_finding(knowledge, "status", configured, f"{evidence}, of {plain.total_count}")
    return [finding, (yield from _unknown_status(knowledge))] if knowledge.thorough else [finding]


def _contrasting(plain: Page, statuses: Sequence[str], column: str) -> list[str]:
    """Return the two statuses that most rows of the page have. A row may hold any JSON value as its status."""
    counts = Counter(str(row.get(column)) for row in plain.rows)
    return sorted(statuses, key=lambda status: -counts[status])[:2]


def _evidence(
    knowledge: ListKnowledge, plain: Page, name: str, tried: Sequence[str], column: str
) -> Plan[str | None]:
    """Return the row counts by status; `None` if a status is refused, gives rows of another, or both give none.

    On a list of one or two rows both statuses are requested once more: an ignored filter also shows no row of the
    second status if the only row has gone meanwhile.
    """
    totals = yield from _totals(knowledge, name, tried, column)
    if totals is None or not any(totals):
        return None
    counts = " + ".join(f"{total} {status}" for total, status in zip(totals, tried, strict=True))
    if plain.total_count > SLIGHT:
        return f"{counts} rows"
    return f"{counts} rows{TWICE}" if (yield from _totals(knowledge, name, tried, column)) == totals else None


def _totals(knowledge: ListKnowledge, name: str, tried: Sequence[str], column: str) -> Plan[list[int] | None]:
    """Return the total of each status; `None` if one is refused or gives rows of another."""
    totals: list[int] = []
    for status in tried:
        page = yield from ask(knowledge, {**knowledge.whole, **knowledge.smallest, name: status})
        if page is None or any(row.get(column) != status for row in page.rows):
            return None
        totals.append(page.total_count)
    return totals


def _any_works(knowledge: ListKnowledge, plain: Page, status: str, names: Sequence[str]) -> Plan[bool | None]:
    """Return whether these names, sent together, change the total; `None` if the server refuses them."""
    page = yield from ask(knowledge, {**knowledge.whole, **knowledge.smallest, **dict.fromkeys(names, status)})
    return None if page is None else page.total_count != plain.total_count


def _unknown_status(knowledge: ListKnowledge) -> Plan[Finding]:
    page = yield from ask(knowledge, {**knowledge.whole, **knowledge.smallest, knowledge.names.status: NO_STATUS})
    if page is None:
        answer, evidence = "refused", "a status that does not exist is refused"
    elif page.total_count:
        answer, evidence = "everything", "a status that does not exist shows every row"
    else:
        answer, evidence = "nothing", "a status that does not exist shows no row"
    return knowledge.finding("unknown status", "note", answer, evidence)


def _ignored(knowledge: ListKnowledge) -> Finding:
    return knowledge.finding(
        "status",
        "ignored",
        "none",
        f"{knowledge.names.status} is not honoured, nor is any other name tried",
        "no action needed: reading costs more requests, because totals by status are not used",
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
