"""The phone-call CSV as plain rows: a few hundred of them, to be compared with JSON records one by one."""

import csv
import io
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pipelines.core.pages import CallsPage
from pipelines.partner.calls_csv import COLUMNS, DATE_FORMAT, Cell, unhumanise

MATCHED = ("Phone Number", "Client", "Patient", "Direction", "Duration", "Summary")
"""Columns by which a row is recognised; time is left out, as it is what shall be found."""

_CELLS = {column.header: column.cell for column in COLUMNS}
_JSON = {column.header: column.json for column in COLUMNS}


def parse_plainly(answer: Any, *, lenient: bool = True) -> CallsPage:  # noqa: ANN401, ARG001 - as `loading` parses
    """One page as dictionaries by column name, in `frame`; however many there are."""
    text = io.StringIO(answer.body.decode("utf-8", "replace"), newline="")
    rows = list(csv.DictReader(text))
    return CallsPage(rows, len(rows), answer.total_count, answer.page, answer.per_page, answer.server_time)


def recognised_by(row: Mapping[str, str]) -> tuple[str, ...]:
    """What a CSV row and its JSON record have in common."""
    return tuple(_plain(header, row.get(header) or "") for header in MATCHED)


def recognised_by_record(record: Mapping[str, Any]) -> tuple[str, ...]:
    """The same of a JSON record."""
    values = (record.get(_JSON[header]) for header in MATCHED)
    return tuple(
        _duration(value) if header == "Duration" else _plain(header, "" if value is None else str(value))
        for header, value in zip(MATCHED, values, strict=True)
    )


def local_minute(row: Mapping[str, str]) -> datetime | None:
    """The Date column; nothing where it cannot be read."""
    try:
        return datetime.strptime((row.get("Date") or "").strip(), DATE_FORMAT)  # noqa: DTZ007 - local by contract
    except ValueError:
        return None


def _plain(header: str, text: str) -> str:
    return (unhumanise(text) or "") if _CELLS[header] is Cell.LABEL else text.strip()


def _duration(seconds: object) -> str:
    if not isinstance(seconds, int):
        return ""
    minutes, rest = divmod(seconds, 60)
    return f"{minutes}:{rest:02}"
