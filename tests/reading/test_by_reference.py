"""Clients and patients, by the ids that other rows mention, under every possible change.

The claim: a list certified through B, the source's clock when the reading began, holds every id that was mentioned
then, in a version that it had at the refresh age before B or later (a full reconcile: at B or later), unless the
source did not have it at some time since. No reading costs more than the budget.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import pytest
from hypothesis import settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule
from support import certificate_claims as claims, model_driver
from support.model_driver import Driver, Killed, reading_of
from support.model_store import Mentions, People
from vetl.core.errors import PracticeRefused, Unreachable, VetlError, Withheld
from vetl.core.list_read import Margins, Outcome, Reconcile
from vetl.core.steps import GetRecords, Step
from vetl.endpoints import CLIENTS
from vetl.reading import read_list
from vetl.reading.rows_by_id import ENOUGH

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def sync(
    source: People, store: Mentions, at: datetime = NOW, reconcile: Reconcile = "no", budget: int = 100
) -> Outcome:
    margins = Margins(reference_budget=budget)
    return model_driver.sync(CLIENTS, source, store, now=at, margins=margins, reconcile=reconcile)


def test_a_full_reconcile_beyond_its_budget_says_so_and_the_next_goes_on() -> None:
    source, store = People("a", "b", "c"), Mentions("a", "b", "c")
    sync(source, store)
    for identity in source.rows:
        source.appear(identity)

    first = sync(source, store, NOW + timedelta(minutes=1), "full", budget=2)
    second = sync(source, store, NOW + timedelta(minutes=2), "full", budget=2)

    assert "the budget of 2 ids is used up" in first.notes[0]
    assert store.rows == source.rows
    assert second.certified


def test_a_full_reconcile_reads_every_id_though_the_clock_was_put_back() -> None:
    source, store = People("a", "b"), Mentions("a", "b")
    sync(source, store)
    for identity in source.rows:
        source.appear(identity)

    sync(source, store, NOW - timedelta(hours=11), "full")

    assert store.rows == source.rows


def test_ids_of_which_none_is_found_are_not_missing() -> None:
    """An account that may not read clients may get the answer to an unknown id."""
    source, store = People(), Mentions("a", "b", "c")

    outcome = sync(source, store)

    assert outcome.reason == "clients: no row is found by its id (3 requested); may this account read them?"
    assert not outcome.certified
    assert store.missing == set()

    source.appear("a")
    assert sync(source, store).certified
    assert store.missing == {"b", "c"}


def test_an_id_that_was_merged_into_another_is_missing() -> None:
    """The platform answers it with the other's row. Two answers may be mixed up once on their way."""
    source, store = People("a", "b", "c"), Mentions("a", "b", "c")
    source.answers = {"b": [source.rows["a"], source.rows["a"]], "c": [source.rows["a"]]}

    assert sync(source, store).certified

    assert (set(store.rows), store.missing) == ({"a", "c"}, {"b"})


def test_ids_that_all_come_back_as_others_are_not_missing() -> None:
    """The ids that other rows mention may be of another kind than those of this list."""
    source, store = People("a", "b"), Mentions("a", "b")
    assert sync(source, store).certified
    source.answers = {identity: [{"id": f"{identity}-17"}] * 4 for identity in source.rows}

    outcome = sync(source, store, reconcile="full")

    assert outcome.reason == "clients: 2 of 2 rows came back without the id that was requested"
    assert (set(store.rows), store.missing) == ({"a", "b"}, set())


def test_a_row_without_an_id_is_not_taken_in_and_the_list_is_uncertain() -> None:
    source, store = People("a", "b"), Mentions("a", "b")
    source.answers = {"b": [{"name": "b"}, {"name": "b"}]}

    outcome = sync(source, store)

    assert not outcome.certified
    assert outcome.reason == "clients: 1 of 2 rows came back without the id that was requested"
    assert (set(store.rows), store.missing) == ({"a"}, set())


def not_given() -> Withheld:
    return Withheld("GET clients/b: status 200, but `success` is false: no such client")


def test_an_id_whose_answer_is_withheld_is_missing_if_another_is_found_after_it() -> None:
    source, store = People("a", "b"), Mentions("a", "b")
    source.answers = {"b": [not_given()]}

    assert sync(source, store).certified

    assert (set(store.rows), store.missing) == ({"a"}, {"b"})


def test_no_id_is_missing_if_the_platform_begins_to_withhold_every_answer() -> None:
    source, store = People("a", "b"), Mentions("a", "b")
    source.answers = {"a": [source.rows["a"], not_given()], "b": [not_given()]}

    with pytest.raises(Withheld, match="no such client; 1 of 2 ids could not be read"):
        sync(source, store)

    store.mention("c")
    source.answers = {identity: [not_given()] for identity in "abc"}
    with pytest.raises(Withheld, match="no such client; 2 of 2 ids could not be read"):
        sync(source, store)

    assert (set(store.rows), store.missing) == ({"a"}, set())


def broken() -> VetlError:
    return Unreachable("GET clients/a: 500 Internal Server Error")


def forbidden() -> VetlError:
    return PracticeRefused("GET clients/a: 403 Forbidden", status=403)


@pytest.mark.parametrize("error", [broken, forbidden])
def test_an_id_that_always_fails_keeps_no_other_row_from_the_store(error: Callable[[], VetlError]) -> None:
    """Neither then, nor when it is the only one that is due. It is not missing."""
    source, store = People("a", "b"), Mentions("a", "b")

    for due in (2, 1):
        source.answers = {"a": [error()]}
        outcome = sync(source, store)

        assert outcome.reason == f"clients: {error()}; 1 of {due} ids could not be read, the others are stored"
        assert (outcome.certified, set(store.rows), store.missing) == (False, {"b"}, set())


@pytest.mark.parametrize("error", [broken, forbidden])
def test_a_platform_that_fails_from_one_request_on_is_no_matter_of_single_ids(
    error: Callable[[], VetlError],
) -> None:
    source, store = People("a", "b"), Mentions("a", "b")
    source.answers = {"a": [source.rows["a"], error()], "b": [error()]}

    with pytest.raises(type(error()), match="; 1 of 2 ids could not be read, the others are stored"):
        sync(source, store)


def test_ids_behind_many_that_fail_in_a_row_are_read() -> None:
    class Impatient(Driver):
        """Leaves out the ids behind four that fail in a row, as the client does."""

        def _perform(self, step: Step[Any]) -> Any:
            answers = super()._perform(step)
            if not isinstance(step, GetRecords):
                return answers
            rows, failed = list(answers.items()), 0
            for number, (_, row) in enumerate(rows):
                failed = failed + 1 if isinstance(row, VetlError) else 0
                if failed == 4:
                    return dict(rows[: number + 1])
            return answers

    failing, others = [f"a{number}" for number in range(9)], ["b", "c", "d"]
    source, store = People(*failing, *others), Mentions("b")
    sync(source, store)
    for identity in failing + others:
        store.mention(identity)
    source.answers = {identity: [broken(), broken(), broken()] for identity in failing}

    outcome = Impatient(source, store, Random(1)).run(read_list(reading_of(CLIENTS, source, store)))

    assert outcome.reason.startswith(f"clients: {broken()}; 4 of 11 ids could not be read")
    assert set(store.rows) == set(others)


IDS = st.sampled_from(["a", "b", "c", "d", "e"])
EVENTS = st.tuples(st.sampled_from(["mention", "appear", "delete"]), IDS)


class Clients(RuleBasedStateMachine):
    """Clients appear, are renamed, vanish, and are mentioned by other rows. One of them stays."""

    def __init__(self) -> None:
        super().__init__()
        self.source, self.store = People("a", "b"), Mentions("a")

    @rule(event=EVENTS)
    def happens(self, event: tuple[str, str]) -> None:
        kind, identity = event
        if kind == "mention":
            self.store.mention(identity)
        elif kind == "appear":
            self.source.appear(identity)
        elif identity in self.source.rows and identity != "a":
            self.source.remove(identity)

    @rule(hours=st.sampled_from([1, 50, 170]))
    def time_passes(self, hours: int) -> None:
        self.source.now += timedelta(hours=hours)

    @rule(
        reconcile=st.sampled_from(["no", "full"]),
        motion=st.lists(EVENTS, max_size=4),
        killed_at=st.none() | st.integers(1, 8),
        budget=st.sampled_from([0, 1, 3, 100]),
    )
    def read(
        self, reconcile: Reconcile, motion: Sequence[tuple[str, str]], killed_at: int | None, budget: int
    ) -> None:
        """Read once; before each request one thing happens, for ever."""
        begun = self.source.requests

        def move() -> None:
            if self.source.requests - begun == killed_at:
                raise Killed
            if motion:
                self.happens(motion[self.source.requests % len(motion)])

        self.source.move = move
        self._read(reconcile, budget)

    def _read(self, reconcile: Reconcile, budget: int) -> Outcome | None:
        source, store = self.source, self.store
        margins = Margins(reference_budget=budget)
        reading = reading_of(CLIENTS, source, store, margins=margins, reconcile=reconcile)
        ids, begun, outcome = store.mentioned | store.read_at.keys() | store.absent.keys(), source.requests, None
        store.missing = set()
        with suppress(Killed):
            outcome = Driver(source, store, Random(0)).run(read_list(reading))
        source.move = lambda: None
        requests = source.requests - begun
        assert requests <= min(budget, len(ids)) + (ENOUGH if budget else 0)
        claims.assert_nothing_is_invented(source, store)
        claims.assert_no_false_deletion(source, store.missing, reading.now)
        if outcome and outcome.through:
            since = reading.now - (timedelta() if reconcile == "full" else reading.margins.refresh_after)
            for identity, versions in claims.there(source, since, source.now):
                if identity in ids:
                    claims.assert_no_older_than(source, store, versions[0], identity, f"{reading}")
        return outcome

    def teardown(self) -> None:
        """The source rests: a full reconcile makes the store equal to it, and a reading after it costs nothing."""
        self.source.now += timedelta(minutes=1)
        assert self._read("full", 100)
        ids = self.store.read_at.keys() | self.store.absent.keys()
        assert self.store.mentioned == set()
        assert {key: row for key, row in self.source.rows.items() if key in ids} == self.store.rows
        begun = self.source.requests
        assert self._read("no", 100)
        assert self.source.requests == begun


TestClients = Clients.TestCase
TestClients.settings = settings(stateful_step_count=12)
