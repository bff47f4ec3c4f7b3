"""What a list answers, once it has been deciphered: the words that client, strategies and loading share."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum
from typing import Any

Row = Mapping[str, Any]
"""One decoded JSON object of a list, as it came."""


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a JSON list (contract: Endpoints).

    `page`, `per_page` and `total_pages` are what the server tells, `None` where it does not; `total_count` is the
    number of rows of the whole list under the same filters; `server_time` is the answer's `Date` header.
    `refused`: the server's words where it would not give this page although an earlier one promised it.
    """

    rows: tuple[Row, ...]
    total_count: int
    page: int | None
    per_page: int | None
    server_time: datetime
    requests: int = 1
    total_pages: int | None = None
    refused: str | None = None


@dataclass(frozen=True, slots=True)
class CallsPage:
    """One page of the phone-call CSV. `frame` is a polars frame, opaque here, of `rows` typed rows.

    `first_day` and `last_day` are the earliest and the latest practice-local day among its rows, `minutes` the
    minute of each as it is written (`2026-01-09 04:15`).
    """

    frame: Any
    rows: int
    total_count: int
    page: int | None
    per_page: int | None
    server_time: datetime
    requests: int = 1
    first_day: date | None = None
    last_day: date | None = None
    minutes: Iterable[str] = ()


@dataclass(frozen=True, slots=True)
class Window:
    """The part of an endpoint that one read covers.

    Bounds are instants (`updated_at` lists), practice-local days, both ends included (phone calls), or `None`
    (the whole list). `status` narrows a list to one status.
    """

    start: datetime | date | None = None
    end: datetime | date | None = None
    status: str | None = None


class WindowKind(StrEnum):
    """What a window was read for, as `control.windows` keeps it and the mart `proof` tells them apart.

    Closed ones are read whole once they have ended, the tail is what still moves. Others are the whole list, all
    from the newest row down to what is known, a second look at what was not met, details of calls, a look at ids.
    """

    CLOSED = "closed"
    TAIL = "tail"
    WHOLE = "whole"
    NEWEST_FIRST = "newest_first"
    SECOND_LOOK = "second look"
    DETAILS = "details"
    IDENTITY = "identity"


BESIDE_THE_LIST = (WindowKind.DETAILS, WindowKind.SECOND_LOOK)
"""Windows that do not count towards how many rows a list holds."""


@dataclass(frozen=True, slots=True)
class Certificate:
    """The evidence of how one window was read: a row of `control.windows`.

    `certified` means: every row that the source held in this window is here. `reason` says by which evidence,
    or why not.
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
    """What a commit did to one raw table.

    `restated`: rows that differ although an earlier certificate covers them (`control.restatements`); `late`:
    those of them that came late into a window of `updated_at`.
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
