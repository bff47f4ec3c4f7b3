"""What the pages of assets and checks show: numbers as plots over time, tables with what is wrong at the top."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import metadata
from os import fspath
from pathlib import Path
from typing import Any

import dagster as dg

from pipelines.core.results import EndpointResult
from pipelines.core.text import markdown

LONGEST = 50
"""Rows of a table. Each is kept with its event for ever, and nobody reads further."""

_WORST_FIRST = ("failed", "uncertified", "withdrawn", "certified")
_BARS = "▁▂▃▄▅▆▇█"


def told_of_practice(item: EndpointResult) -> dict[str, Any]:
    """One list of one practice, under names of its own: a plot over all events would zigzag through the totals."""
    through = item.certified_through
    return {
        **{f"practice/{name}": number for name, number in _numbers([item]).items()},
        "state": item.state,
        **({"reason": item.reason} if item.state != "certified" else {}),
        **({"certified_through": dg.MetadataValue.timestamp(through)} if through else {}),
        **({"notes": bullets(item.notes)} if item.notes else {}),
    }


def run_totals(results: Sequence[EndpointResult], seconds: float) -> dict[str, Any]:
    """One list of all practices of a run: `certified_through` is null where one practice is not certified."""
    through = [item.certified_through for item in results if item.state != "withdrawn"]
    certain = min((instant for instant in through if instant), default=None) if all(through) else None
    notes = [f"{item.practice_id}: {note}" for item in results for note in item.notes]
    numbers = _numbers(results)
    return {
        "dagster/row_count": numbers.pop("rows"),
        **numbers,
        "seconds": seconds,
        "practices": len(results),
        **{state: sum(item.state == state for item in results) for state in _WORST_FIRST},
        "certified_through": dg.MetadataValue.timestamp(certain) if certain else dg.MetadataValue.null(),
        "by_practice": table(_COLUMNS, [_row(item) for item in worst_first(results)]),
        **({"notes": bullets(notes)} if notes else {}),
    }


_COLUMNS = (
    *("practice", "state", "rows", "new", "changed", "deleted", "quarantined"),
    *("requests", "retries", "bytes", "reason"),
)


def _row(item: EndpointResult) -> tuple[object, ...]:
    changes = item.changes
    return (
        *(item.practice_id, item.state, item.rows, changes.inserted, changes.updated, changes.deleted),
        *(changes.quarantined, item.requests, item.retries, item.bytes, item.reason),
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
    """Failures first; of one state, the practices with most changes."""

    def rank(item: EndpointResult) -> tuple[int, int, str]:
        changed = item.changes.inserted + item.changes.updated + item.changes.deleted
        return _WORST_FIRST.index(item.state), -changed, item.practice_id

    return sorted(results, key=rank)


def code_in(file: Path) -> dict[str, Any]:
    """Where an asset is written down: `dg dev` opens it in an editor, a server names it."""
    with warnings.catch_warnings():
        # The only kind of metadata that the page shows as a link to code; Dagster calls it beta.
        warnings.simplefilter("ignore", dg.BetaWarning)
        reference = dg.LocalFileCodeReference(file_path=fspath(file))
        return {"dagster/code_references": dg.CodeReferencesMetadataValue(code_references=[reference])}


def documented_in(page: str) -> dict[str, Any]:
    """A link to a page of the documentation, where the installed wheel names the address that it is at."""
    addresses = dict(line.split(", ", 1) for line in metadata("vetl").get_all("Project-URL", []))
    if start := addresses.get("Documentation"):
        return {"documentation": dg.MetadataValue.url(start.removesuffix("index.md") + page)}
    return {}


def table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> dg.MarkdownMetadataValue:
    """A table of at most `LONGEST` rows, which says how many it leaves out."""
    left_out = len(rows) - LONGEST
    more = f"\n{left_out} more rows are not shown.\n" if left_out > 0 else ""
    return dg.MetadataValue.md(markdown(columns, rows[:LONGEST]) + more)


def bullets(lines: Sequence[str]) -> dg.MarkdownMetadataValue:
    """Lines as a list of at most `LONGEST`."""
    shown = "".join(f"- {line}\n" for line in lines[:LONGEST])
    return dg.MetadataValue.md(shown + (f"- {len(lines) - LONGEST} more\n" if len(lines) > LONGEST else ""))


def chart(values: Mapping[str, float]) -> dg.MarkdownMetadataValue:
    """A small bar for each value, in order, with the first and the last name below."""
    if not values:
        return dg.MetadataValue.md("nothing yet")
    highest = max(values.values()) or 1
    bars = "".join(_BARS[round(value / highest * (len(_BARS) - 1))] for value in values.values())
    first, last = next(iter(values)), list(values)[-1]
    return dg.MetadataValue.md(f"`{bars}`\n\n{first} to {last}, at most {highest:g}")
