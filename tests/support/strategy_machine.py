"""State machines for the strategies of JSON lists: a source that always changes, a process killed at any point.

A machine's steps are events at the practice, passing time, and whole readings. During a reading events happen
before each request (a *motion*: the events for each request), once or for ever, and the process may be killed at
any request. After each reading everything in `claims` must be true, and the requests must be within the bound of
the strategy, which an endless reading would exceed. At the end the source rests: a sync must bring all rows, and a
full reconcile must make both equal.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from typing import Any, ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule
from support import certificate_claims
from support.model_driver import Driver, Killed, reading_of
from support.model_source import START, Asked, Journal, Manners, stamp
from support.model_store import ModelStore
from vetl.core.endpoint import Endpoint, QueryNames
from vetl.core.list_read import Outcome, Reading, Reconcile
from vetl.core.pages import Certificate, Row
from vetl.reading import read_list

Event = tuple[str, int]
"""A kind of event, and its row or its amount."""
PAGES = (4, 9, 100)
MISLED = 6
"""The factor for a reading that begins with a wrongly learnt page base, until the base is doubted."""
MOST_ROWS = 120
"""The rows of a list up to which events may add more. Otherwise a list that grows before each request would
become many times as long in one reading after the other."""

events = st.runner().flatmap(lambda machine: st.tuples(st.sampled_from(machine.KINDS), st.integers(0, 40)))
motions = st.lists(st.lists(events, max_size=2), max_size=6)
started_manners = st.runner().flatmap(lambda machine: machine.manners())


@dataclass
class EndedReading:
    """One reading that ended: `outcome` is None if its process was killed."""

    reading: Reading
    outcome: Outcome | None
    certificates: Sequence[Certificate]
    asked: Asked
    before: Mapping[str, Row]
    """The store before the reading."""
    quiet: bool
    swapped: bool
    """A row was deleted and another inserted between the same two requests, which no reading can notice."""


class StrategyMachine(RuleBasedStateMachine):
    """One list of one practice. A subclass names the list, its events, and its costs."""

    ENDPOINT: ClassVar[Endpoint]
    KINDS: ClassVar[Sequence[str]]
    ORDERS: ClassVar[Sequence[Any]]
    STATUSES: ClassVar[Sequence[str]]
    STAMPED: ClassVar[bool] = True
    SWAPS: ClassVar[Sequence[str]]
    """Kinds of certificates that a deletion and an insertion between the same two requests can deceive."""
    LEARNING: ClassVar[int] = 20
    """The most requests that learn how to read a list at rest, under the configured names."""
    STATUS: ClassVar[int] = 12
    """The same for the status, which is learnt when it is needed, and again if a row of a short list is gone."""
    FUTURE: ClassVar[int] = 60
    """The same, in addition, if the server refuses bounds in the future."""
    OTHER_NAMES: ClassVar[int] = 60
    """The same, in addition, if the server has other names."""
    REST: ClassVar[timedelta] = timedelta(hours=26)
    """How long the source rests before all changes must be in the store."""
    FOLLOWS: ClassVar[int] = 1
    """The factor on a list's first number of pages for reading it while it grows."""
    MOST_LEARNING: ClassVar[int] = 500
    """The same for a list that never rests."""

    @classmethod
    def manners(cls, **more: st.SearchStrategy[Any]) -> st.SearchStrategy[Manners]:
        """Return the server's behaviour; `more` are points of some lists only."""
        return st.builds(
            Manners,
            page_base=st.sampled_from([0, 1]),
            largest_page=st.sampled_from(PAGES),
            order=st.sampled_from(cls.ORDERS),
            refuses_beyond_end=st.booleans(),
            status_ignored=st.booleans(),
            **more,
        )

    def most_quiet(self, ended: EndedReading) -> int:
        """Return the bound of a reading without events, of a list that is already learnt."""
        raise NotImplementedError

    def most_openings(self) -> int:
        """Return how many first pages a reading may request, for any events."""
        raise NotImplementedError

    def check(self, ended: EndedReading) -> None:
        """Check the claims of this list beside those of all lists."""
        raise NotImplementedError

    @initialize(
        manners=started_manners,
        rows=st.integers(0, 40),
        apart=st.sampled_from([0, 1, 90, 18_000]),
    )
    def open(self, manners: Manners, rows: int, apart: int) -> None:
        self.source = Journal(Random(0), manners, stamped=self.STAMPED)
        self.store = ModelStore(rows_at_once=12)
        for number in range(rows):
            at = START - timedelta(seconds=apart * (rows - number))
            self.source.add(at, status=self.STATUSES[number % len(self.STATUSES)])
        self._swapped = False
        self.moved_at = START

    @rule(event=events)
    def happens(self, event: Event) -> None:
        kind, pick = event
        getattr(self, f"_{kind.replace(' ', '_')}")(pick)

    @rule(minutes=st.sampled_from([1, 17, 300, 1500, 12_000]))
    def time_passes(self, minutes: int) -> None:
        self.source.now += timedelta(minutes=minutes)

    @rule(
        reconcile=st.sampled_from(["no", "no", "no", "recent", "full"]),
        motion=motions,
        for_ever=st.booleans(),
        killed_at=st.none() | st.integers(1, 30),
        turns=st.integers(0, 9),
    )
    def read(
        self,
        *,
        reconcile: Reconcile,
        motion: Sequence[Sequence[Event]],
        for_ever: bool,
        killed_at: int | None,
        turns: int,
    ) -> None:
        """Read once, with events before its requests; `turns` shuffles the side-by-side readers."""
        self._swapped = False
        self.source.move = self._moving(motion, killed_at, for_ever=for_ever)
        self._read(reconcile, turns, quiet=not any(motion))

    def teardown(self) -> None:
        """Let the source rest: a sync brings everything, a full reconcile removes missing rows."""
        if not hasattr(self, "source"):
            return
        self.source.now += self.REST
        self._swapped = False
        assert self._rest("no")
        for identity, row in self.source.rows.items():
            assert row == self.store.rows.get(identity)
        self.source.now += timedelta(minutes=2)
        assert self._rest("full")
        self.check_rest()

    def check_rest(self) -> None:
        assert self.source.rows == self.store.rows

    def _rest(self, reconcile: Reconcile) -> bool:
        """Return whether a read at rest is certified; without a row, a platform that finds no id is in doubt."""
        outcome = self._read(reconcile, 0, quiet=True)
        in_doubt = outcome is not None and "no row is found by its id" in outcome.reason
        return outcome is not None and (outcome.certified or (in_doubt and not self.source.rows))

    def _moving(
        self, motion: Sequence[Sequence[Event]], killed_at: int | None, *, for_ever: bool
    ) -> Callable[[], None]:
        begun = self.source.requests

        def move() -> None:
            number = self.source.requests - begun
            if number == killed_at:
                raise Killed
            if motion and (for_ever or number <= len(motion)):
                due = motion[(number - 1) % len(motion)]
                self._all_happen(due[:1] if for_ever else due)

        return move

    def _all_happen(self, due: Sequence[Event]) -> None:
        rows = set(self.source.rows)
        for event in due:
            self.happens(event)
        now = set(self.source.rows)
        self._swapped = self._swapped or bool(rows - now and now - rows)

    def _read(self, reconcile: Reconcile, turns: int, *, quiet: bool) -> Outcome | None:
        """Read, and compare the certificates with the source."""
        source, store = self.source, self.store
        reading = reading_of(self.ENDPOINT, source, store, reconcile=reconcile)
        certified, cursor, before = len(store.certificates), store.cursor, dict(store.rows)
        store.missing, source.asked = set(), Asked()
        outcome = None
        with suppress(Killed):
            outcome = Driver(source, store, Random(turns)).run(read_list(reading))
        source.move = lambda: None
        if store.cursor != cursor:
            self.moved_at = reading.now
        certificates = store.certificates[certified:]
        self._check_all(EndedReading(reading, outcome, certificates, source.asked, before, quiet, self._swapped))
        return outcome

    def _check_all(self, ended: EndedReading) -> None:
        source, store = self.source, self.store
        certificate_claims.assert_nothing_is_invented(source, store)
        if not ended.swapped:
            certificate_claims.assert_no_false_deletion(source, store.missing, ended.reading.now)
        for certificate in ended.certificates:
            if certificate.certified and not (ended.swapped and certificate.kind in self.SWAPS):
                certificate_claims.assert_window_is_whole(source, store, certificate)
        self.check(ended)
        self._check_requests(ended)

    def _check_requests(self, ended: EndedReading) -> None:
        asked = ended.asked
        learnt = {} if ended.reading.reconcile == "full" else ended.reading.capabilities
        base = learnt.get("page", {"base": None})["base"]
        base_holds = base == self.source.manners.page_base
        assert len(asked.openings) <= self.most_openings(), f"{asked}"
        most = self.FOLLOWS * sum(full + 2 for full in asked.openings) + (0 if base_holds else self.MOST_LEARNING)
        assert asked.pages <= most, f"{asked}, at most {most} pages"
        if ended.quiet and ended.outcome:
            misled = base is not None and not base_holds
            most = self.most_quiet(ended) * (MISLED if misled else 1) + (0 if base_holds else self.LEARNING)
            undecided = learnt.get("status", {"result": "undecided"})["result"] == "undecided"
            most += self.STATUS if undecided else 0
            most += self.FUTURE if self.source.manners.refuses_future else 0
            most += self.OTHER_NAMES if self.source.manners.names != QueryNames() else 0
            assert asked.requests <= most, f"{asked} of a list at rest, at most {most}"

    @property
    def page_size(self) -> int:
        """Return how many rows a full page holds, as the list is read now."""
        learnt = self.store.capabilities.get("per_page", {"size": None})["size"]
        return min(learnt or 100, self.source.manners.largest_page)

    # The possible events. `pick` chooses the row, or the amount.

    def _some(self, pick: int) -> str | None:
        rows = list(self.source.rows)
        return rows[pick % len(rows)] if rows else None

    def _late(self, pick: int) -> datetime:
        """Return an instant whose rows may still become visible: less than the overlap of windows ago."""
        return self.source.now - timedelta(seconds=1 + 21 * pick)

    def _status(self, pick: int) -> str:
        return self.STATUSES[pick % len(self.STATUSES)]

    def _insert(self, pick: int) -> None:
        if len(self.source.rows) < MOST_ROWS:
            self.source.add(status=self._status(pick))

    def _late_insert(self, pick: int) -> None:
        if len(self.source.rows) < MOST_ROWS:
            self.source.add(self._late(pick), status=self._status(pick))

    def _update(self, pick: int) -> None:
        if identity := self._some(pick):
            self.source.touch(identity, status=self._status(pick))

    def _late_update(self, pick: int) -> None:
        identity = self._some(pick)
        if identity and self.source.rows[identity]["updated_at"] < stamp(self._late(pick)):
            self.source.touch(identity, self._late(pick), status=self._status(pick))

    def _delete(self, pick: int) -> None:
        if identity := self._some(pick):
            self.source.remove(identity)

    def _reorder(self, pick: int) -> None:
        self.source.manners.order = self.ORDERS[pick % len(self.ORDERS)]

    def _page_size(self, pick: int) -> None:
        self.source.manners.largest_page = PAGES[pick % len(PAGES)]
