"""`dbt source freshness`: how long ago each list was certified, on a clock that may not be ours."""

import json
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
from support.dbt_build import Build, run
from support.random_rows import PRACTICES, SOURCE_CLOCK

HOUR = timedelta(hours=1)


def certify(warehouse: Path, endpoint: str, **ages: timedelta) -> None:
    """Write a certificate for each practice, with the time between its last read and the last sync."""
    with duckdb.connect(warehouse) as connection:
        for practice, age in ages.items():
            read_at = SOURCE_CLOCK - age
            connection.execute(
                "insert into control.windows by name select $1 as practice_id, $2 as endpoint, 'new' as run_id,"
                " 'closed' as kind, 0 as total_first, 0 as total_last, 0 as rows, 1 as requests, 0 as retries,"
                " true as certified, 'ids' as reason, $3 as started_at, $3 as finished_at",
                [practice, endpoint, read_at],
            )


def test_a_list_is_as_fresh_as_its_last_certificate(filled: Build, tmp_path: Path) -> None:
    """The source's clock is far from ours; one practice behind makes its list stale; the command never fails."""
    warehouse = Path(shutil.copy(filled.warehouse, tmp_path))
    with duckdb.connect(warehouse) as connection:
        connection.execute(
            "insert into control.runs by name select 'new' as run_id, 'sync' as command, $1 as started_at,"
            " $1 as finished_at, $2 as source_clock, 0 as exit_code",
            [datetime.now(UTC) - HOUR, SOURCE_CLOCK],
        )
    names = [practice.id for practice in PRACTICES]
    certify(warehouse, "staff_tasks", **dict.fromkeys(names, HOUR))
    certify(warehouse, "phone_calls", **dict.fromkeys(names, HOUR) | {names[0]: 26 * HOUR})
    certify(warehouse, "ai_outbound", **dict.fromkeys(names, 24 * HOUR))

    done = run(warehouse, tmp_path, "source", "freshness")

    results = json.loads((tmp_path / "target" / "sources.json").read_text())["results"]
    assert done.exit_code == 0, done.output
    assert {result["unique_id"].split(".")[-1]: result["status"] for result in results} == {
        "staff_tasks": "pass",
        "phone_calls": "warn",
        "ai_outbound_requests": "pass",
        "booking_sessions": "warn",
        "appointments": "warn",
    }
