"""Decoded pages of a list, windows and certificates: types that client, strategies and store share.

Also the key of a row, the time of its last change, and the part of it that a proof needs.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from enum import StrEnum
from hashlib import sha256
from json import dumps
from typing import Any

Row = Mapping[str, Any]
"""One decoded JSON object of a list, unchanged."""


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a JSON list (contract: Endpoints).

    `per_page` and `total_pages` are the server's values, `None` if it does not send them. `total_count` is the
    number of rows of the whole list under the same filters, `server_time` the `Date` header of the answer.
    `refused` is the server's message if it refused this page although an earlier page's total includes it.
    `unread` names rows of the page that are missing, because the platform fails on each request with them.
    `saved`: the rows are saved already, and `rows` has only what a proof needs of them.
    """

    rows: tuple[Row, ...]
    total_count: int
    per_page: int | None
    server_time: datetime
    requests: int = 1
    total_pages: int | None = None
    refused: str | None = None
    unread: str | None = None
    saved: bool = False


@dataclass(frozen=True, slots=True)
class CallsPage:
    """One page of the phone-call CSV; `frame` is an opaque polars frame of `rows` typed rows.

    `first_day` and `last_day` are the earliest and the latest practice-local day of the rows, `minutes` the minute
    of each row as the CSV has it (`2026-01-09 04:15`).
    """

    frame: Any
    rows: int
    total_count: int
    per_page: int | None
    server_time: datetime
    requests: int = 1
    first_day: date | None = None
    last_day: date | None = None
    minutes: Iterable[str] = ()


@dataclass(frozen=True, slots=True)
class Window:
    """The part of a list that one read covers.

    The bounds are instants (lists with `updated_at`), practice-local days with both ends included (phone calls),
    or `None` (the whole list). `status` restricts the window to one status.
    """

    start: datetime | date | None = None
    end: datetime | date | None = None
    status: str | None = None


class WindowKind(StrEnum):
    """The purpose of a window in `control.windows` and the mart `proof`.

    A closed window is read after its end; rows may still change in the tail, the window after the closed ones. The
    other kinds are the whole list, the list from its newest row down to a known one, the second read of rows that
    a read did not return, the details of calls, and the check whether ids are stable.
    """

    CLOSED = "closed"
    TAIL = "tail"
    WHOLE = "whole"
    NEWEST_FIRST = "newest_first"
    SECOND_LOOK = "second look"
    DETAILS = "details"
    IDENTITY = "identity"


BESIDE_THE_LIST = (WindowKind.DETAILS, WindowKind.SECOND_LOOK)
"""Windows that do not count towards the number of rows of a list."""


@dataclass(frozen=True, slots=True)
class Certificate:
    """The evidence of the read of one window: a row of `control.windows`.

    `certified` means that every row of the source in this window is stored. `reason` is the evidence for it, or
    the reason against it.
    """

    window: Window
    kind: WindowKind
    total_first: int
    total_last: int
    rows: int
    distinct_ids: int | None
    requests: int
    retries: int
    certified: bool
    reason: str
    started: datetime
    finished: datetime


@dataclass(frozen=True, slots=True)
class Changes:
    """The changes of a commit to one raw table.

    `restated` counts the rows that differ although an earlier certificate covers them (`control.restatements`),
    `late` the restated rows that appeared late in a window of `updated_at`.
    """

    inserted: int = 0
    updated: int = 0
    deleted: int = 0
    unchanged: int = 0
    quarantined: int = 0
    late: int = 0
    drift: tuple[str, ...] = field(default=())
    restated: int = 0

    def __add__(self, other: "Changes") -> "Changes":
        return Changes(
            self.inserted + other.inserted,
            self.updated + other.updated,
            self.deleted + other.deleted,
            self.unchanged + other.unchanged,
            self.quarantined + other.quarantined,
            self.late + other.late,
            tuple(dict.fromkeys(self.drift + other.drift)),
            self.restated + other.restated,
        )


def key_of(row: Row) -> str:
    """Return the id of a row, or a digest of the row if it has none, so that a certificate counts it."""
    identity = row.get("id")
    if identity is not None:
        return str(identity)
    return sha256(dumps(row, sort_keys=True, default=str).encode()).hexdigest()


def keys_of(rows: Iterable[Row]) -> set[str]:
    """Return the distinct keys of rows."""
    # Nearly every id is text, which needs no call of a function: half the time for a million rows.
    return {identity if type(identity := row.get("id")) is str else key_of(row) for row in rows}


def evidence_of(row: Row) -> Row:
    """Return the key and the times of a row, as a row with the same key."""
    return {"id": key_of(row), **{name: value for name in _TIMES if isinstance(value := row.get(name), str)}}


_TIMES = ("created_at", "updated_at")
_FIRST = datetime(1, 1, 8, tzinfo=UTC)
_LAST = datetime(9999, 12, 25, tzinfo=UTC)
"""A week from the ends of the calendar: a later or earlier time has no local time in some zone."""


def instant(value: object) -> datetime | None:
    """Return the UTC time that a text contains, or `None` if it is no time or too near to the calendar's ends."""
    try:
        at = datetime.fromisoformat(str(value))
        at = at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return at if _FIRST <= at <= _LAST else None


def updated_at(row: Row) -> datetime | None:
    """Return the time at which a row was last changed, if the row has a readable one."""
    return instant(row.get("updated_at"))
