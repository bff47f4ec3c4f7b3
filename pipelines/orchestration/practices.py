"""The practices as partitions: one that is added to `vetl.toml` appears, one that is taken out is retired."""

from collections.abc import Sequence

import dagster as dg

from pipelines.orchestration.resources import VetlResource
from pipelines.settings import Settings

NAME = "practice"
PRACTICES = dg.DynamicPartitionsDefinition(name=NAME)


def add_missing(instance: dg.DagsterInstance, settings: Settings) -> None:
    """Make a partition of each configured practice, so that what is told of it has a place."""
    partitions = set(instance.get_dynamic_partitions(NAME))
    missing = [practice.id for practice in settings.practices if practice.id not in partitions]
    if missing:
        instance.add_dynamic_partitions(NAME, missing)


def chosen(context: dg.AssetExecutionContext) -> Sequence[str] | None:
    """The practices whose partitions this run is for; `None` where it is for all that are configured."""
    if context.has_partition_key or context.has_partition_key_range:
        return context.partition_keys
    return None


@dg.sensor(
    name="practices",
    minimum_interval_seconds=60,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Keeps the partitions in step with vetl.toml. What was read of a retired practice stays.",
)
def practices_sensor(context: dg.SensorEvaluationContext, vetl: VetlResource) -> dg.SensorResult | dg.SkipReason:
    """Compare the partitions with the settings; neither the platform nor the warehouse is asked."""
    partitions = context.instance.get_dynamic_partitions(NAME)
    configured = [practice.id for practice in vetl.settings().practices]
    added = [name for name in configured if name not in set(partitions)]
    retired = [name for name in partitions if name not in set(configured)]
    if not added and not retired:
        return dg.SkipReason(f"{len(partitions)} practices, as vetl.toml has them")
    return dg.SensorResult(
        dynamic_partitions_requests=[
            *([PRACTICES.build_add_request(added)] if added else []),
            *([PRACTICES.build_delete_request(retired)] if retired else []),
        ]
    )
