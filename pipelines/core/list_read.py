"""What a strategy knows when it starts, and what it says when it ends."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any, Literal
from zoneinfo import ZoneInfo

from pipelines.core.endpoint import Endpoint, QueryNames
from pipelines.core.pages import Window

Details = Literal["all", "recent", "off"]
Reconcile = Literal["no", "recent", "full"]
"""Whether history is read again, whatever is certified already: the last 35 days of it, or all."""


@dataclass(frozen=True, slots=True)
class Margins:
    """How far vetl stays away from what may still move, and how often it looks back.

    A closed window ends `closing_lag` before the source's clock and overlaps the one before by `overlap`;
    `recent` is re-read daily and all of history every `whole_every`; a client or patient is read again after
    `refresh_after`, with at most `reference_budget` requests a sync.
    """

    closing_lag: timedelta = timedelta(seconds=60)
    overlap: timedelta = timedelta(minutes=15)
    recent: timedelta = timedelta(days=35)
    whole_every: timedelta = timedelta(days=7)
    refresh_after: timedelta = timedelta(days=7)
    reference_budget: int = 20_000


@dataclass(frozen=True, slots=True)
class Reading:
    """One list of one practice, about to be read. `now` is the source's clock."""

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
        """The first day that is read again although it is certified, if any is."""
        if self.reconcile == "full":
            return self.history_start
        recent = max(self.history_start, self.local_now.date() - self.margins.recent)
        return recent if self.reconcile == "recent" else None

    @property
    def local_now(self) -> datetime:
        """The source's clock as the practice sees it."""
        return self.now.astimezone(self.time_zone)

    @property
    def whole_history(self) -> Window:
        """Everything from the start of history to a day ahead of the source's clock."""
        return Window(self.local_midnight(self.history_start), self.now + timedelta(days=1))

    def local_midnight(self, day: date) -> datetime:
        """The instant at which a practice-local day begins, in UTC: within one zone, differences ignore DST."""
        return datetime(day.year, day.month, day.day, tzinfo=self.time_zone).astimezone(UTC)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How certain a read is: everything up to `through` is here, by the evidence in `reason`.

    `suspects`: query parameters that were believed to work and that an answer contradicts.
    """

    certified: bool
    through: datetime | None
    reason: str
    notes: tuple[str, ...] = ()
    suspects: tuple[str, ...] = ()
