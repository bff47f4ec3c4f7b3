"""A source small enough to be obviously right, for driving strategies without I/O.

It may change its rows before any request. All choices come from one `random.Random`, so a failing example replays.
`Journal` counts the requests, so that a test can compare them with a bound.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from itertools import count
from random import Random
from typing import Any, Literal, Self

from vetl.core.endpoint import QueryNames
from vetl.core.errors import Failing, NotFound, RequestRefused, VetlError
from vetl.core.pages import Page, Row, instant
from vetl.core.steps import Query, ReadPage
from vetl.discovery.conventions import check_page

START = datetime(2026, 3, 1, 12, tzinfo=UTC)
SHORTEST = timedelta(microseconds=1)


@dataclass
class Manners:
    """The model server's behaviour in gaps of the contract."""

    names: QueryNames = field(default_factory=QueryNames)
    page_base: int = 0
    largest_page: int = 10
    bounds: Literal["instant", "day"] = "instant"
    end_inclusive: bool = True
    default_end: Literal["none", "midnight", "strict midnight"] = "none"
    """The end of a range without an end; if it is strict, a later start is refused.

    Contract: "defaults to the current date".
    """
    start_inclusive: bool = True
    start: Literal["optional", "required", "required, ignored"] = "optional"
    order: Literal["updated_asc", "updated_desc", "created_desc", "id", "shuffled"] = "updated_asc"
    refuses_unknown: bool = False
    refuses: Literal["days", "instants"] | None = None
    """The form of a bound that is refused."""
    refuses_future: Literal["days", "instants"] | None = None
    """The bounds in the future that are refused: days after today, or instants after now, too."""
    most_days: int | None = None
    """The days of the longest range that is accepted; without a start the list has the latest of them."""
    too_long: VetlError | None = None
    """The answer to a longer range; `None`: it is refused."""
    oldest_days: int | None = None
    """The age in days from which a start is refused."""
    status_ignored: bool = False
    default_status: str | None = None
    """The status of the rows that a list without a status has; `None`: all rows."""
    hidden_status: str | None = None
    """The status of the rows that a list without a status lacks."""
    echoes: bool = True
    total: Literal["true", "too high", "too low", "capped", "unfiltered", "huge"] = "true"
    beyond: Literal["empty", "repeats", "invents"] = "empty"
    """The content of pages beyond the end: nothing, the last rows again, or rows that never existed."""
    before: Literal["repeats", "empty"] | VetlError = "repeats"
    """The answer to a page before the first: the first page, no rows, or an error."""
    refuses_beyond_end: bool = False
    deepest: int | None = None
    """The last page that is served, counted from 0; `None` if there is no limit."""


@dataclass
class Version:
    """A row from `since` on, `until` it was changed or deleted; both by the source's clock."""

    row: Row
    since: datetime
    until: datetime | None = None


class ModelSource:
    """One list. `move` is called before each request and may change `rows`; the clock advances with each request.

    `versions` has every version that a row ever had. Rows of a list that is not `stamped` have no `updated_at`.
    """

    def __init__(self, rng: Random, manners: Manners | None = None, *, stamped: bool = True) -> None:
        self.rng = rng
        self.manners = manners or Manners()
        self.stamped = stamped
        self.rows: dict[str, dict[str, Any]] = {}
        self.versions: dict[str, list[Version]] = {}
        self.now = START
        self.requests = 0
        self.move: Callable[[], None] = lambda: None
        self.broken: str | None = None
        """The id of a row whose every page is answered with 500."""
        self._numbers = count()

    def add(self, at: datetime | None = None, **fields: object) -> str:
        """Add a row, created and last updated at the given instant, or now."""
        identity = f"r{next(self._numbers):05d}"
        moment = stamp(at or self.now)
        stamps = {"created_at": moment, "updated_at": moment} if self.stamped else {"created_at": moment}
        self._becomes(identity, {"id": identity, **stamps, "v": 0, **fields})
        return identity

    def fill(self, rows: int, first: datetime, apart: timedelta, *statuses: str) -> Self:
        """Add rows that were created and last updated so far apart, with these statuses in turn."""
        for number in range(rows):
            self.add(first + apart * number, status=statuses[number % len(statuses)])
        return self

    def touch(self, identity: str, at: datetime | None = None, **fields: object) -> None:
        """Change a row; its `updated_at` becomes the given instant, or now."""
        stamps = {"updated_at": stamp(at or self.now)} if self.stamped else {}
        self.retell(identity, **fields, **stamps)

    def retell(self, identity: str, **fields: object) -> None:
        """Change a row without a trace: its `updated_at` does not change."""
        row = self.rows[identity]
        self._becomes(identity, {**row, "v": row["v"] + 1, **fields})

    def remove(self, identity: str) -> None:
        self._ends(identity)
        del self.rows[identity]

    def _becomes(self, identity: str, row: dict[str, Any]) -> None:
        if identity in self.rows:
            self._ends(identity)
        self.rows[identity] = row
        self.versions.setdefault(identity, []).append(Version(row, self.now))

    def _ends(self, identity: str) -> None:
        self.versions[identity][-1].until = self.now

    def page(self, step: ReadPage) -> Page:
        self._tick()
        manners, names = self.manners, self.manners.names
        parameters = {names.start, names.end, names.page, names.per_page, names.status}
        if manners.refuses_unknown and set(step.query) - parameters:
            raise RequestRefused("unknown parameter", status=400)
        rows = self._filtered(step.query)
        size = min(int(str(step.query.get(names.per_page, 5))), manners.largest_page)
        number = int(str(step.query.get(names.page, manners.page_base)))
        if number < manners.page_base and isinstance(manners.before, VetlError):
            raise manners.before
        if number < manners.page_base and manners.before == "empty":
            return Page((), len(rows), None, self.now)
        at = max(0, number - manners.page_base) * size
        if manners.refuses_beyond_end and at and at >= len(rows):
            raise NotFound("no such page", status=404)
        if manners.deepest is not None and at > manners.deepest * size:
            raise RequestRefused("too deep", status=400)
        shown = rows[at : at + size] if at < len(rows) or not rows else self._beyond(rows, size)
        if any(row["id"] == self.broken for row in shown):
            raise Failing("500")
        page = Page(tuple(shown), self._total(rows), size if manners.echoes else None, self.now)
        check_page(step, page)
        return page

    def _total(self, rows: Sequence[Row]) -> int:
        match self.manners.total:
            case "true":
                return len(rows)
            case "too high":
                return len(rows) + 3
            case "too low":
                return max(0, len(rows) - 3)
            case "capped":
                return min(20, len(rows))
            case "unfiltered":
                return len(self.rows)
            case "huge":
                return 10**15

    def _beyond(self, rows: Sequence[Row], size: int) -> Sequence[Row]:
        if self.manners.beyond == "invents":
            return [{**self.rng.choice(rows), "id": f"invented-{next(self._numbers)}"} for _ in range(size)]
        return rows[-size:] if self.manners.beyond == "repeats" else ()

    def record(self, identity: str) -> Row | VetlError | None:
        self._tick()
        return self.rows.get(identity)

    def _tick(self) -> None:
        self.requests += 1
        self.now += timedelta(milliseconds=self.rng.randint(50, 1500))
        self.move()

    def _filtered(self, query: Query) -> list[Row]:
        manners, names = self.manners, self.manners.names
        rows: list[Row] = list(self.rows.values())
        if (start := query.get(names.start)) is None and manners.start != "optional":
            raise RequestRefused(f"{names.start} is missing", status=400, fields=((names.start, "is missing"),))
        rows = self._in_reach(query, rows)
        if start is not None and self._bound(str(start)) and manners.start != "required, ignored":
            edge = self._start(str(start))
            rows = [row for row in rows if _at(row) > edge or (_at(row) == edge and manners.start_inclusive)]
        if (end := query.get(names.end)) is not None:
            edge = self._end(str(end))
            rows = [row for row in rows if _at(row) <= edge]
        elif manners.default_end != "none":
            midnight = datetime.combine(self.now.date(), time(), UTC)
            if (
                start is not None
                and self._start(str(start)) > midnight
                and manners.default_end == "strict midnight"
            ):
                raise RequestRefused("start is after end", status=400)
            rows = [row for row in rows if _at(row) < midnight]
        if (status := query.get(names.status)) is not None and not manners.status_ignored:
            rows = [row for row in rows if row.get("status") == status]
        elif status is None and manners.default_status:
            rows = [row for row in rows if row.get("status") == manners.default_status]
        elif status is None and manners.hidden_status:
            rows = [row for row in rows if row.get("status") != manners.hidden_status]
        if manners.order == "shuffled":
            return self.rng.sample(rows, len(rows))
        return _ordered(rows, manners.order)

    def _in_reach(self, query: Query, rows: list[Row]) -> list[Row]:
        """Return the rows of the longest range; raise `RequestRefused` if it is longer or starts earlier."""
        manners, start = self.manners, query.get(self.manners.names.start)
        if manners.most_days is None:
            return rows
        end = query.get(manners.names.end)
        first = self.now - timedelta(days=manners.oldest_days or 10_000)
        if start is not None and self._start(str(start)) < first:
            raise RequestRefused("too old", status=400)
        first = (self._end(str(end)) if end else self.now) - timedelta(days=manners.most_days)
        if start is not None and self._start(str(start)) < first:
            raise manners.too_long or RequestRefused("the range is too long", status=400)
        return [row for row in rows if _at(row) >= first]

    def _bound(self, text: str) -> datetime | date:
        bound = instant(text)
        assert bound is not None
        if self.manners.refuses == ("instants" if "T" in text else "days"):
            raise RequestRefused("not a date", status=400)
        refused = self.manners.refuses_future
        if (refused and bound.date() > self.now.date()) or (refused == "instants" and bound > self.now):
            raise RequestRefused("in the future", status=400)
        return bound.date() if self.manners.bounds == "day" or "T" not in text else bound

    def _start(self, text: str) -> datetime:
        bound = self._bound(text)
        return bound if isinstance(bound, datetime) else datetime.combine(bound, time(), UTC)

    def _end(self, text: str) -> datetime:
        """Return the last instant that the filter lets through."""
        bound, inclusive = self._bound(text), self.manners.end_inclusive
        if isinstance(bound, datetime):
            return bound if inclusive else bound - SHORTEST
        return datetime.combine(bound, time(), UTC) + timedelta(days=inclusive) - SHORTEST


def _ordered(rows: Sequence[Row], order: str) -> list[Row]:
    if order == "id":
        return sorted(rows, key=lambda row: row["id"])
    field_name, direction = order.split("_")
    ordered = sorted(rows, key=lambda row: (row[f"{field_name}_at"], row["id"]))
    return list(ordered[::-1] if direction == "desc" else ordered)


def _at(row: Row) -> datetime:
    return _parsed(row["updated_at"] or row["created_at"])


@lru_cache(100_000)
def _parsed(text: str) -> datetime:
    return datetime.fromisoformat(text)


def stamp(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


PATIENCE = 30_000


@dataclass
class Asked:
    """The requests so far.

    `openings` has, for each first page, the number of full pages of its list at that time.
    """

    openings: list[int] = field(default_factory=list[int])
    pages: int = 0
    counts: int = 0
    records: int = 0

    @property
    def requests(self) -> int:
        return self.pages + self.counts + self.records


class Journal(ModelSource):
    """A source that counts its requests, and stops a reading that does not end."""

    asked = Asked()

    def page(self, step: ReadPage) -> Page:
        page = super().page(step)
        if step.size == 1:
            self.asked.counts += 1
        else:
            self.asked.pages += 1
            if step.number == 0:
                self.asked.openings.append(page.total_count // min(step.size, self.manners.largest_page))
        self._bear()
        return page

    def record(self, identity: str) -> Row | VetlError | None:
        self.asked.records += 1
        self._bear()
        return super().record(identity)

    def _bear(self) -> None:
        assert self.asked.requests < PATIENCE, "this reading does not end"
