"""Calls that change all the time, read into a real warehouse: days replaced, keys kept, details matched.

The stories and their invariants are those of `tests/reading/test_date_windows.py`. Saves of the strategy go
through `vetl.store`, and keys are added here.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import UTC, date
from random import Random
from typing import Any

from hypothesis import HealthCheck, settings, strategies as st
from hypothesis.stateful import initialize, invariant, run_state_machine_as_test
from support.call_machine import CallMachine
from support.call_store import Details
from support.examples import examples
from support.model_calls import CsvRow, ModelCalls
from support.moving_calls import TURNS, ZONE, Practice
from support.warehouse_with_rows import Filled, call_line, csv_page
from vetl.core.steps import Question, Save
from vetl.endpoints import PHONE_CALLS
from vetl.partner.calls_csv import COLUMNS
from vetl.store.phone_calls.csv_frames import CallTexts

CELLS = ("phone_number", "state", "client_name", "outcome", "summary")
SHOWN = "strftime(called_at_local, '%Y-%m-%d %H:%M'), " + ", ".join(f"coalesce({name}, '')" for name in CELLS)
NOT_TOLD = {column.raw: "" for column in COLUMNS[1:] if column.raw not in CELLS}
"""Columns of the CSV that the model leaves empty, as it does in its JSON records."""


def as_page(rows: Sequence[CsvRow]) -> CallTexts:
    lines = [call_line(minute, **dict(zip(CELLS, cells, strict=True)), **NOT_TOLD) for minute, *cells in rows]
    return csv_page(*lines)


class CallWarehouse:
    """One practice of a warehouse. Saves wait until they are committed, as in the engine's buffer."""

    def __init__(self, filled: Filled) -> None:
        self._filled = filled
        self._waiting: list[Save] = []

    @property
    def cursor(self) -> dict[str, Any]:
        return self._filled.warehouse.cursor(self._filled.practice.id, PHONE_CALLS.name) or {}

    @property
    def capabilities(self) -> dict[str, Any]:
        return self._filled.warehouse.capabilities(self._filled.practice.id, PHONE_CALLS.name)

    def put(self, step: Save) -> None:
        self._waiting.append(step)

    def lose(self) -> None:
        self._waiting = []

    def flush(self) -> None:
        waiting, self._waiting = self._waiting, []
        if waiting:
            self._filled.warehouse.commit("run", self._filled.practice.id, PHONE_CALLS, waiting)

    def answer(self, question: Question) -> Any:
        return self._filled.answer(PHONE_CALLS, question)

    def rows(self, first: date, last: date) -> Counter[CsvRow]:
        """Return the stored calls of these days, as the CSV shows them."""
        return Counter(self._select(SHOWN, f"and call_date between '{first}' and '{last}'"))

    def attached(self) -> Counter[tuple[CsvRow, Details | None]]:
        rows = self._select(f"{SHOWN}, id, client_id, remote_client_id")
        return Counter((row[:6], row[6:] if row[6] else None) for row in rows)

    def instants(self) -> Counter[Any]:
        """Return the id and the minute of every stored call, in UTC."""
        rows = self._select("id, called_at")
        return Counter((identity, at.astimezone(UTC)) for identity, at in rows)

    def keys(self) -> list[tuple[str, str, str]]:
        """Return the key, the local minute and the phone number of every call that was ever stored."""
        return self._filled.rows(
            "select call_key, strftime(called_at_local, '%Y-%m-%d %H:%M'), phone_number from raw.phone_calls"
            f" where practice_id = '{self._filled.practice.id}'"
        )

    def _select(self, columns: str, condition: str = "") -> list[tuple[Any, ...]]:
        return self._filled.rows(
            f"select {columns} from raw.phone_calls"
            f" where practice_id = '{self._filled.practice.id}' and _deleted_at is null {condition}"
        )


class WarehouseMachine(CallMachine):
    """As `CallMachine`, and:

    - a key belongs to one minute and phone number for ever, and to one call;
    - a call that is the only one with its minute and number keeps its key, in any later state;
    - at rest the instant of every call is right, in the repeated hour too.
    """

    filled: Filled

    @initialize(turn=st.sampled_from(TURNS), seed=st.integers(0, 2**16))
    def opens(self, turn: Any, seed: int) -> None:
        rng = Random(seed)
        self.filled.another_practice(ZONE.key)
        source = ModelCalls(rng, turn, ZONE)
        source.frame = as_page
        self.practice = Practice(CallWarehouse(self.filled), source, rng)
        self.owners: dict[str, tuple[str, ...]] = {}

    @invariant()
    def keys_never_change_hands(self) -> None:
        stored = self.practice.store.keys()
        assert len({key for key, *_ in stored}) == len(stored)
        keys: dict[tuple[str, ...], set[str]] = defaultdict(set)
        for key, minute, phone in stored:
            assert self.owners.setdefault(key, (minute, phone)) == (minute, phone)
            keys[minute, phone].add(key)
        source = self.practice.source
        ever = Counter(call.csv_row(source.zone)[:2] for call in source.ever.values())
        for group, calls in ever.items():
            assert len(keys[group]) <= calls

    def at_rest(self) -> None:
        super().at_rest()
        calls = self.practice.source.calls
        assert self.practice.store.instants() == Counter((call.id, call.at.replace(second=0)) for call in calls)


def test_a_warehouse_certifies_nothing_false_and_keys_survive(shared: Filled) -> None:
    machine = type("SharedWarehouse", (WarehouseMachine,), {"filled": shared})
    large = [HealthCheck.too_slow, HealthCheck.data_too_large]
    few = settings(max_examples=examples(6), stateful_step_count=8, suppress_health_check=large)
    run_state_machine_as_test(machine, settings=few)
