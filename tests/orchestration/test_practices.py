"""Practices are added to and removed from `vetl.toml`; their partitions follow automatically."""

from pathlib import Path

import dagster as dg
from support.practice_site import practice_tables

from pipelines.orchestration.practices import NAME, practices_sensor
from pipelines.orchestration.resources import VetlResource


def configure(folder: Path, *names: str) -> VetlResource:
    config = folder / "vetl.toml"
    config.write_text(practice_tables(*names))
    return VetlResource(config=str(config))


def tick(instance: dg.DagsterInstance, vetl: VetlResource) -> None:
    """Evaluate the sensor, and apply its requests like the daemon."""
    context = dg.build_sensor_context(instance=instance, resources={"vetl": vetl})
    for request in practices_sensor.evaluate_tick(context).dynamic_partitions_requests or []:
        if isinstance(request, dg.AddDynamicPartitionsRequest):
            instance.add_dynamic_partitions(NAME, request.partition_keys)
        else:
            for name in request.partition_keys:
                instance.delete_dynamic_partition(NAME, name)


def test_a_practice_that_is_added_appears_and_one_that_is_removed_is_retired_not_erased(tmp_path: Path) -> None:
    key = dg.AssetKey("calls")
    with dg.DagsterInstance.ephemeral() as instance:
        tick(instance, configure(tmp_path, "one", "two"))
        assert instance.get_dynamic_partitions(NAME) == ["one", "two"]
        instance.report_runless_asset_event(dg.AssetMaterialization(key, partition="one"))

        tick(instance, configure(tmp_path, "two", "three"))

        assert instance.get_dynamic_partitions(NAME) == ["two", "three"]
        assert instance.get_materialized_partitions(key) == {"one"}
        context = dg.build_sensor_context(
            instance=instance, resources={"vetl": configure(tmp_path, "two", "three")}
        )
        assert "the same as in vetl.toml" in str(practices_sensor.evaluate_tick(context).skip_message)
