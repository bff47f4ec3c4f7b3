"""The query conventions of one list on one server, configured or found by discovery.

The contract (Endpoints) does not show the names of the date range, the page and the page size, nor on some lists
whether pages count from zero. `control.capabilities` stores the results of discovery.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise
from typing import Literal

from vetl.core.endpoint import QueryNames
from vetl.core.errors import WrongTotal
from vetl.core.list_read import Capabilities, Parameter, Reading, Result
from vetl.core.pages import Page, Window, updated_at
from vetl.core.steps import ReadPage
from vetl.core.text import utc_seconds

Bounds = Literal["instant", "widened", "day", "none"]
"""The form and the precision of bounds: instants; instants a day further out, because the server compares whole
days or its precision is unknown; days a day further out, because it accepts no instant; or no start works."""
MARGIN_DAYS = 4
"""Days by which a request may be longer than its window: overlap, a day on each side, and whole days."""
SHORTEST_PART = timedelta(hours=12)
"""The length of a part if a limit has no room for all of these margins: bounds to the second need few of them."""
UNPROVEN_END = timedelta(hours=36)
"""Age of a change that an answer certainly includes if no end is known to work. The contract's default end is the
current date, perhaps its midnight, in a zone up to 12 hours behind UTC."""


@dataclass(frozen=True, slots=True)
class QueryConventions:
    """The parameters of a list and the effects that they are known to have.

    `bounds` is the precision of the date filter, `none` if no start is known to work. `end` and `status` are the
    results for these parameters; an undecided end is sent, but a certificate does not rely on it. `page_base` is
    the number of the first page, or `None` if it is unknown: then the first request has no page number, and one
    more page is read, so that all pages are read in either case. `end_in_days`: the server accepts an end as a day
    only, even if it accepts a start as an instant. `required` parameters have no effect, but the server refuses
    the list without them. `lenient`: totals of this list were wrong, so a page that contradicts its total is not
    requested again. `latest`: the server refuses later bounds; `endless`: without an end it shows later rows.
    `most_days`: it refuses longer ranges. `saves`: a pass saves rows while it is read, if they take much memory;
    `sealed_before` is that of `MergeRows`.
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
    latest: datetime | None = None
    endless: bool = False
    most_days: int | None = None
    saves: bool = False
    sealed_before: datetime | None = None

    def page(self, window: Window, number: int, *, lenient: bool = False) -> ReadPage:
        """Return the request for one page of a window; `number` counts from 0."""
        unnumbered = self.page_base is None and number == 0
        query = {
            **self.filters(window),
            **({} if unnumbered else {self.names.page: str(number + (self.page_base or 0))}),
            self.names.per_page: str(self.page_size),
        }
        divisible = self.page_size > 1 if window.start is None else _is_divisible(window)
        return ReadPage(query, number, self.page_size, lenient or self.lenient, divisible)

    def count(self, window: Window) -> ReadPage:
        """Return the smallest request whose answer contains the total of a window."""
        return replace(self, page_size=1).page(window, 0, lenient=True)

    def filters(self, window: Window) -> dict[str, str]:
        """Return the query that restricts the list to a window, without a page."""
        query = dict(self.required)
        if self.bounds != "none" and window.start is not None and (start := self._bound(window.start, -1)):
            query[self.names.start] = start
        if self.end is not Result.IGNORED and window.end is not None and (end := self._bound(window.end, +1)):
            query[self.names.end] = end
        if window.status is not None:
            query[self.names.status] = window.status
        return query

    def _bound(self, bound: datetime | date, outward: int) -> str | None:
        """Format a bound in the form that the server accepts.

        Return `None` for an end in the future, if it refuses these and shows more without one, as it may for days.
        """
        if not isinstance(bound, datetime):
            return bound.isoformat()
        form = "day" if self.end_in_days and outward > 0 else self.bounds
        # The contract does not show the time zone of a day, nor whether the end is included. A day more on each
        # side costs a few rows that are stored already; a day less would lose rows.
        further = timedelta(days=outward) if form in ("day", "widened") else timedelta()
        at = bound + further
        if self.latest is None or at <= self.latest:
            return format_bound(at, form)
        is_omitted = outward > 0 and (form != "instant" or self.endless)
        return None if is_omitted else format_bound(self.latest, form)

    def closed_bound(self, now: datetime, lag: timedelta) -> datetime:
        """Return the latest instant before which no row of the list can still appear.

        With day bounds, it is the start of the latest UTC day that has ended in every zone together with the day
        after it (the last zone is 12 hours behind UTC), so that a widened window includes no day that still grows.
        If no end is known to work, it is a day and a half ago.
        """
        settled = (now - lag).astimezone(UTC).replace(microsecond=0)
        if self.in_days:
            return datetime.combine((settled - timedelta(hours=36)).date(), time(), tzinfo=UTC)
        return settled if self.reaches_now else settled - UNPROVEN_END

    @property
    def in_days(self) -> bool:
        """Return whether the date filter selects whole days, as far as is known."""
        return self.bounds in ("day", "widened")

    @property
    def reaches_now(self) -> bool:
        """Return whether answers include the latest changes, because an end is known to work and is sent."""
        return self.end is Result.HONOURED

    @property
    def shows_latest(self) -> bool:
        """Return whether answers include even a row that is changed during the read."""
        return self.reaches_now and (self.latest is None or self.endless)

    def widest(self, reading: Reading) -> Window:
        """Return the window of the whole history, or as much of its end as one range may have."""
        whole = reading.whole_history
        assert isinstance(whole.start, datetime)
        assert isinstance(whole.end, datetime)
        end = whole.end if self.most_days is None else min(whole.end, reading.now + self._part / 2)
        return replace(whole, start=self.parts(whole.start, end)[-1][0], end=end)

    def parts(self, start: datetime, end: datetime) -> list[tuple[datetime, datetime]]:
        """Return a span in as few parts as the server accepts, each with the margins of its request."""
        length = end - start if self.most_days is None else self._part
        count = max(1, -(-(end - start) // length)) if length else 1
        bounds = [max(start, end - length * number) for number in range(count, -1, -1)]
        return list(pairwise(bounds))

    @property
    def _part(self) -> timedelta:
        """Return the length of a part whose request the server accepts, if it limits ranges."""
        return max(timedelta(days=(self.most_days or 0) - MARGIN_DAYS), SHORTEST_PART)

    @property
    def shortest(self) -> timedelta:
        """Return the shortest window that the date filter can select."""
        return timedelta(seconds=2) if self.bounds == "instant" else timedelta(days=1)


def _is_divisible(window: Window) -> bool:
    """Return whether a window is read part by part if its answer is too slow."""
    start, end = window.start, window.end
    if isinstance(start, datetime) and isinstance(end, datetime):
        return end - start > SHORTEST_PART
    return start is not None and end is not None and start != end


WITHOUT_END, SHOWS_LATEST = "without_end", "the latest rows"
"""The capability of a server that refuses ends in the future, and its one value."""


def shows_latest(page: Page) -> bool:
    """Return whether a page has a row of this quarter of an hour, so that its list does not end at a midnight."""
    quarter = page.server_time.timestamp() // 900
    times = [at for row in page.rows if (at := updated_at(row)) is not None]
    return any(at.timestamp() // 900 == quarter and is_clear_of_midnights(at) for at in times)


def is_clear_of_midnights(at: datetime) -> bool:
    """Return whether the minutes beside a time are on its day in every zone; zones differ by 15-minute steps."""
    return 1 <= at.minute % 15 < 14  # noqa: PLR2004 - as above


def has_strays(conventions: QueryConventions, window: Window, page: Page) -> bool:
    """Return whether a page has a row from outside the window, so that the server ignores the range."""
    # Days are widened by one, and may begin in any zone.
    slack = timedelta(days=3) if conventions.in_days else timedelta(minutes=1)
    times = [at for row in page.rows if (at := updated_at(row)) is not None]
    start = window.start if conventions.bounds != "none" else None
    end = window.end if conventions.reaches_now else None
    return bool(times) and (
        (isinstance(start, datetime) and min(times) < start - slack)
        or (isinstance(end, datetime) and max(times) > end + slack)
    )


def check_page(step: ReadPage, page: Page) -> None:
    """Raise `WrongTotal` if a page has fewer or more rows than its own total promises, unless `lenient`."""
    if not step.lenient and (reason := contradiction(page, step.number, step.size)):
        raise WrongTotal(reason)


def contradiction(page: Page, number: int, size: int) -> str | None:
    """Return the contradiction between a page's rows and its own total, or `None` if the page has none.

    `number` counts from 0, and `size` is the number of rows of a full page.
    """
    size = min(size, page.per_page or size)
    promised = max(0, min(size, page.total_count - number * size))
    if len(page.rows) == promised:
        return None
    return (
        f"page {number} holds {len(page.rows)} rows, but its own total of {page.total_count} promises {promised}"
    )


def format_bound(at: datetime, bounds: Bounds) -> str:
    """Format a bound as an instant to the second, or as its UTC day."""
    return at.astimezone(UTC).date().isoformat() if bounds == "day" else utc_seconds(at)


def latest_bound(reading: Reading, bounds: Bounds) -> datetime:
    """Return the source's clock; for days, the earlier one of its UTC day and its practice-local day."""
    local = reading.local_now.replace(tzinfo=UTC)
    return min(reading.now, local) if bounds == "day" else reading.now


def whole_range(
    reading: Reading, bounds: Bounds, *, refuses_future: bool = False, most_days: int | None = None
) -> tuple[datetime, datetime]:
    """Return bounds that include every row: the start of history, and two days after the source's clock.

    The end is the source's clock if the server refuses ends in the future; the range has the latest `most_days` if
    it refuses longer ones.
    """
    past, ahead = reading.local_midnight(reading.history_start), timedelta(days=2)
    length = timedelta(days=most_days - 1) or timedelta(hours=23) if most_days else None
    if length:
        ahead = min(ahead, length / 3)
    late = latest_bound(reading, bounds) if refuses_future else reading.now + ahead
    return max(past, late - length) if length else past, late


def conventions_of(reading: Reading, capabilities: Capabilities) -> QueryConventions:
    """Return the query conventions of a list, as far as its capabilities are decided."""
    ignored = capabilities.result("start") is Result.IGNORED
    start, end, per_page, page = (capabilities.parameters[key] for key in ("start", "end", "per_page", "page"))
    end_form = end.bounds or start.bounds or "instant"
    past = reading.local_midnight(reading.history_start)
    return QueryConventions(
        capabilities.names,
        page_size=min(per_page.size or reading.endpoint.page_size, reading.endpoint.page_size),
        page_base=page.base if page.result is Result.HONOURED else None,
        bounds="none" if ignored else start.bounds or _form(start),
        end=capabilities.result("end"),
        status=capabilities.result("status"),
        end_in_days=end.bounds == "day",
        latest=latest_bound(reading, end_form) if end.refuses_future else None,
        endless=reading.capabilities.get(WITHOUT_END) == SHOWS_LATEST,
        most_days=start.most_days,
        required={start.name: format_bound(past, start.bounds)} if ignored and start.bounds else {},
    )


def _form(start: Parameter) -> Bounds:
    """Return `widened` for a start that works but whose precision is unknown: it is correct in both cases."""
    works = start.result is Result.HONOURED or start.most_days is not None
    return "widened" if works else "instant"
