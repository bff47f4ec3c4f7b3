"""Parse a few hundred rows of the phone-call CSV into dictionaries, to compare them with JSON records."""

import csv
import io
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from vetl.core.pages import CallsPage
from vetl.partner.calls_csv import COLUMNS, DATE_FORMAT, Cell, unhumanise

MATCHED = ("Phone Number", "Client", "Patient", "Direction", "Duration", "Summary")
"""Columns by which a row is recognised; the time is left out, because its zone is the open question."""

_CELLS = {column.header: column.cell for column in COLUMNS}
_JSON = {column.header: column.json for column in COLUMNS}


def parse_plainly(answer: Any, **_: object) -> CallsPage:  # noqa: ANN401 - any answer and options that `store` takes
    """Return one page with its rows as dictionaries by column name in `frame`."""
    text = io.StringIO(answer.body.decode("utf-8", "replace"), newline="")
    rows = list(csv.DictReader(text))
    return CallsPage(rows, len(rows), answer.total_count, answer.page, answer.per_page, answer.server_time)


def recognised_by(row: Mapping[str, str]) -> tuple[str, ...]:
    """Return the values that a CSV row shares with its JSON record."""
    return tuple(_normalized(header, row.get(header) or "") for header in MATCHED)


def recognised_by_record(record: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the values that a JSON record shares with its CSV row."""
    values = (record.get(_JSON[header]) for header in MATCHED)
    return tuple(
        _duration(value) if header == "Duration" else _normalized(header, "" if value is None else str(value))
        for header, value in zip(MATCHED, values, strict=True)
    )


def local_minute(row: Mapping[str, str]) -> datetime | None:
    """Parse the Date column; return `None` if it cannot be parsed."""
    try:
        return datetime.strptime((row.get("Date") or "").strip(), DATE_FORMAT)  # noqa: DTZ007 - local by contract
    except ValueError:
        return None


def _normalized(header: str, text: str) -> str:
    return (unhumanise(text) or "") if _CELLS[header] is Cell.LABEL else text.strip()


def _duration(seconds: object) -> str:
    if not isinstance(seconds, int):
        return ""
    minutes, rest = divmod(seconds, 60)
    return f"{minutes}:{rest:02}"
