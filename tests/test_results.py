"""The exit code of a sync is the worst of its lists (docs/exit-codes.md)."""

from datetime import UTC, datetime

import pytest
from vetl.core.list_read import EndpointResult, State, SyncResult
from vetl.core.pages import Changes

NOON = datetime(2025, 6, 1, 12, tzinfo=UTC)


def result(state: State, held: int = 0, drift: tuple[str, ...] = ()) -> EndpointResult:
    return EndpointResult("a", "staff_tasks", state, "", Changes(drift=drift), 1, 1, NOON, held=held)


@pytest.mark.parametrize(
    ("results", "doubts", "code"),
    [
        ([], (), 0),
        ([result("certified")], (), 0),
        ([result("certified")], ("a clock that is days ahead",), 3),
        ([result("certified"), result("withdrawn")], (), 0),
        ([result("certified", drift=("new field colour",))], (), 0),
        ([result("certified"), result("uncertified")], (), 3),
        ([result("certified", held=1)], (), 3),
        ([result("uncertified"), result("failed")], (), 1),
    ],
)
def test_exit_code(results: list[EndpointResult], doubts: tuple[str, ...], code: int) -> None:
    assert SyncResult("run", NOON, tuple(results), doubts=doubts).exit_code == code
