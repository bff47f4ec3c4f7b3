"""Metadata of assets and checks: numbers, which Dagster plots over time, and tables with the worst rows first."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import metadata
from os import fspath
from pathlib import Path
from typing import Any

import dagster as dg

from vetl.core.results import EndpointResult
from vetl.core.text import markdown

MOST_LINES = 50
"""The most rows of a table. Dagster keeps every table with its event for ever."""

_WORST_FIRST = ("failed", "uncertified", "withdrawn", "certified")
_BARS = "▁▂▃▄▅▆▇█"


def practice_metadata(item: EndpointResult) -> dict[str, Any]:
    """Return the metadata of one list of one practice.

    The names differ from those of the totals; with the same names a plot would zigzag between both.
    """
    through = item.certified_through
    return {
        **{f"practice/{name}": number for name, number in _numbers([item]).items()},
        "state": item.state,
        **({"reason": item.reason} if item.state != "certified" else {}),
        **({"certified_through": dg.MetadataValue.timestamp(through)} if through else {}),
        **({"notes": bullets(item.notes)} if item.notes else {}),
    }


def run_totals(results: Sequence[EndpointResult], rows: int | None, seconds: float) -> dict[str, Any]:
    """Return the totals of one list over a run, and the rows of its table, of practices that were not read too.

    `certified_through` is null if a practice is not certified.
    """
    through = [item.certified_through for item in results if item.state != "withdrawn"]
    certain = min((instant for instant in through if instant), default=None) if all(through) else None
    notes = [f"{item.practice_id}: {note}" for item in results for note in item.notes]
    numbers = _numbers(results)
    return {
        **({} if rows is None else {"dagster/row_count": rows}),
        **{name: number for name, number in numbers.items() if name != "rows"},
        "seconds": seconds,
        "practices": len(results),
        **{state: sum(item.state == state for item in results) for state in _WORST_FIRST},
        "certified_through": dg.MetadataValue.timestamp(certain) if certain else dg.MetadataValue.null(),
        "by_practice": table(_COLUMNS, [_row(item) for item in worst_first(results)]),
        **({"notes": bullets(notes)} if notes else {}),
    }


_COLUMNS = (
    "practice",
    "state",
    "rows",
    "new",
    "changed",
    "deleted",
    "quarantined",
    "requests",
    "retries",
    "bytes",
    "reason",
)


def _row(item: EndpointResult) -> tuple[object, ...]:
    changes = item.changes
    return (
        item.practice_id,
        item.state,
        item.rows,
        changes.inserted,
        changes.updated,
        changes.deleted,
        changes.quarantined,
        item.requests,
        item.retries,
        item.bytes,
        item.reason,
    )


def _numbers(results: Sequence[EndpointResult]) -> dict[str, int]:
    return {
        "rows": sum(item.rows for item in results),
        "new": sum(item.changes.inserted for item in results),
        "changed": sum(item.changes.updated for item in results),
        "deleted": sum(item.changes.deleted for item in results),
        "restated": sum(item.changes.restated for item in results),
        "quarantined": sum(item.changes.quarantined for item in results),
        "requests": sum(item.requests for item in results),
        "retries": sum(item.retries for item in results),
        "bytes": sum(item.bytes for item in results),
    }


def worst_first(results: Iterable[EndpointResult]) -> list[EndpointResult]:
    """Sort by state, failures first, then by the number of changes."""

    def rank(item: EndpointResult) -> tuple[int, int, str]:
        changed = item.changes.inserted + item.changes.updated + item.changes.deleted
        return _WORST_FIRST.index(item.state), -changed, item.practice_id

    return sorted(results, key=rank)


def code_in(file: Path) -> dict[str, Any]:
    """Return a reference to the file of an asset. `dg dev` opens it in an editor, a server shows its path."""
    with warnings.catch_warnings():
        # Dagster calls this metadata beta. No other kind is shown as a link to code.
        warnings.simplefilter("ignore", dg.BetaWarning)
        reference = dg.LocalFileCodeReference(file_path=fspath(file))
        return {"dagster/code_references": dg.CodeReferencesMetadataValue(code_references=[reference])}


def documented_in(page: str) -> dict[str, Any]:
    """Return a link to a page of the documentation, if the installed wheel names its address."""
    addresses = dict(line.split(", ", 1) for line in metadata("vetl-warehouse").get_all("Project-URL", []))
    if start := addresses.get("Documentation"):
        return {"documentation": dg.MetadataValue.url(start.removesuffix("index.md") + page)}
    return {}


def table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> dg.MarkdownMetadataValue:
    """Return a table of at most `MOST_LINES` rows, with the number of rows left out below."""
    left_out = len(rows) - MOST_LINES
    more = f"\n{left_out} more rows are not shown.\n" if left_out > 0 else ""
    return dg.MetadataValue.md(markdown(columns, rows[:MOST_LINES]) + more)


def bullets(lines: Sequence[str]) -> dg.MarkdownMetadataValue:
    """Return a list of at most `MOST_LINES` lines."""
    items = "".join(f"- {line}\n" for line in lines[:MOST_LINES])
    return dg.MetadataValue.md(items + (f"- {len(lines) - MOST_LINES} more\n" if len(lines) > MOST_LINES else ""))


def chart(values: Mapping[str, float]) -> dg.MarkdownMetadataValue:
    """Return a small bar for each value, in order, with the first and the last name below."""
    if not values:
        return dg.MetadataValue.md("no data yet")
    highest = max(values.values()) or 1
    bars = "".join(_BARS[round(value / highest * (len(_BARS) - 1))] for value in values.values())
    first, last = next(iter(values)), list(values)[-1]
    return dg.MetadataValue.md(f"`{bars}`\n\n{first} to {last}, at most {highest:g}")
