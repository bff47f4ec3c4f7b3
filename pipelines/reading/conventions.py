"""How one server speaks one list: what the contract does not show, configured or learnt.

Contract, Endpoints: names of the date-range, page and page-size parameters, and on some lists whether pages
count from zero, are "not shown". What a server was seen to do is kept in `control.capabilities`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Literal

from pipelines.core.capabilities import Result
from pipelines.core.endpoint import QueryNames
from pipelines.core.errors import WrongTotal
from pipelines.core.pages import Page, Window
from pipelines.core.steps import ReadPage

Bounds = Literal["instant", "day", "none"]
UNPROVEN_END = timedelta(hours=36)
"""How long ago a row must have been changed to be shown where no end is known to work: the contract's end is then
the current date, perhaps its midnight, in a zone up to 12 hours behind UTC."""


@dataclass(frozen=True, slots=True)
class QueryConventions:
    """`bounds`: the finest the date filter is known to tell apart; `none` where no start is known to work.

    `end`: whether a range's end was seen to work; one that is `undecided` is sent and not relied upon.
    `status`: whether the list can be narrowed to a status.
    `page_base`: the number of the first page, `None` where it is not known: then the first page is asked for
    without a number, and one page more is read, so that all are here whichever it is.
    `end_in_days`: an end is taken as a day, whatever is known of the start. `required`: sent with each request,
    because the server refuses the list without it, although it makes no difference.
    `lenient`: totals of this list were caught lying, so a page is no longer asked for again because of its own.
    """

    names: QueryNames
    page_size: int = 100
    page_base: int | None = 0
    bounds: Bounds = "instant"
    end: Result = Result.HONOURED
    status: Result = Result.HONOURED
    end_in_days: bool = False
    required: Mapping[str, str] = field(default_factory=dict[str, str])
    lenient: bool = False

    def page(self, window: Window, number: int, *, lenient: bool = False) -> ReadPage:
        """The request for one page of a window; `number` counts from 0."""
        unnumbered = self.page_base is None and number == 0
        query = {
            **self.filters(window),
            **({} if unnumbered else {self.names.page: str(number + (self.page_base or 0))}),
            self.names.per_page: str(self.page_size),
        }
        return ReadPage(query, number, self.page_size, lenient or self.lenient)

    def count(self, window: Window) -> ReadPage:
        """The smallest request that tells a window's total."""
        return replace(self, page_size=1).page(window, 0, lenient=True)

    def filters(self, window: Window) -> dict[str, str]:
        """The query that narrows the list to a window; no page yet."""
        query = dict(self.required)
        if self.bounds != "none" and window.start is not None:
            query[self.names.start] = self._bound(window.start, -1)
        if self.end is not Result.IGNORED and window.end is not None:
            query[self.names.end] = self._bound(window.end, +1)
        if window.status is not None:
            query[self.names.status] = window.status
        return query

    def _bound(self, bound: datetime | date, outward: int) -> str:
        """A bound as the server takes it.

        Whole days widen by one day outwards: which zone a day bound follows and whether its end is included
        are not shown, and a row too many costs nothing while a row too few is a loss.
        """
        if not isinstance(bound, datetime):
            return bound.isoformat()
        at = bound.astimezone(UTC)
        if self.bounds == "day" or (self.end_in_days and outward > 0):
            return (at.date() + timedelta(days=outward)).isoformat()
        return at.replace(tzinfo=None).isoformat(timespec="seconds") + "Z"

    def closed_bound(self, now: datetime, lag: timedelta) -> datetime:
        """The latest instant before which no row of the list can still appear.

        With day bounds: the start of the UTC day that, with the day after it, has ended in every zone (the last
        zone is 12 hours behind UTC), so that a widened window touches no growing day. Where no end is known to
        work: a day and a half ago.
        """
        settled = (now - lag).astimezone(UTC).replace(microsecond=0)
        if self.bounds == "day":
            return datetime.combine((settled - timedelta(hours=36)).date(), time(), tzinfo=UTC)
        return settled if self.reaches_now else settled - UNPROVEN_END

    @property
    def reaches_now(self) -> bool:
        """Whether the answers hold what was changed a moment ago: an end is known to work, and is sent."""
        return self.end is Result.HONOURED

    @property
    def shortest(self) -> timedelta:
        """The shortest window that can be told apart."""
        return timedelta(seconds=2) if self.bounds == "instant" else timedelta(days=1)


def check_page(step: ReadPage, page: Page) -> None:
    """A page counts only if it holds what its own total promises (design §8).

    Raises:
        WrongTotal: fewer or more rows than the page's own total and size allow.
    """
    if not step.lenient and (reason := contradiction(page, step.number, step.size)):
        raise WrongTotal(reason)


def contradiction(page: Page, number: int, size: int) -> str | None:
    """How a page contradicts itself; `None` where its rows are as many as its own total promises.

    `number` counts from 0, `size` is how many rows a full page holds.
    """
    size = min(size, page.per_page or size)
    promised = max(0, min(size, page.total_count - number * size))
    if len(page.rows) == promised:
        return None
    return (
        f"page {number} holds {len(page.rows)} rows where its own total of {page.total_count} promises {promised}"
    )
