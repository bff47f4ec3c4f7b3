"""A code location with only the lists and their checks, for tests that need no mart."""

import os

import dagster as dg

from pipelines.orchestration.areas import Areas
from pipelines.orchestration.checks import check_lists
from pipelines.orchestration.lists import list_assets
from pipelines.orchestration.practices import practices_sensor
from pipelines.orchestration.resources import VetlResource

lists = list_assets(Areas({"nodes": {}, "sources": {}, "child_map": {}}))
defs = dg.Definitions(
    assets=[lists],
    asset_checks=[check_lists],
    jobs=[
        dg.define_asset_job("everything", dg.AssetSelection.assets(lists) | dg.AssetSelection.checks(check_lists))
    ],
    sensors=[practices_sensor],
    resources={"vetl": VetlResource(config=os.environ["VETL_CONFIG"])},
    executor=dg.in_process_executor,
)
