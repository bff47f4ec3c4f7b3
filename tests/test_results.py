"""The exit code of a sync is the worst of its lists (design: commands)."""

import json
from datetime import UTC, datetime

import pytest

from pipelines.core.pages import Changes
from pipelines.core.results import EndpointResult, State, SyncResult

NOON = datetime(2025, 6, 1, 12, tzinfo=UTC)


def result(state: State, held: int = 0, drift: tuple[str, ...] = ()) -> EndpointResult:
    return EndpointResult("a", "staff_tasks", state, "", Changes(drift=drift), 1, 1, NOON, held=held)


@pytest.mark.parametrize(
    ("results", "code"),
    [
        ([], 0),
        ([result("certified")], 0),
        ([result("certified"), result("withdrawn")], 0),
        ([result("certified", drift=("new field colour",))], 0),
        ([result("certified"), result("uncertified")], 3),
        ([result("certified", held=1)], 3),
        ([result("uncertified"), result("failed")], 1),
    ],
)
def test_exit_code(results: list[EndpointResult], code: int) -> None:
    assert SyncResult("run", NOON, tuple(results)).exit_code == code


def test_a_doubt_about_the_platform_is_one_about_the_run() -> None:
    assert SyncResult("run", NOON, (result("certified"),), doubts=("a clock that is days ahead",)).exit_code == 3


def test_json_holds_plain_values_only() -> None:
    report = SyncResult("run", NOON, (result("certified", drift=("new field colour",)),)).as_json()

    assert json.loads(json.dumps(report)) == {
        "run_id": "run",
        "source_clock": "2025-06-01T12:00:00+00:00",
        "exit_code": 0,
        "sign_ins": 0,
        "doubts": [],
        "notes": [],
        "results": [
            {
                "practice_id": "a",
                "endpoint": "staff_tasks",
                "state": "certified",
                "reason": "",
                "changes": {
                    "inserted": 0,
                    "updated": 0,
                    "deleted": 0,
                    "unchanged": 0,
                    "quarantined": 0,
                    "late": 0,
                    "drift": ["new field colour"],
                    "restated": 0,
                },
                "rows": 1,
                "requests": 1,
                "certified_through": "2025-06-01T12:00:00+00:00",
                "notes": [],
                "retryable": False,
                "held": 0,
                "retries": 0,
                "bytes": 0,
            }
        ],
    }
