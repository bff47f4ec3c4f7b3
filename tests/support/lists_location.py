"""A code location with only the lists and their checks, for tests that need no mart."""

import os

import dagster as dg
from vetl.orchestration.checks import check_lists
from vetl.orchestration.lists import list_assets
from vetl.orchestration.manifest import Manifest
from vetl.orchestration.resources import VetlResource
from vetl.orchestration.schedules import practices_sensor

lists = list_assets(Manifest({"nodes": {}, "sources": {}}))
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
