"""Each check turns red for its own reason and names the practice; only errors fail the run."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import dagster as dg
import duckdb
import pytest
from support.practice_site import practice_tables, vetl_resource
from vetl.addons.watch import dagster as watch
from vetl.jobs.judgements import LIST_CHECKS
from vetl.orchestration.checks import check_lists, check_published
from vetl.orchestration.resources import PUBLISHED, raw_key
from vetl.store.notes import write_snapshot
from vetl.store.tables import FIRST

KEY = raw_key("staff_tasks")


def entry(practice: str = "loc-1", **changed: Any) -> dict[str, Any]:
    """Return a snapshot entry of a list that was read just now."""
    now = datetime.now(UTC).isoformat()
    certified = attempt("certified", "ids equal the total")
    return {
        "practice_id": practice,
        "endpoint": "staff_tasks",
        "state": changed.get("attempt", certified)["state"],
        "last_read": now,
        "attempt": certified,
        "certificate": None,
        "quarantined": 0,
        "drift": [],
        **changed,
    }


def attempt(state: str, reason: str, age: timedelta = timedelta()) -> dict[str, str | None]:
    at = (datetime.now(UTC) - age).isoformat()
    return {"state": state, "reason": reason, "finished": at, "last_read": None if state == "failed" else at}


def run(
    folder: Path, check: dg.AssetChecksDefinition, name: str = "watch", settings: str = ""
) -> tuple[dg.ExecuteInProcessResult, dict[str, Any]]:
    """Run the checks of tasks or of the published file; return them by name."""
    vetl = vetl_resource(folder, settings + practice_tables("loc-1", "loc-2", "loc-3"))
    job = dg.define_asset_job(name, dg.AssetSelection.checks(check))
    definitions = dg.Definitions(asset_checks=[check], jobs=[job], resources={"vetl": vetl})
    result = definitions.resolve_job_def(name).execute_in_process(raise_on_error=False)
    checks = {
        item.check_name: item
        for item in result.get_asset_check_evaluations()
        if item.asset_key in (KEY, PUBLISHED)
    }
    return result, checks


def snapshot(folder: Path, *entries: Mapping[str, Any]) -> None:
    file = folder / "warehouse/data/vetl.duckdb"
    write_snapshot(file, FIRST, None, [json.dumps(item) for item in entries])


def test_lists_that_are_as_they_should_be_pass_every_check(tmp_path: Path) -> None:
    snapshot(tmp_path, entry("loc-1"), entry("loc-2"))

    result, checks = run(tmp_path, check_lists)

    assert result.success
    assert {name: check.passed for name, check in checks.items()} == dict.fromkeys(LIST_CHECKS, True)


@pytest.mark.parametrize(
    ("check", "changed", "severity", "detail"),
    [
        ("certified", {"attempt": attempt("failed", "403: not for you")}, "ERROR", "403: not for you"),
        ("certified", {"attempt": attempt("uncertified", "totals moved")}, "WARN", "totals moved"),
        ("fresh", {"attempt": attempt("certified", "", timedelta(days=3))}, "ERROR", "loc-2"),
        ("quarantine", {"quarantined": 3}, "WARN", "| loc-2 | 3 |"),
        ("as_in_the_contract", {"drift": ["new_field: colour"]}, "WARN", "colour"),
    ],
)
def test_one_practice_turns_the_check_of_its_reason_red(
    check: str, changed: dict[str, Any], severity: str, detail: str, tmp_path: Path
) -> None:
    snapshot(tmp_path, entry("loc-1"), entry("loc-2", **changed))

    result, checks = run(tmp_path, check_lists)

    assert [name for name, item in checks.items() if not item.passed] == [check]
    assert checks[check].severity.name == severity
    assert detail in str(checks[check].metadata["found"].value)
    assert "loc-1" not in str(checks[check].metadata["found"].value)
    words = checks[check].description or ""
    assert words.startswith("loc-2: ")
    assert detail.replace("| loc-2 | 3 |", "3 rows") in words
    assert result.success == (severity == "WARN")


@pytest.mark.parametrize(("days", "is_fresh"), [(3, False), (0, True)])
def test_a_list_that_fails_is_stale_since_it_was_last_read_by_this_machines_clock(
    tmp_path: Path, days: int, *, is_fresh: bool
) -> None:
    """The time of the last window is of the platform's clock, which may be a year ahead or behind."""
    read = (datetime.now(UTC) - timedelta(days=days)).isoformat()
    failed = {**attempt("failed", "no connection"), "last_read": read}
    by_the_platform = (datetime.now(UTC) + timedelta(days=365 if days else -365)).isoformat()
    snapshot(tmp_path, entry("loc-1", attempt=failed, last_read=by_the_platform))

    _, checks = run(tmp_path, check_lists)

    assert checks["fresh"].passed == is_fresh
    assert not checks["certified"].passed


@pytest.mark.parametrize(
    ("refused", "settings", "is_red"),
    [(1, "", False), (2, "", True), (1, "[schedule]\nwatch = 'off'\n", True)],
    ids=["one-of-three", "most", "no-job-watch"],
)
def test_one_refused_practice_makes_watch_red_and_not_every_run(
    refused: int, settings: str, tmp_path: Path, *, is_red: bool
) -> None:
    failed = attempt("failed", "403: not for you")
    snapshot(tmp_path, *(entry(f"loc-{number}", attempt=failed) for number in range(1, refused + 1)))

    everything, checks = run(tmp_path, check_lists, "everything", settings)
    watch, _ = run(tmp_path, check_lists, settings=settings)

    assert not checks["certified"].passed
    assert checks["certified"].severity is dg.AssetCheckSeverity.ERROR
    assert (everything.success, watch.success) == (not is_red, False)


def test_all_lists_of_a_refused_practice_are_one_line_of_the_error(tmp_path: Path) -> None:
    refused = attempt("failed", "403: not for you")
    snapshot(
        tmp_path,
        *(entry("loc-1", endpoint=name, attempt=refused) for name in ("staff_tasks", "clients")),
        entry("loc-2", attempt=attempt("certified", "", timedelta(days=3))),
    )

    result, _ = run(tmp_path, check_lists)

    [event] = [event for event in result.all_events if event.event_type is dg.DagsterEventType.STEP_FAILURE]
    failure = event.step_failure_data.user_failure_data
    assert failure
    lines = (failure.description or "").splitlines()
    assert lines[0] == "loc-1: 2 lists are not certified; staff_tasks: failed: 403: not for you"
    assert lines[1].startswith("loc-2: a list is not fresh; staff_tasks: last read ")
    assert lines[1].endswith(" opening hours since")
    assert len(lines) == 2


def test_a_retired_practice_turns_nothing_red(tmp_path: Path) -> None:
    snapshot(tmp_path, entry("loc-1"), entry("loc-9", quarantined=5, attempt=attempt("failed", "gone")))

    result, _ = run(tmp_path, check_lists)

    assert result.success


def publish(folder: Path, *, here: int) -> None:
    """Publish a file with the proof of one practice."""
    file = folder / "warehouse/data/analytics.duckdb"
    file.parent.mkdir(parents=True)
    with duckdb.connect(file) as connection:
        connection.execute(
            "create schema meta; create table meta.proof as select 'loc-1' as practice_id,"
            f" 'staff_tasks' as endpoint, 100 as source_count, {here} as warehouse_count"
        )


@pytest.mark.parametrize(
    ("here", "red"),
    [(100, []), (101, []), (99, ["equals_source"])],
    ids=["as-it-was-counted", "has-grown-since", "a-row-is-missing"],
)
def test_the_published_file_is_compared_with_the_source(here: int, red: list[str], tmp_path: Path) -> None:
    publish(tmp_path, here=here)

    watch.definitions()
    result, checks = run(tmp_path, check_published())

    assert result.success
    assert [name for name, check in checks.items() if not check.passed and name != "thresholds"] == red
    older = str(checks["thresholds"].metadata["found"].value)
    assert "| error |" in older, "as in a file of an older vetl"
    assert all("loc-1" in str(checks[name].metadata["found"].value) for name in red)
