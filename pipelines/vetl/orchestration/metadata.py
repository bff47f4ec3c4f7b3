"""Metadata of assets and checks: numbers, which Dagster plots over time, and tables with the worst rows first."""

from collections.abc import Callable, Sequence
from functools import cache
from importlib.metadata import metadata
from typing import Any

import dagster as dg

from vetl.core.list_read import EndpointResult
from vetl.core.text import markdown

MOST_LINES = 50
"""The most rows of a table. Dagster keeps every table with its event for ever."""

_WORST_FIRST = ("failed", "uncertified", "withdrawn", "certified")
_NUMBERS: dict[str, Callable[[EndpointResult], int]] = {
    "rows": lambda item: item.rows,
    "new": lambda item: item.changes.inserted,
    "changed": lambda item: item.changes.updated,
    "deleted": lambda item: item.changes.deleted,
    "restated": lambda item: item.changes.restated,
    "quarantined": lambda item: item.changes.quarantined,
    "requests": lambda item: item.requests,
    "retries": lambda item: item.retries,
    "bytes": lambda item: item.bytes,
}


def practice_metadata(item: EndpointResult) -> dict[str, Any]:
    """Return the metadata of a list of a practice; under the names of totals a plot would zigzag between both."""
    through = item.certified_through
    return {
        **{f"practice/{name}": number(item) for name, number in _NUMBERS.items()},
        "state": item.state,
        **({"reason": item.reason} if item.state != "certified" else {}),
        **({"certified_through": dg.MetadataValue.timestamp(through)} if through else {}),
        **({"notes": bullets(item.notes)} if item.notes else {}),
    }


def run_totals(results: Sequence[EndpointResult], rows: int, seconds: float) -> dict[str, Any]:
    """Return the totals of one list over a run, and the rows of its table, of practices that were not read too.

    `certified_through` is null if a practice is not certified.
    """
    through = [item.certified_through for item in results if item.state != "withdrawn"]
    certain = min((instant for instant in through if instant), default=None) if all(through) else None
    notes = [f"{item.practice_id}: {note}" for item in results for note in item.notes]
    lines = [
        (item.practice_id, item.state, *(number(item) for number in _NUMBERS.values()), item.reason)
        for item in sorted(results, key=_place)
    ]
    return {
        "dagster/row_count": rows,
        **{name: sum(map(number, results)) for name, number in _NUMBERS.items() if name != "rows"},
        "seconds": seconds,
        "practices": len(results),
        **{state: sum(item.state == state for item in results) for state in _WORST_FIRST},
        "certified_through": dg.MetadataValue.timestamp(certain) if certain else dg.MetadataValue.null(),
        "by_practice": table(("practice", "state", *_NUMBERS, "reason"), lines),
        **({"notes": bullets(notes)} if notes else {}),
    }


def _place(item: EndpointResult) -> tuple[int, int, str]:
    changed = item.changes.inserted + item.changes.updated + item.changes.deleted
    return _WORST_FIRST.index(item.state), -changed, item.practice_id


@cache
def documented_in(page: str) -> dict[str, Any]:
    """Return a link to a page of the documentation, if the installed wheel names its address."""
    addresses = dict(line.split(", ", 1) for line in metadata("vetl-warehouse").get_all("Project-URL", []))
    folder = addresses.get("Documentation", "").removesuffix("index.md")
    return {"documentation": dg.MetadataValue.url(folder + page)} if folder else {}


def table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> dg.MarkdownMetadataValue:
    """Return a table of at most `MOST_LINES` rows, with the number of rows left out below."""
    left_out = len(rows) - MOST_LINES
    more = f"\n{left_out} more rows are not shown.\n" if left_out > 0 else ""
    return dg.MetadataValue.md(markdown(columns, rows[:MOST_LINES]) + more)


def bullets(lines: Sequence[str]) -> dg.MarkdownMetadataValue:
    """Return a list of at most `MOST_LINES` lines."""
    items = "".join(f"- {line}\n" for line in lines[:MOST_LINES])
    return dg.MetadataValue.md(items + (f"- {len(lines) - MOST_LINES} more\n" if len(lines) > MOST_LINES else ""))
