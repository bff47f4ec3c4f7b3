"""The practices of `vetl.toml` as partitions. A sensor adds new practices and deletes removed ones."""

from collections.abc import Sequence

import dagster as dg

from vetl.orchestration.resources import VetlResource
from vetl.settings import Settings

NAME = "practice"
PRACTICES = dg.DynamicPartitionsDefinition(name=NAME)


def add_missing_partitions(instance: dg.DagsterInstance, settings: Settings) -> None:
    """Add a partition for each configured practice that has none, because events refer to it."""
    partitions = set(instance.get_dynamic_partitions(NAME))
    missing = [practice.id for practice in settings.practices if practice.id not in partitions]
    if missing:
        instance.add_dynamic_partitions(NAME, missing)


def partitions_of(context: dg.AssetExecutionContext) -> Sequence[str] | None:
    """Return the practices whose partitions a run selects; `None` if it is for all practices."""
    if context.has_partition_key or context.has_partition_key_range:
        return context.partition_keys
    return None


@dg.sensor(
    name="practices",
    minimum_interval_seconds=60,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Keeps the partitions equal to vetl.toml. The rows of a removed practice stay.",
)
def practices_sensor(context: dg.SensorEvaluationContext, vetl: VetlResource) -> dg.SensorResult | dg.SkipReason:
    """Compare the partitions with the settings; no request to the platform and no lock is needed."""
    partitions = context.instance.get_dynamic_partitions(NAME)
    configured = [practice.id for practice in vetl.settings().practices]
    added = [name for name in configured if name not in set(partitions)]
    retired = [name for name in partitions if name not in set(configured)]
    if not added and not retired:
        return dg.SkipReason(f"{len(partitions)} practices, the same as in vetl.toml")
    return dg.SensorResult(
        dynamic_partitions_requests=[
            *([PRACTICES.build_add_request(added)] if added else []),
            *([PRACTICES.build_delete_request(retired)] if retired else []),
        ]
    )
