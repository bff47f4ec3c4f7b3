"""For every reading of each point that the contract leaves open, a sync equals the source."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from sandbox import ListSwitches, Switches

Opened = Callable[..., Any]


PAGED = ("booking_sessions", "appointments", "ai_outbound", "staff_tasks")
LISTS = ("phone_calls", *PAGED)


def every_list(**changes: Any) -> dict[str, Any]:
    """Return the same switches for every list except the calls."""
    return {name: ListSwitches(**changes) for name in PAGED}


READINGS = {
    "oldest first, over-large pages and unknown parameters refused, short tokens": Switches(
        **every_list(order="updated_asc", over_large="refuse"),
        phone_calls=ListSwitches(order="created_asc", over_large="refuse"),
        unknown_parameters="refused",
        token_lifetime_seconds=5,
        sign_in_status=201,
    ),
    "no order, integer ids, times with an offset": Switches(
        **every_list(order="unordered"),
        phone_calls=ListSwitches(order="unordered"),
        integer_ids=True,
        timestamps="practice",
    ),
    "half-open bounds, times in seconds, humanised labels": Switches(
        **every_list(bounds="[)"), timestamps="seconds", csv_labels="humanized", csv_newline="\r\n"
    ),
}


@pytest.mark.parametrize("reading", READINGS)
def test_a_sync_equals_the_source_in_every_reading_of_the_contract(opened: Opened, reading: str) -> None:
    practices = opened(days=21, calls=150, practices=1, switches=READINGS[reading])

    practices.sync(endpoints=LISTS)
    practices.platform.advance(timedelta(hours=30))
    result = practices.sync(endpoints=LISTS)

    assert practices.differences(LISTS) == []
    assert result.exit_code in (0, 3), result
