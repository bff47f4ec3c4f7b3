"""A code location with only the lists and their checks, for tests that need no mart."""

import os

import dagster as dg
from vetl.endpoints import REGISTRY
from vetl.orchestration.checks import check_lists
from vetl.orchestration.lists import list_assets
from vetl.orchestration.resources import VetlResource, raw_key
from vetl.orchestration.schedules import practices_sensor

lists = list_assets({raw_key(item.table): dg.AssetSpec(raw_key(item.table)) for item in REGISTRY})
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
