"""Phone calls that never rest, read by the strategy: a state machine against a model practice."""

from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test
from support.call_machine import CallMachine


def test_no_certificate_is_false_and_every_sync_ends() -> None:
    run_state_machine_as_test(CallMachine, settings=settings(stateful_step_count=15))
