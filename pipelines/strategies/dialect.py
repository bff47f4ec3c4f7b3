"""How one server speaks one list: what the contract does not show, configured or learnt.

Contract, Endpoints: names of the date-range, page and page-size parameters, and on some lists whether pages
count from zero, are "not shown". What a server was seen to do is kept in `control.capabilities`.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Literal

from pipelines.endpoint import QueryNames
from pipelines.errors import WrongTotal
from pipelines.pages import Page, Window
from pipelines.steps import ReadPage

Bounds = Literal["instant", "day", "none"]


@dataclass(frozen=True, slots=True)
class Dialect:
    """`bounds`: the finest the date filter is known to tell apart; `none` where there is no working filter.

    `lenient`: totals of this list were caught lying, so a page is no longer asked for again because of its own.
    """

    names: QueryNames
    page_size: int = 100
    page_base: int = 0
    bounds: Bounds = "instant"
    lenient: bool = False

    def page(self, window: Window, number: int, *, lenient: bool = False) -> ReadPage:
        """The request for one page of a window; `number` counts from 0."""
        query = {
            **self.filters(window),
            self.names.page: str(number + self.page_base),
            self.names.per_page: str(self.page_size),
        }
        return ReadPage(query, number, self.page_size, lenient or self.lenient)

    def count(self, window: Window) -> ReadPage:
        """The smallest request that tells a window's total."""
        return replace(self, page_size=1).page(window, 0, lenient=True)

    def filters(self, window: Window) -> dict[str, str]:
        """The query that narrows the list to a window; no page yet."""
        query: dict[str, str] = {}
        if self.bounds != "none":
            if window.start is not None:
                query[self.names.start] = self._bound(window.start, -1)
            if window.end is not None:
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
        if self.bounds == "day":
            return (at.date() + timedelta(days=outward)).isoformat()
        return at.replace(tzinfo=None).isoformat(timespec="seconds") + "Z"

    def closed_bound(self, now: datetime, lag: timedelta) -> datetime:
        """The latest instant before which no row of the list can still appear.

        With day bounds: the start of the UTC day that, with the day after it, has ended in every zone (the last
        zone is 12 hours behind UTC), so that a widened window touches no growing day.
        """
        if self.bounds == "instant":
            return (now - lag).astimezone(UTC).replace(microsecond=0)
        ended = (now.astimezone(UTC) - lag - timedelta(hours=36)).date()
        return datetime.combine(ended, time(), tzinfo=UTC)

    @property
    def shortest(self) -> timedelta:
        """The shortest window that can be told apart."""
        return timedelta(seconds=2) if self.bounds == "instant" else timedelta(days=1)


def dialect_of(names: QueryNames, page_size: int, capabilities: Mapping[str, Any]) -> Dialect:
    """The dialect as far as it is known: the configured names, corrected by what was learnt."""
    learnt = QueryNames(**{**asdict(names), **capabilities.get("names", {})})
    return Dialect(
        learnt,
        page_size=int(capabilities.get("page_size", page_size)),
        page_base=int(capabilities.get("page_base", 0)),
        bounds=capabilities.get("bounds", "instant"),
    )


def check_page(step: ReadPage, page: Page) -> None:
    """A page counts only if it holds what its own total promises (design §8).

    Raises:
        WrongTotal: fewer or more rows than the page's own total and size allow.
    """
    if not step.lenient and (found := contradiction(page, step.number, step.size)):
        raise WrongTotal(found)


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
