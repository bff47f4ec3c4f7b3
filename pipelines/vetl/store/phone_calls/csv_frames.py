"""Split pages of the phone-call CSV into columns by name, and refuse a page that is not whole.

A page is split when it arrives. Its values are parsed later, for a batch of pages at a time (`values`).
"""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta

import polars as pl

from vetl.core.errors import ContractBroken, TornAnswer, WrongTotal
from vetl.core.pages import CallsPage
from vetl.partner.calls_csv import COLUMNS, DATE_FORMAT, Cell
from vetl.partner.protocol import CsvAnswer
from vetl.store.control.bad_rows import BadRow, content_key
from vetl.store.frames import EXTRA, TOO_LONG, too_long, with_constant
from vetl.store.instants import within_the_calendar
from vetl.store.tables import canonical_json

HEADERS = tuple(column.header for column in COLUMNS)
TEXTS = tuple(column.header for column in COLUMNS if column.cell is Cell.TEXT)
_OF_ANY_CASE = {header.casefold(): header for header in HEADERS}
SCHEMA = dict.fromkeys((*HEADERS, EXTRA), pl.String())

_BOM = b"\xef\xbb\xbf"
ZONES = timedelta(days=1)
"""The instant of a practice-local minute is less than a day away from the same minute in UTC."""
_LONGEST_FIELD = 2**30
"""Bytes. Replaces the csv module's limit of 128 KiB, which is no rule of the contract."""


@dataclass(frozen=True, slots=True)
class CallTexts:
    """The rows of a page as text, in the CSV's order: the contract's columns, then `_extra`. `bad` are misfits."""

    frame: pl.DataFrame
    bad: tuple[BadRow, ...] = ()
    new_fields: frozenset[str] = frozenset()


def parse_calls(answer: CsvAnswer, *, lenient: bool = False, days: tuple[date, date] | None = None) -> CallsPage:
    """Split one page. Columns are found by name; unknown columns go to `_extra`.

    If few rows are of other days than `days`, they are bad. If most rows are, the server ignores the range, which
    the strategy finds out.

    Raise `ContractBroken` if a column of the contract is missing, `TornAnswer` if the page is cut off,
    `WrongTotal` if the row count differs from the headers, unless `lenient`.
    """
    texts = split(answer.body)
    rows = texts.frame.height + len(texts.bad)
    promised = answer.total_count
    if answer.page is not None and answer.per_page is not None:
        promised = max(0, min(answer.per_page, answer.total_count - answer.page * answer.per_page))
    echoed = answer.page is not None and answer.per_page is not None
    if not lenient and (rows > promised or (rows < promised and echoed)):
        raise WrongTotal(f"phone_calls: a CSV page has {rows} rows, its headers promise {promised}")
    first_day, last_day = _days(texts.frame)
    if days and first_day and last_day and not days[0] <= first_day <= last_day <= days[1]:
        texts = _without_strays(texts, *days)
        first_day, last_day = _days(texts.frame)
    return CallsPage(
        frame=_without(texts, too_long(texts.frame), TOO_LONG),
        rows=rows,
        total_count=answer.total_count,
        per_page=answer.per_page,
        server_time=answer.server_time,
        requests=answer.requests,
        first_day=first_day,
        last_day=last_day,
        minutes=texts.frame["Date"],
    )


def _days(texts: pl.DataFrame) -> tuple[date | None, date | None]:
    """Return the earliest and the latest day of the rows whose date can be parsed."""
    # A row with another text than a minute goes to quarantine, so its day proves nothing about the range.
    days = minutes(texts["Date"]).dt.date()
    return days.min(), days.max()  # pyright: ignore[reportReturnType] - polars has one type for the least of any column


def minutes(texts: pl.Series) -> pl.Series:
    """Return the minutes of texts; null for a text that is no minute or may be outside the calendar in UTC."""
    return within_the_calendar(texts.str.to_datetime(DATE_FORMAT, time_unit="us", strict=False), ZONES)


def _without_strays(texts: CallTexts, first: date, last: date) -> CallTexts:
    """Move the rows of other days to `bad`, if they are fewer than the others."""
    strays = ~minutes(texts.frame["Date"]).dt.date().is_between(first, last).fill_null(value=True)
    if 2 * strays.sum() > texts.frame.height:
        return texts
    return _without(texts, strays, "Date: not of a requested day")


def _without(texts: CallTexts, marks: pl.Series | None, reason: str) -> CallTexts:
    if marks is None:
        return texts
    bad = [
        BadRow(content_key(payload), reason, payload).kept
        for row in texts.frame.filter(marks)[[*HEADERS]].iter_rows(named=True)
        for payload in [canonical_json(row)]
    ]
    return replace(texts, frame=texts.frame.filter(~marks), bad=(*texts.bad, *bad))


def split(body: bytes) -> CallTexts:
    """Split a CSV body into columns. An empty body has no rows.

    Raise `ContractBroken` if a column of the contract is missing, `TornAnswer` if the body ends inside its header
    or its last row.
    """
    body = body.removeprefix(_BOM)
    if not body or body.isspace():
        return CallTexts(pl.DataFrame(schema=SCHEMA))
    names = _header(body)
    bad: list[BadRow] = []
    frame = _at_once(body, names)
    if frame is None:
        frame = _one_by_one(body, names, bad)
    others = sorted(name for name in names if name not in SCHEMA)
    columns = _without_guards(frame[[*HEADERS]])
    if others:
        fields, is_there = pl.struct(others).struct.json_encode(), pl.any_horizontal(pl.col(others).is_not_null())
        columns = columns.hstack(frame.select(pl.when(is_there).then(fields).alias(EXTRA)))
    else:
        columns = with_constant(columns, EXTRA, None, pl.String())
    return CallTexts(columns, tuple(bad), frozenset(others))


def _without_guards(columns: pl.DataFrame) -> pl.DataFrame:
    """Return the cells as in the JSON list, if the server puts `'` or a tab before those that look like formulas.

    Many exports guard spreadsheets like that. Then each number with a country code begins with that character.
    """
    numbers = columns["Phone Number"]
    if not numbers.str.contains(r"^['\t]\+").any() or numbers.str.starts_with("+").any():
        return columns
    return columns.with_columns(pl.col(TEXTS).str.replace(r"^['\t]([=+\-@\t\r])", "$1"))


def _header(body: bytes) -> list[str]:
    end = body.find(b"\n")
    line = body if end < 0 else body[:end]
    try:
        read = [name.strip() for name in next(csv.reader([line.decode("utf-8", "replace").rstrip("\r")]))]
    except csv.Error:
        raise ContractBroken("phone_calls: the CSV does not begin with a line of column names") from None
    names = [_OF_ANY_CASE.get(name.casefold(), name) for name in read]
    missing = [name for name in HEADERS if name not in names]
    if missing and end < 0:
        raise TornAnswer("phone_calls: the CSV is cut off inside its header")
    if missing:
        raise ContractBroken(f"phone_calls: the CSV has no column {', '.join(missing)}")
    # A repeated column is kept under a numbered name.
    return [name if name not in names[:place] else f"{name} ({place + 1})" for place, name in enumerate(names)]


def _at_once(body: bytes, names: Sequence[str]) -> pl.DataFrame | None:
    """Parse all rows by polars; return `None` if polars fails or would fill short rows with nulls."""
    try:
        frame = pl.read_csv(body, schema=dict.fromkeys(names, pl.String()))
    except pl.exceptions.PolarsError:
        return None
    if frame["Date"].null_count() or (frame[:, -1].null_count() and not _all_separators_are_there(body, frame)):
        return None
    return frame


def _all_separators_are_there(body: bytes, frame: pl.DataFrame) -> bool:
    """Return whether every row has as many fields as the header; polars fills short rows with nulls."""
    within = frame.select(pl.sum_horizontal(pl.all().str.count_matches(",", literal=True).sum())).item()
    return body.count(b",") == (frame.width - 1) * (frame.height + 1) + within


def _one_by_one(body: bytes, names: Sequence[str], bad: list[BadRow]) -> pl.DataFrame:
    """Parse row by row; move rows with a wrong number of fields, or that are not UTF-8, to `bad`."""
    csv.field_size_limit(_LONGEST_FIELD)
    text = io.StringIO(body.decode("utf-8", "surrogateescape"), newline="")
    rows = [row for row in csv.reader(text) if row][1:]
    if rows and len(rows[-1]) < len(names) and not body.endswith(b"\n"):
        raise TornAnswer("phone_calls: the CSV is cut off inside its last row")
    good: list[list[str]] = []
    for row in rows:
        reason = _misfit(row, names)
        if reason is None:
            good.append(row)
        else:
            payload = canonical_json(
                [cell.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace") for cell in row]
            )
            bad.append(BadRow(content_key(payload), reason, payload))
    return pl.DataFrame(good, schema=dict.fromkeys(names, pl.String()), orient="row")


def _misfit(row: Sequence[str], names: Sequence[str]) -> str | None:
    if len(row) != len(names):
        return f"row: {len(row)} fields, the header has {len(names)}"
    try:
        "".join(row).encode()
    except UnicodeEncodeError:
        return "row: not UTF-8"
    return None
