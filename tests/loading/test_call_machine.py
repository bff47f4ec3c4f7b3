"""Calls that change all the time, read into a real warehouse: days replaced, keys kept, details matched.

The stories and their invariants are those of `tests/strategies/test_call_machine.py`; keys are added here.
"""

from collections import Counter, defaultdict
from random import Random
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, run_state_machine_as_test
from support.call_machine import CallMachine
from support.call_warehouse import CallWarehouse, as_page
from support.examples import examples
from support.model_calls import ModelCalls
from support.moving_calls import TURNS, ZONE, Practice
from support.warehouse_with_rows import Filled


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
        """Return the instants by id."""
        super().at_rest()
        calls = self.practice.source.calls
        assert self.practice.store.instants() == Counter((call.id, call.at.replace(second=0)) for call in calls)


def test_a_warehouse_certifies_nothing_false_and_keys_survive(shared: Filled) -> None:
    machine = type("SharedWarehouse", (WarehouseMachine,), {"filled": shared})
    few = settings(
        max_examples=examples(6),
        stateful_step_count=8,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    run_state_machine_as_test(machine, settings=few)
