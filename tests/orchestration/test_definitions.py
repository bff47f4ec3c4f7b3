"""The whole code location: it loads without a warning, its lineage has no gaps, its job really runs."""

import tomllib
import warnings
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import dagster as dg
import pytest
import yaml

import sandbox
from pipelines.definitions import defs
from pipelines.endpoint import Endpoint
from pipelines.endpoints import REGISTRY
from pipelines.orchestration.assets import raw_key
from pipelines.orchestration.resources import WRITER_POOL, VetlResource

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def definitions(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dg.Definitions]:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("location"))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            location = defs()
        yield location


def test_it_loads_without_a_warning(definitions: dg.Definitions) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dg.Definitions.validate_loadable(definitions)


@pytest.mark.parametrize("endpoint", REGISTRY, ids=lambda endpoint: endpoint.name)
def test_every_list_is_an_asset_with_a_check_that_staging_reads(
    endpoint: Endpoint, definitions: dg.Definitions
) -> None:
    table = endpoint.table
    graph = definitions.resolve_asset_graph()

    assert graph.get(raw_key(table)).is_materializable
    assert dg.AssetCheckKey(raw_key(table), "certified") in graph.asset_check_keys
    assert dg.AssetKey(["staging", f"stg_partner__{table}"]) in graph.get(raw_key(table)).child_keys


def test_what_is_got_by_reference_comes_after_what_mentions_it(definitions: dg.Definitions) -> None:
    parents = definitions.resolve_asset_graph().get(raw_key("clients")).parent_keys

    assert parents == {raw_key("phone_calls"), raw_key("ai_outbound_requests"), raw_key("staff_tasks")}


def test_the_file_is_published_after_every_mart(definitions: dg.Definitions) -> None:
    graph = definitions.resolve_asset_graph()
    marts = {key for key in graph.get_all_asset_keys() if key.path[0] == "marts"}

    assert marts
    assert graph.get(dg.AssetKey(["published", "analytics"])).parent_keys == marts


def test_dbt_builds_once_after_every_list_and_the_drained_webhooks(definitions: dg.Definitions) -> None:
    """A circle of blocking checks would make Dagster split the build, and start parts of it too early."""
    steps = {
        node.alias or node.name: {
            dependency for target in targets.values() for dependency in target.get_node_dependencies()
        }
        for node, targets in definitions.resolve_job_def("everything").dependencies.items()
    }
    builds = [name for name in steps if name.startswith("dbt_build")]

    assert builds == ["dbt_build"]
    read = {f"partner__{endpoint.table}" for endpoint in REGISTRY}
    assert {item.node for item in steps["dbt_build"]} == {*read, "drain_webhooks"}


def test_every_step_that_writes_queues_in_the_pool_of_the_one_writer(definitions: dg.Definitions) -> None:
    job = definitions.resolve_job_def("everything")
    steps = [node.definition for node in job.graph.nodes if not node.name.startswith("certified")]

    assert {step.pool for step in steps if isinstance(step, dg.OpDefinition)} == {WRITER_POOL}


def test_the_schedule_asks_for_the_one_job_each_hour(definitions: dg.Definitions) -> None:
    schedule = definitions.resolve_schedule_def("hourly")
    context = dg.build_schedule_context(scheduled_execution_time=datetime(2026, 1, 1, 7, tzinfo=UTC))

    tick = schedule.evaluate_tick(context)

    assert schedule.cron_schedule == "0 * * * *"
    assert schedule.job_name == "everything"
    assert len(tick.run_requests or ()) == 1


def test_the_job_syncs_builds_and_publishes(
    definitions: dg.Definitions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with sandbox.running(practices=1, days=10, calls=100, frozen=True) as platform:
        [practice] = platform.practices
        config = tmp_path / "vetl.toml"
        config.write_text(
            f"[partner]\nbase_url = '{platform.base_url}'\n[phone_calls]\ndetails = 'off'\n"
            f"[[practices]]\nid = '{practice.id}'\nname = 'One'\ntime_zone = '{practice.time_zone}'\n"
            f"history_start = {platform.now().date() - timedelta(days=10)}\n",
            "utf-8",
        )
        for key in ("username", "password", "role"):
            monkeypatch.setenv(f"VETL_PARTNER__{key}".upper(), getattr(platform, key))
        result = definitions.resolve_job_def("everything").execute_in_process(
            instance=dg.DagsterInstance.ephemeral(), resources={"vetl": VetlResource(config=str(config))}
        )

    assert result.success
    checks = result.get_asset_check_evaluations()
    assert {check.asset_key for check in checks if check.check_name == "certified" and check.passed} == {
        raw_key(endpoint.table) for endpoint in REGISTRY
    }
    published = result.asset_materializations_for_node("published__analytics")[0].metadata
    assert "| practices | 1 |" in str(published["marts"].value)
    assert (tmp_path / "warehouse/data/analytics.duckdb").exists()


def test_workspace_and_project_name_the_location_alike() -> None:
    """Where they differ every load repeats a warning."""
    workspace = yaml.safe_load((ROOT / "workspace.yaml").read_text("utf-8"))["load_from"][0]["python_module"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["dg"]["project"]

    assert workspace == {
        "module_name": project["defs_module"],
        "location_name": project["code_location_name"],
    }
