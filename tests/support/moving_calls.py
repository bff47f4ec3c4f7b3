"""A practice whose calls change all the time, compared with the store after each commit.

The claim of a certificate of days (docs/lossless.md): the stored calls of these days are, as a multiset of rows of
the CSV, those that the practice held at one instant between the first request for exactly these days and the
writing of the certificate. It is checked for every certificate, when its rows are committed.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

from support.call_store import Details
from support.model_calls import CsvRow, ModelCalls
from support.model_driver import Driver, Killed, reading_of
from vetl.core.endpoint import DateWindows
from vetl.core.errors import VetlError
from vetl.core.list_read import Margins, Outcome, Reconcile
from vetl.core.steps import ReplaceDays, Save
from vetl.endpoints import PHONE_CALLS
from vetl.reading import call_schedule
from vetl.store.instants import days_between

ZONE = ZoneInfo("America/New_York")
HISTORY = 8
TURNS = (datetime(2026, 3, 9, 15, tzinfo=UTC), datetime(2026, 11, 2, 15, tzinfo=UTC))
"""The day after the clock went forward, and the day after it went back."""
FOR_EVER = 20_000
"""Requests."""
MINUTES = (0, 90, 150, 720, 1380)
"""Minutes after midnight at which calls come in: on the day of a change the third is 01:30 again, or 03:30."""
MOTIONS = ("ring", "backdate", "twin", "resolve", "retell", "match", "merge", "vanish", "swap", "reorder")


@dataclass(frozen=True, slots=True)
class Promise:
    """The days of a certificate, and the versions of the practice between which it must be true."""

    first: date
    last: date
    since: int
    until: int


class Witness:
    """A store between the driver and the real store, which compares certificates with the practice's past."""

    def __init__(self, source: ModelCalls, store: Any) -> None:
        self.answer = store.answer
        self.lose = store.lose
        self.proven: set[date] = set()
        self._source, self._store = source, store
        self._promises: list[Promise] = []

    def put(self, step: Save) -> None:
        """Record the claim of a certificate; sometimes commit before the driver does."""
        self._store.put(step)
        if isinstance(step, ReplaceDays) and step.certificate and step.certificate.certified:
            days = (step.first_day, step.last_day)
            self._promises.append(Promise(*days, self._source.asked[days], len(self._source.versions)))
        if self._source.rng.random() < 0.1:
            self.flush()

    def flush(self) -> None:
        """Commit, and check that the certificates are true."""
        self._store.flush()
        for promise in self._promises:
            here = self._store.rows(promise.first, promise.last)
            versions = range(promise.since, promise.until)
            past = [self._source.rows(promise.first, promise.last, version) for version in versions]
            assert here in past, f"certified, and never so: {promise}"
            self.proven.update(days_between(promise.first, promise.last))
        self._promises = []


class Practice:
    def __init__(self, store: Any, source: ModelCalls, rng: Random) -> None:
        self.source, self.store, self.rng = source, store, rng
        self.page, self.json_page = 6, 7
        self.history_start = source.now.date() - timedelta(days=HISTORY)
        self.proven: set[date] = set()
        self.margins = Margins(recent=timedelta(days=3), whole_every=timedelta(days=5))

    def sync(
        self,
        motion: Sequence[str] = (),
        *,
        killed_at: int | None = None,
        reconcile: Reconcile = "no",
        details: Any = "all",
    ) -> Outcome | None:
        """Run one sync, with the events before each of its requests, repeated; `None` if it did not end."""
        source = self.source
        source.forget_versions()
        source.move = self._moves(motion, killed_at)
        witness = Witness(source, self.store)
        strategy = DateWindows(csv_page_size=self.page)
        reading = reading_of(
            replace(PHONE_CALLS, strategy=strategy, page_size=self.json_page),
            source,
            self.store,
            time_zone=source.zone,
            history_start=self.history_start,
            margins=self.margins,
            details=details,
            details_budget=3,
            reconcile=reconcile,
        )
        try:
            return Driver(source, witness, self.rng).run(call_schedule.read_call_days(reading, strategy))
        except (Killed, VetlError):
            return None
        finally:
            source.move = lambda: None
            self.proven |= witness.proven

    def _moves(self, motion: Sequence[str], killed_at: int | None) -> Callable[[], None]:
        began = self.source.requests
        until = killed_at and began + killed_at
        moves = iter(range(1_000_000))

        def move() -> None:
            if until and self.source.requests >= until:
                raise Killed
            assert self.source.requests - began < FOR_EVER, "the sync does not end"
            if motion:
                self.happen(motion[next(moves) % len(motion)])

        return move

    def happen(self, what: str) -> None:
        source, rng = self.source, self.rng
        if what == "ring":
            source.ring(source.now, phone=rng.choice(("+1", "+2")), state=rng.choice(("ringing", "completed")))
        elif what == "backdate":
            self.backdate(rng.randrange(HISTORY + 1), rng.choice(MINUTES), rng.choice(("+1", "+2")))
        elif not source.calls:
            return
        elif what == "reorder":
            source.reorder()
        else:
            self._change(what, rng.randrange(len(source.calls)))

    def backdate(self, days_ago: int, minute: int, phone: str) -> None:
        day = self.source.now.astimezone(self.source.zone).date() - timedelta(days=days_ago)
        midnight = datetime(day.year, day.month, day.day, tzinfo=self.source.zone).astimezone(UTC)
        at = midnight + timedelta(minutes=minute, seconds=self.rng.choice((0, 30)))
        if day >= self.history_start:
            self.source.ring(at, phone=phone)

    def _change(self, what: str, place: int) -> None:
        source = self.source
        call = source.calls[place]
        match what:
            case "twin":
                source.born += 1
                source.calls.insert(place, replace(call, id=f"id{source.born}"))
                source.happened()
            case "resolve":
                source.change(place, state="completed", outcome="resolved")
            case "retell":
                source.change(place, summary=f"told {len(source.versions)} at {source.requests}")
            case "match":
                source.change(place, client=str(self.rng.randrange(3)), summary=f"matched at {source.requests}")
            case "merge":
                source.change(place, merged=call.merged + 1)
            case "vanish":
                source.vanish(place)
            case "swap":
                source.vanish(place)
                source.ring(call.at, phone="+3", summary=f"instead at {source.requests}")
            case _:
                raise AssertionError(what)

    def today(self) -> date:
        return self.source.now.astimezone(self.source.zone).date()

    def expected(self) -> list[tuple[CsvRow, Details]]:
        """Return every call of the practice, with its details."""
        return [(call.csv_row(self.source.zone), call.details) for call in self.source.calls]
