"""Check the rows themselves: their order, and fields and values that the contract does not list."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from pydantic import BaseModel

from vetl.core.pages import Page, Row
from vetl.core.records import KnownValues
from vetl.core.steps import Plan
from vetl.discovery.probes import ListKnowledge, ask
from vetl.discovery.report import Finding
from vetl.partner.answers import redact
from vetl.reading.rows import instant, key_of

ENOUGH = 3
"""Distinct times that are needed to recognise an order."""
SHOWN = 5

Findings = Plan[list[Finding]]


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
        yield Finding(knowledge.endpoint, "total_pages", "note", answer, evidence)


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
    return Finding(knowledge.endpoint, "order", state, order if state == "note" else "", evidence)


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
        values = next((set(item.values) for item in _annotations(field) if isinstance(item, KnownValues)), None)
        if values is None:
            continue
        strange_values = {str(row[name]) for row in rows if row.get(name) is not None} - values
        if strange_values:
            examples = ", ".join(redact(value) for value in sorted(strange_values)[:SHOWN])
            yield Finding(
                endpoint, f"values of {name}", "note", examples, "unknown to the contract; kept as they are"
            )


def _annotations(field: Any) -> Sequence[Any]:  # noqa: ANN401 - pydantic's FieldInfo
    return field.metadata
