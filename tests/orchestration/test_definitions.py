"""The whole code location loads without a warning, has lineage without gaps, and describes its assets."""

import json
import warnings
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest
import yaml
from vetl.core.endpoint import Endpoint
from vetl.endpoints import REGISTRY
from vetl.jobs.build import read_manifest
from vetl.jobs.dbt_process import state_folder
from vetl.jobs.judgements import LIST_CHECKS
from vetl.orchestration.lists import PRACTICES
from vetl.orchestration.resources import WRITER_POOL, raw_key
from vetl.settings import Settings
from vetl.settings.core_sections import WarehouseSettings

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def definitions(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dg.Definitions]:
    from vetl.definitions import defs  # noqa: PLC0415 - importing dbt takes seconds in every process that collects tests

    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("location"))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", ResourceWarning)  # objects of other tests may be collected meanwhile
            location = defs()
        yield location


def test_a_manifest_that_a_full_disk_cut_off_is_written_again(tmp_path: Path) -> None:
    """With half a manifest no run could begin, and its alert said nothing about the cause."""
    settings = Settings(warehouse=WarehouseSettings(path=tmp_path / "vetl.duckdb"))
    read_manifest(settings)
    manifest = state_folder(settings.warehouse.path) / "target" / "manifest.json"
    whole = manifest.read_text("utf-8")
    manifest.write_text(whole[: len(whole) // 2], "utf-8")

    read_manifest(settings)
    again = json.loads(manifest.read_text("utf-8"))
    assert again["nodes"].keys() == json.loads(whole)["nodes"].keys()


def test_it_loads_without_a_warning(definitions: dg.Definitions) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ResourceWarning)
        dg.Definitions.validate_loadable(definitions)


@pytest.mark.parametrize("endpoint", REGISTRY, ids=lambda endpoint: endpoint.name)
def test_every_list_is_an_asset_by_practice_with_checks_that_staging_reads(
    endpoint: Endpoint, definitions: dg.Definitions
) -> None:
    table = endpoint.table
    graph = definitions.resolve_asset_graph()

    assert graph.get(raw_key(table)).is_materializable
    assert graph.get(raw_key(table)).partitions_def == PRACTICES
    assert {dg.AssetCheckKey(raw_key(table), name) for name in LIST_CHECKS} <= set(graph.asset_check_keys)
    assert dg.AssetKey(["staging", f"stg_partner__{table}"]) in graph.get(raw_key(table)).child_keys


def test_dbt_builds_once_after_every_list_and_the_drained_webhooks(definitions: dg.Definitions) -> None:
    """If blocking checks formed a cycle, Dagster would split the build and start some parts too early."""
    steps = {
        node.alias or node.name: {
            dependency for target in targets.values() for dependency in target.get_node_dependencies()
        }
        for node, targets in definitions.resolve_job_def("everything").dependencies.items()
    }
    builds = [name for name in steps if name.startswith("dbt_build")]

    assert builds == ["dbt_build"]
    assert {item.node for item in steps["dbt_build"]} == {"sync", "drain_webhooks"}


def test_every_step_that_writes_queues_in_the_pool_of_the_one_writer(definitions: dg.Definitions) -> None:
    job = definitions.resolve_job_def("everything")
    steps = [node.definition for node in job.graph.nodes if not node.name.startswith("check_")]

    assert len(steps) == 3
    assert {step.pool for step in steps if isinstance(step, dg.OpDefinition)} == {WRITER_POOL}


def test_every_asset_has_an_area_an_owner_and_a_description(definitions: dg.Definitions) -> None:
    graph = definitions.resolve_asset_graph()
    assets = {key: graph.get(key) for key in graph.get_all_asset_keys()}

    assert [key for key, asset in assets.items() if not (asset.owners and asset.description)] == []
    assert {str(key) for key, asset in assets.items() if asset.group_name == "default"} == set(), (
        "the staging model of a list needs a `+group` in dbt/dbt_project.yml"
    )
    lists = {endpoint.table: assets[raw_key(endpoint.table)].group_name for endpoint in REGISTRY}
    assert [table for table, group in lists.items() if group == "lists"] == [], (
        "a raw table needs its group below `sources:` in dbt/dbt_project.yml"
    )
    made = assets[dg.AssetKey(["marts", "staff_tasks"])].metadata
    [file] = made["dagster/code_references"].value.code_references
    assert file.file_path == str(ROOT / "dbt/models/marts/tasks/staff_tasks.sql")
    assert "task_id" in {column.name for column in made["dagster/column_schema"].columns}
    assert lists["staff_tasks"] == assets[dg.AssetKey(["marts", "staff_tasks"])].group_name == "tasks"


def test_a_check_of_a_mart_is_described_by_its_rules(definitions: dg.Definitions) -> None:
    graph = definitions.resolve_asset_graph()
    key = dg.AssetCheckKey(dg.AssetKey(["marts", "appointments"]), "holds")

    rules = yaml.safe_load((graph.get(key).description or "").strip("`").removeprefix("yaml"))
    assert rules["key"] == ["practice_id", "appointment_id"]
    assert rules["ties_out"] == {"to": "ref('stg_partner__appointments')"}
    assert [*rules["conditions"]] == ["are_booked_and_attributed_together"]
    every = [graph.get(one) for one in graph.asset_check_keys if one.asset_key.path[0] == "marts"]
    assert [check.key.to_user_string() for check in every if not check.description] == []
