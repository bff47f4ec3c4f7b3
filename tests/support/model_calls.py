"""The phone calls of one practice, with both forms of the contract (Phone calls): the CSV and the JSON list.

The CSV: a filter by whole practice-local days, no ids, time to the local minute. The JSON list: ids, exact times,
client ids. Calls change, vanish and appear on days long past without a trace. `move` is called before each
request; `versions` has the practice's calls at each moment, and `ever` each call that ever existed.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from random import Random
from typing import Any, Literal, Self
from zoneinfo import ZoneInfo

from vetl.core.errors import NotFound, RequestRefused, TooLarge, VetlError, WrongTotal
from vetl.core.pages import CallsPage, Page
from vetl.core.steps import Query, ReadCalls, ReadPage
from vetl.discovery.conventions import check_page

CsvRow = tuple[str, ...]
"""A call as the CSV shows it: minute, phone number, state, client, outcome, summary."""

Sorting = Literal["listed", "per page", "per answer", "shuffled"]


@dataclass(frozen=True, slots=True)
class Call:
    """One call. `client` gives its ids and its client's name; `merged` changes only the ids."""

    id: str
    at: datetime
    phone: str = "+1"
    state: str = "completed"
    outcome: str = ""
    client: str = ""
    summary: str = ""
    merged: int = 0

    def csv_row(self, zone: ZoneInfo) -> CsvRow:
        minute = f"{self.at.astimezone(zone):%Y-%m-%d %H:%M}"
        name = self.client and f"Client {self.client}"
        return (minute, self.phone, self.state, name, self.outcome, self.summary)

    def record(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "created_at": self.at.isoformat().replace("+00:00", "Z"),
            "phone_number": self.phone,
            "state": self.state,
            "outcome": self.outcome or None,
            "client_name": self.client and f"Client {self.client}",
            "client_id": self.details[1],
            "remote_client_id": self.details[2],
            "summary": self.summary,
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Self:
        client, remote = record["client_id"] or "", record["remote_client_id"] or ""
        return cls(
            id=record["id"],
            at=datetime.fromisoformat(record["created_at"]),
            phone=record["phone_number"],
            state=record["state"],
            outcome=record["outcome"] or "",
            client=client.removeprefix("c"),
            summary=record["summary"],
            merged=int(remote.partition(".")[2] or 0),
        )

    @property
    def details(self) -> tuple[str, str | None, str | None]:
        """Return the details that only the JSON list has: its id, and the client's two ids."""
        if not self.client:
            return (self.id, None, None)
        return (self.id, f"c{self.client}", f"r{self.client}.{self.merged}")


class ModelCalls:
    """The list of calls, and the server's behaviour in gaps of the contract.

    `largest_page` and `largest_json_page` are the most rows of one answer. `sorting`: as listed; calls of one
    minute in another order on each page, the same each time; or in another order in each answer; or all calls in a
    new order for each answer. `lie` is added to each total. `deepest` is the last JSON page that is served,
    counted from 0. `refuses` returns whether a range of days is refused, with `refusal`. A CSV with more rows than
    `most_rows` is too large.
    """

    def __init__(self, rng: Random, now: datetime, zone: ZoneInfo, *, largest_page: int = 40) -> None:
        self.rng, self.now, self.zone = rng, now, zone
        self.largest_page = largest_page
        self.largest_json_page = 100
        self.sorting: Sorting = "listed"
        self.lie = 0
        self.deepest: int | None = None
        self.refuses: Callable[[date, date], bool] = lambda _first, _last: False
        self.refusal: VetlError = RequestRefused("range", status=400)
        self.most_rows = largest_page
        self.frame: Callable[[Sequence[CsvRow]], Any] = list
        self.calls: list[Call] = []
        self.versions: list[tuple[Call, ...]] = [()]
        self.asked: dict[tuple[date, date], int] = {}
        self.requests = 0
        self.born = 0
        self.ever: dict[str, Call] = {}
        self.move: Callable[[], None] = lambda: None

    def ring(self, at: datetime, **fields: Any) -> Call:
        self.born += 1
        call = Call(f"id{self.born}", at.replace(microsecond=0), **fields)
        self.calls.append(call)
        self.happened()
        return call

    def change(self, place: int, **fields: Any) -> None:
        """Change a call without a trace."""
        self.calls[place] = replace(self.calls[place], **fields)
        self.happened()

    def vanish(self, place: int) -> None:
        del self.calls[place]
        self.happened()

    def reorder(self) -> None:
        self.rng.shuffle(self.calls)

    def happened(self) -> None:
        """Store the practice's present calls as a version."""
        self.versions.append(tuple(self.calls))
        self.ever.update((call.id, call) for call in self.calls)

    def forget_versions(self) -> None:
        self.versions, self.asked = [tuple(self.calls)], {}

    def day(self, call: Call) -> date:
        return call.at.astimezone(self.zone).date()

    def of(self, first: date, last: date, calls: Iterable[Call] | None = None) -> list[Call]:
        """Return the calls of these days, both included; by default of the present calls."""
        return [call for call in (self.calls if calls is None else calls) if first <= self.day(call) <= last]

    def rows(self, first: date, last: date, version: int = -1) -> Counter[CsvRow]:
        """Return the rows of these days that the CSV showed, or would have shown."""
        return Counter(call.csv_row(self.zone) for call in self.of(first, last, self.versions[version]))

    def read_calls(self, step: ReadCalls) -> CallsPage:
        calls, number, size = self._asked(step.query, self.largest_page)
        page = self._page_of(calls, number, size)
        if len(page) > self.most_rows:
            raise TooLarge("too large")
        rows = [call.csv_row(self.zone) for call in page]
        total = max(0, len(calls) + self.lie)
        if not step.lenient and len(rows) != max(0, min(size, total - number * size)):
            raise WrongTotal("rows and total disagree")
        days = sorted(self.day(call) for call in page)
        return CallsPage(
            frame=self.frame(rows),
            rows=len(rows),
            total_count=total,
            per_page=size,
            server_time=self.now,
            first_day=days[0] if days else None,
            last_day=days[-1] if days else None,
            minutes=[row[0] for row in rows],
        )

    def page(self, step: ReadPage) -> Page:
        calls, number, size = self._asked(step.query, self.largest_json_page)
        if number and number * size >= len(calls) and self.deepest is not None:
            raise NotFound("no such page", status=404)
        if self.deepest is not None and number > self.deepest:
            raise RequestRefused("too deep", status=400)
        rows = tuple(call.record() for call in self._page_of(calls, number, size))
        page = Page(rows, max(0, len(calls) + self.lie), size, self.now)
        check_page(step, page)
        return page

    def _asked(self, query: Query, largest: int) -> tuple[list[Call], int, int]:
        """Return the calls under the filter, the page's number and its size, after the changes of this moment."""
        self.requests += 1
        self.now += timedelta(milliseconds=self.rng.randint(50, 1500))
        self.move()
        texts = {name: str(value) for name, value in query.items()}
        first, last = date.fromisoformat(texts["start_date"]), date.fromisoformat(texts["end_date"])
        if self.refuses(first, last):
            raise self.refusal
        self.asked.setdefault((first, last), len(self.versions) - 1)
        return self.of(first, last), int(texts["page"]), min(int(texts["per_page"]), largest)

    def _page_of(self, calls: list[Call], number: int, size: int) -> list[Call]:
        if self.sorting == "shuffled":
            calls = self.rng.sample(calls, len(calls))
        elif self.sorting == "per answer":
            calls = sorted(calls, key=lambda call: (call.csv_row(self.zone)[0], self.rng.random()))
        elif self.sorting == "per page":
            calls = sorted(
                calls, key=lambda call: (call.csv_row(self.zone)[0], Random(f"{call.id}{number}").random())
            )
        return calls[number * size :][:size]
