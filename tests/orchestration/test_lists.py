"""Results of a sync in Dagster: which are retried, which fail, and which let the run continue."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from support.practice_site import practice_tables, vetl_resource
from vetl.core.errors import Unreachable, VetlError
from vetl.core.list_read import EndpointResult, State, SyncResult
from vetl.core.pages import Changes
from vetl.endpoints import REGISTRY
from vetl.orchestration import lists
from vetl.orchestration.lists import NAME, list_assets
from vetl.orchestration.resources import raw_key
from vetl.store.notes import ListStatus

AT_ONCE = dg.RetryPolicy(max_retries=2, delay=0)
NOON = datetime(2025, 6, 1, 12, tzinfo=UTC)
TODAY = datetime.now(UTC).isoformat()
TASKS, CALLS = raw_key("staff_tasks"), raw_key("phone_calls")
TABLES = {raw_key(endpoint.table): dg.AssetSpec(raw_key(endpoint.table)) for endpoint in REGISTRY}


def outcome(practice_id: str, state: State, reason: str = "", *, retryable: bool = False) -> EndpointResult:
    return EndpointResult(
        practice_id=practice_id,
        endpoint="staff_tasks",
        state=state,
        reason=reason,
        changes=Changes(inserted=3, updated=2) if practice_id == "a" else Changes(),
        rows=10,
        requests=4,
        certified_through=NOON if state == "certified" else None,
        notes=("new field colour",),
        retryable=retryable,
        retries=1,
        bytes=1_000,
    )


def stored_lists(_: object) -> list[ListStatus]:
    covered = {"covered": [("2024-12-31T23:00:00Z", "2025-02-01T00:00:00Z"), ("2025-03-01T00:00:00Z", TODAY)]}
    of: dict[str, Any] = {"endpoint": "staff_tasks", "state": "certified", "certified_through": TODAY}
    return [ListStatus(practice_id="a", rows=60, cursor=covered, **of), ListStatus(practice_id="b", rows=10, **of)]


def synced(*results: EndpointResult) -> SyncResult:
    return SyncResult("run", NOON, results)


class Site:
    """The assets of the lists, with a downstream asset, and a sync that returns the next of given results."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
        self._patch = monkeypatch
        self.asked: list[dict[str, Any]] = []
        self.vetl = vetl_resource(folder, practice_tables(*"abc"))
        self.instance = dg.DagsterInstance.ephemeral()

    def run(
        self, *outcomes: SyncResult | VetlError, tags: dict[str, str] | None = None, config: Any = None
    ) -> Any:
        attempts = iter(outcomes)

        def next_outcome(*_: object, **order: object) -> SyncResult:
            self.asked.append(order)
            result = next(attempts)
            if isinstance(result, VetlError):
                raise result
            return result

        self._patch.setattr(lists, "run_sync", next_outcome)
        self._patch.setattr(lists, "stored_lists", stored_lists)

        @dg.asset(deps=[TASKS])
        def marts() -> None: ...

        definitions = dg.Definitions(
            assets=[list_assets(TABLES, AT_ONCE), marts],
            jobs=[dg.define_asset_job("job", dg.AssetSelection.assets(TASKS, CALLS, marts))],
            resources={"vetl": self.vetl},
        )
        job = definitions.resolve_job_def("job")
        return job.execute_in_process(instance=self.instance, raise_on_error=False, tags=tags, run_config=config)

    def materializations(self, result: Any) -> dict[str | None, Any]:
        """Return the materializations of the list by practice; `None` is the entry of all practices."""
        events = self.instance.all_logs(result.run_id, of_type=dg.DagsterEventType.ASSET_MATERIALIZATION)
        materialisations = [event.asset_materialization for event in events]
        return {item.partition: item.metadata for item in materialisations if item and item.asset_key == TASKS}


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Site:
    return Site(monkeypatch, tmp_path)


def test_a_run_for_all_records_totals_and_the_practices_with_changes(site: Site) -> None:
    result = site.run(synced(outcome("a", "certified"), outcome("b", "certified"), outcome("c", "failed", "403")))

    metadata = site.materializations(result)
    assert set(metadata) == {None, "a", "c"}
    totals = metadata[None]
    assert totals["dagster/row_count"].value == 70, "the table has rows of practices that were not read"
    assert (totals["new"].value, totals["requests"].value, totals["failed"].value) == (3, 12, 1)
    assert (totals["retries"].value, totals["bytes"].value) == (3, 3_000)
    assert totals["certified_through"].value is None
    by_practice = str(totals["by_practice"].value)
    assert by_practice.index("| c | failed") < by_practice.index("| a |")
    assert metadata["c"]["reason"].value == "403"
    _, _, *months = str(totals["months"].value).splitlines()
    assert months[0] == f"| a | 2024-12-31 to 2025-02-01, 2025-03-01 to {TODAY[:10]} | 2025-02 |"
    assert months[1] == f"| b | 2025-01-01 to {TODAY[:10]} |  |"
    numbers = {name: {key for key, of in metadata[name].items() if isinstance(of.value, int)} for name in metadata}
    assert not numbers[None] & (numbers["a"] | numbers["c"])  # one plot would be drawn through both
    assert set(site.instance.get_dynamic_partitions(NAME)) == {"a", "b", "c"}


def test_a_list_that_a_run_did_not_read_has_no_result(site: Site) -> None:
    """It once had one with 0 rows."""
    only = {"ops": {"sync": {"config": {"lists": ["staff_tasks"]}}}}

    result = site.run(synced(outcome("a", "certified")), config=only)

    assert result.success
    recorded = result.get_asset_materialization_events()
    assert {event.asset_key for event in recorded if not event.partition} == {TASKS, dg.AssetKey("marts")}


def test_selected_partitions_are_read_in_one_run_and_each_is_recorded(site: Site) -> None:
    site.instance.add_dynamic_partitions(NAME, ["a", "gone", "b"])
    span = {"dagster/asset_partition_range_start": "a", "dagster/asset_partition_range_end": "b"}

    result = site.run(synced(outcome("a", "certified"), outcome("b", "certified")), tags=span)

    assert result.success
    assert site.asked == [{**site.asked[0], "practices": ["a", "b"]}]
    recorded = site.materializations(result)
    new = {name: item["practice/new"].value for name, item in recorded.items() if "practice/new" in item}
    assert new == {"a": 3, "b": 0}


def test_a_list_that_is_dead_is_not_waited_for(site: Site) -> None:
    down = outcome("b", "failed", "no connection", retryable=True)

    result = site.run(synced(outcome("a", "certified"), down))

    assert len(site.asked) == 1
    assert result.success
    assert result.get_asset_materialization_events()[-1].asset_key == dg.AssetKey("marts")


def test_a_temporary_failure_is_retried(site: Site) -> None:
    down = synced(outcome("a", "failed", "no connection", retryable=True))

    result = site.run(down, Unreachable("sign-in"), synced(outcome("a", "certified")))

    assert len(site.asked) == 3
    assert result.success


def test_the_last_attempt_fails_with_its_own_error(site: Site) -> None:
    """Otherwise the run shows that it exceeded `max_retries`, and the error is at the end of a stack trace."""
    result = site.run(*[Unreachable("sign-in: 503")] * 3)

    failure = result.failure_data_for_node("sync")
    assert len(site.asked) == 3
    assert failure.user_failure_data.description == "sign-in: 503"
    assert "max_retries" not in failure.error.message
