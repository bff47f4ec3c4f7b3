"""Dagster's entry point: `dagster dev -w workspace.yaml`."""

import dagster as dg

from pipelines.endpoints import REGISTRY
from pipelines.orchestration.assets import list_asset, published_file
from pipelines.orchestration.checks import certified_check
from pipelines.orchestration.dbt import dbt_models, dbt_resource, mart_keys
from pipelines.orchestration.received import drain, received_tables
from pipelines.orchestration.resources import VetlResource
from pipelines.orchestration.schedules import everything, hourly
from pipelines.orchestration.sensors import inbox_sensor


@dg.definitions
def defs() -> dg.Definitions:
    """Everything that vetl offers to Dagster."""
    vetl = VetlResource()
    models = dbt_models(vetl.settings())
    return dg.Definitions(
        assets=[*map(list_asset, REGISTRY), received_tables, models, published_file(mart_keys(models))],
        asset_checks=[*map(certified_check, REGISTRY)],
        jobs=[everything, drain],
        schedules=[hourly],
        sensors=[inbox_sensor],
        resources={"vetl": vetl, "dbt": dbt_resource()},
        # One process: the steps would only wait for each other's lock on the warehouse.
        executor=dg.in_process_executor,
    )
