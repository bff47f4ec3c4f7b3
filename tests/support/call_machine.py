"""Stories of a practice whose calls change all the time: a state machine, over any store."""

from collections import Counter
from datetime import timedelta
from random import Random
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from support.call_store import CallStore
from support.model_calls import ModelCalls
from support.moving_calls import HISTORY, MINUTES, MOTIONS, TURNS, ZONE, Practice
from vetl.reading import coverage
from vetl.reading.call_schedule import FILLED, MOST_DAYS
from vetl.reading.coverage import DaysCursor
from vetl.reading.crowded_day import PASSES, PASSES_AT_REST

motions = st.lists(st.sampled_from(MOTIONS), max_size=4)
details = st.sampled_from(["all", "recent", "off"])
sizes = st.integers(2, 8)
json_sizes = st.integers(6, 9)
"""Most calls that may come in before each request: a list that grows as fast as it is read would take long."""


class CallMachine(RuleBasedStateMachine):
    """A practice and its store.

    - no certificate is false: `Witness` checks it at each commit;
    - a sync ends even if something happens before each of its requests, within `requests_at_most`;
    - days that the cursor counts as read were certified and committed;
    - at rest, after a full reconcile, the store has every call and its details.
    """

    practice: Practice

    @initialize(turn=st.sampled_from(TURNS), seed=st.integers(0, 2**16))
    def opens(self, turn: Any, seed: int) -> None:
        rng = Random(seed)
        self.practice = Practice(CallStore(ZONE), ModelCalls(rng, turn, ZONE), rng)

    @rule(days_ago=st.integers(0, HISTORY), minute=st.sampled_from(MINUTES), phone=st.sampled_from(["+1", "+2"]))
    def somebody_called(self, days_ago: int, minute: int, phone: str) -> None:
        self.practice.backdate(days_ago, minute, phone)

    @rule(days_ago=st.integers(0, HISTORY), calls=st.integers(5, 20))
    def a_day_was_crowded(self, days_ago: int, calls: int) -> None:
        for number in range(calls):
            self.practice.backdate(days_ago, MINUTES[number % 3], "+1")

    @rule(what=st.sampled_from(MOTIONS), times=st.integers(1, 4))
    def something_happened(self, what: str, times: int) -> None:
        for _ in range(times):
            self.practice.happen(what)

    @rule(hours=st.integers(1, 60))
    def time_passes(self, hours: int) -> None:
        self.practice.source.now += timedelta(hours=hours)

    @rule(asked=sizes, given=sizes, json_asked=json_sizes, json_given=json_sizes)
    def pages_become_other(self, asked: int, given: int, json_asked: int, json_given: int) -> None:
        self.practice.page, self.practice.json_page = asked, json_asked
        self.practice.source.largest_page, self.practice.source.largest_json_page = given, json_given

    @rule(sorting=st.sampled_from(["listed", "per page", "shuffled"]), deepest=st.sampled_from([None, None, 0, 1]))
    def the_server_changes_its_manners(self, sorting: Any, deepest: int | None) -> None:
        source = self.practice.source
        source.sorting, source.lie, source.deepest = sorting, 0, deepest

    @rule(lie=st.sampled_from([-1, 1, 2]))
    def totals_lie(self, lie: int) -> None:
        """Make totals false at rest, after hidden calls are shown; before, no client could notice."""
        source = self.practice.source
        source.sorting, source.lie, source.deepest = "listed", lie, None

    @rule(motion=motions, reconcile=st.sampled_from(["no", "no", "recent", "full"]), details=details)
    def sync(self, motion: list[str], reconcile: Any, details: Any) -> None:
        before = self.practice.source.requests
        self.practice.sync(self._moving(motion), reconcile=reconcile, details=details)
        assert self.practice.source.requests - before <= requests_at_most(self.practice)

    @rule(motion=motions, requests=st.integers(1, 12))
    def sync_is_killed(self, motion: list[str], requests: int) -> None:
        self.practice.sync(self._moving(motion), killed_at=requests)

    def _moving(self, motion: list[str]) -> list[str]:
        return [] if self.practice.source.lie else motion

    @rule()
    def everything_rests(self) -> None:
        practice, source = self.practice, self.practice.source
        source.sorting, source.lie, source.deepest = "listed", 0, None

        outcome = practice.sync(reconcile="full", details="all")

        assert outcome is not None
        assert outcome.certified, outcome
        self.at_rest()
        if source.largest_page >= practice.page and source.largest_json_page >= practice.json_page:
            before = source.requests
            practice.sync(reconcile="full", details="off")
            assert source.requests - before <= requests_at_rest(practice)

    def at_rest(self) -> None:
        assert self.practice.store.attached() == Counter(self.practice.expected())

    def teardown(self) -> None:
        """Every story ends at rest."""
        if hasattr(self, "practice"):
            self.everything_rests()

    @invariant()
    def days_that_count_as_read_are_proven(self) -> None:
        covered = coverage.Coverage(DaysCursor.model_validate(self.practice.store.cursor).covered)
        for start, end in covered.spans:
            days = {start + timedelta(days=past) for past in range((end - start).days)}
            assert days <= self.practice.proven


def requests_at_most(practice: Practice) -> int:
    """Return the bound in the docstring of `call_schedule`. A page with a false total is read twice."""
    source = practice.source
    days = (practice.today() - practice.history_start).days + 3
    calls = max(len(version) for version in source.versions)
    page, json_page = min(practice.page, source.largest_page), min(practice.json_page, source.largest_json_page)
    crowded = PASSES * (calls // (json_page - PASSES + 1) + min(days, calls // page + 1))
    halves = (days.bit_length() + 1) * (2 * calls // json_page + 2 * days)
    passes = sum(calls // max(1, json_page - number) + days for number in range(PASSES_AT_REST))
    details = 3 + halves + passes
    return days + (6 if source.lie else 4) * days + crowded + details


def requests_at_rest(practice: Practice) -> int:
    """Return the requests of a full reconcile of known calls, without details."""
    source, page = practice.source, practice.page
    days = (practice.today() - practice.history_start).days
    tail = 1 if source.rows(practice.today(), practice.today()).total() < page else 3
    per_day = Counter(source.day(call) for call in source.calls).values()
    passes = sum(2 * (calls // (practice.json_page - 1) + 1) for calls in per_day if calls >= page)
    return 2 + days // MOST_DAYS + int(2 * len(source.calls) / (FILLED * page)) + tail + passes
