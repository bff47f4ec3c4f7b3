"""The input and the result of a strategy."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any, Literal
from zoneinfo import ZoneInfo

from vetl.core.endpoint import Endpoint, QueryNames
from vetl.core.pages import Window

Details = Literal["all", "recent", "off"]
Reconcile = Literal["no", "recent", "full"]
"""The part of history that is read again although it is certified: none, the last 35 days, or all of it."""


@dataclass(frozen=True, slots=True)
class Margins:
    """The distance from rows that may still change, and the intervals of the re-reads.

    A closed window ends `closing_lag` before the source's clock and overlaps the window before it by `overlap`.
    The last `recent` days are re-read daily, and the whole history every `whole_every`. A client or patient is
    read again after `refresh_after`, with at most `reference_budget` requests per sync.
    """

    closing_lag: timedelta = timedelta(seconds=60)
    overlap: timedelta = timedelta(minutes=15)
    recent: timedelta = timedelta(days=35)
    whole_every: timedelta = timedelta(days=7)
    refresh_after: timedelta = timedelta(days=7)
    reference_budget: int = 20_000


@dataclass(frozen=True, slots=True)
class Reading:
    """One list of one practice that is to be read; `now` is the source's clock."""

    endpoint: Endpoint
    names: QueryNames
    now: datetime
    time_zone: ZoneInfo
    history_start: date
    cursor: Mapping[str, Any] = field(default_factory=dict[str, Any])
    capabilities: Mapping[str, Any] = field(default_factory=dict[str, Any])
    since: date | None = None
    margins: Margins = Margins()
    details: Details = "recent"
    details_budget: int = 2000
    reconcile: Reconcile = "no"

    @property
    def reread_from(self) -> date | None:
        """Return the first day that is read again although it is certified, if there is such a day."""
        if self.reconcile == "full":
            return self.history_start
        recent = max(self.history_start, self.local_now.date() - self.margins.recent)
        return recent if self.reconcile == "recent" else None

    @property
    def local_now(self) -> datetime:
        """Return the source's clock in the practice's time zone."""
        return self.now.astimezone(self.time_zone)

    @property
    def whole_history(self) -> Window:
        """Return the window from the start of history to a day after the source's clock."""
        return Window(self.local_midnight(self.history_start), self.now + timedelta(days=1))

    def local_midnight(self, day: date) -> datetime:
        """Return the instant at which a practice-local day begins, in UTC."""
        # Python ignores DST in differences of two times in one zone.
        return datetime(day.year, day.month, day.day, tzinfo=self.time_zone).astimezone(UTC)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The certainty of a read: all rows up to `through` are stored, by the evidence in `reason`.

    `suspects` are query parameters with the result `honoured` that an answer contradicts.
    """

    certified: bool
    through: datetime | None
    reason: str
    notes: tuple[str, ...] = ()
    suspects: tuple[str, ...] = ()
