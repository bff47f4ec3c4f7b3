"""How the outcome of a sync shows in Dagster: what is retried, what fails, and what goes on all the same."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import dagster as dg
import pytest

from pipelines.endpoints import by_name
from pipelines.errors import ConfigurationError, Unreachable, VetlError
from pipelines.orchestration import assets
from pipelines.orchestration.assets import list_asset, raw_key
from pipelines.orchestration.checks import certified_check
from pipelines.orchestration.resources import VetlResource
from pipelines.pages import Changes
from pipelines.results import EndpointResult, State, SyncResult

TASKS = by_name("staff_tasks")
AT_ONCE = dg.RetryPolicy(max_retries=2, delay=0)
NOON = datetime(2025, 6, 1, 12, tzinfo=UTC)

Outcome = Callable[[], SyncResult]


def outcome(practice_id: str, state: State, reason: str = "", *, retryable: bool = False) -> EndpointResult:
    return EndpointResult(
        practice_id=practice_id,
        endpoint="staff_tasks",
        state=state,
        reason=reason,
        changes=Changes(inserted=3, updated=2),
        rows=10,
        requests=4,
        certified_through=NOON if state == "certified" else None,
        notes=("new field colour",),
        retryable=retryable,
    )


def materialised(
    monkeypatch: pytest.MonkeyPatch, *outcomes: SyncResult | VetlError
) -> tuple[dg.ExecuteInProcessResult, int]:
    """Run the asset, its check and something downstream; each attempt of the sync takes the next outcome."""
    attempts = iter(outcomes)
    made: list[object] = []

    def next_outcome(*_: object, **__: object) -> SyncResult:
        made.append(None)
        result = next(attempts)
        if isinstance(result, VetlError):
            raise result
        return result

    monkeypatch.setattr(assets, "run_sync", next_outcome)

    @dg.asset(deps=[raw_key("staff_tasks")])
    def marts() -> None: ...

    result = dg.materialize(
        [list_asset(TASKS, AT_ONCE), certified_check(TASKS), marts],
        resources={"vetl": VetlResource()},
        instance=dg.DagsterInstance.ephemeral(),
        raise_on_error=False,
    )
    return result, len(made)


def synced(*results: EndpointResult) -> SyncResult:
    return SyncResult("run", NOON, results)


def keys(result: dg.ExecuteInProcessResult) -> set[str]:
    return {
        event.asset_key.to_user_string() for event in result.get_asset_materialization_events() if event.asset_key
    }


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_certified_list_tells_rows_requests_changes_and_through_when(monkeypatch: pytest.MonkeyPatch) -> None:
    result, _ = materialised(monkeypatch, synced(outcome("a", "certified"), outcome("b", "certified")))

    assert result.success
    [check] = result.get_asset_check_evaluations()
    assert check.passed
    metadata = result.asset_materializations_for_node("partner__staff_tasks")[0].metadata
    assert metadata["dagster/row_count"].value == 20
    assert metadata["requests"].value == 8
    assert metadata["certified"].value is True
    assert metadata["certified_through"].value == NOON.timestamp()
    assert "| a | certified | 10 | 3 | 2 |" in str(metadata["changes"].value)
    assert "a: new field colour" in str(metadata["notes"].value)


@pytest.mark.parametrize("state", ["uncertified", "withdrawn"])
def test_an_uncertified_list_warns_and_a_withdrawn_one_does_not(
    state: State, monkeypatch: pytest.MonkeyPatch
) -> None:
    result, _ = materialised(monkeypatch, synced(outcome("a", state, "totals moved")))

    assert result.success
    [check] = result.get_asset_check_evaluations()
    assert check.passed == (state == "withdrawn")
    assert check.severity == dg.AssetCheckSeverity.WARN


def test_a_refused_list_fails_the_run_once_and_the_marts_are_built_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    result, attempts = materialised(
        monkeypatch, synced(outcome("a", "certified"), outcome("b", "failed", "403: not for you"))
    )

    assert attempts == 1
    assert not result.success
    assert keys(result) == {"partner/staff_tasks", "marts"}
    [check] = result.get_asset_check_evaluations()
    assert check.severity == dg.AssetCheckSeverity.ERROR
    assert "403: not for you" in str(check.metadata["b"].value)
    [failure] = [event for event in result.all_node_events if event.is_step_failure]
    assert "b: 403: not for you" in str(failure.step_failure_data)


def test_what_may_work_in_a_moment_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    down = synced(outcome("a", "failed", "no connection", retryable=True))

    result, attempts = materialised(monkeypatch, down, Unreachable("sign-in"), synced(outcome("a", "certified")))

    assert attempts == 3
    assert result.success


def test_after_the_last_try_the_list_is_failed_and_the_rest_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    down = synced(outcome("a", "failed", "no connection", retryable=True))

    result, attempts = materialised(monkeypatch, down, down, down)

    assert attempts == 3
    assert not result.success
    assert "marts" in keys(result)


def test_a_wrong_setting_is_a_failure_that_is_not_retried(monkeypatch: pytest.MonkeyPatch) -> None:
    result, attempts = materialised(monkeypatch, ConfigurationError("VETL_PARTNER__PASSWORD: not set"))

    assert attempts == 1
    assert not result.success
    assert keys(result) == set()


def test_settings_are_read_from_the_file_of_the_resource(tmp_path: Path) -> None:
    file = tmp_path / "other.toml"
    file.write_text("[phone_calls]\ndetails = 'off'", "utf-8")

    assert VetlResource(config=str(file)).settings().phone_calls.details == "off"

    with pytest.raises(dg.Failure) as caught:
        VetlResource(config=str(tmp_path / "nowhere.toml")).settings()
    assert caught.value.allow_retries is False
