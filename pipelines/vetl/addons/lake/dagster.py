"""The lake as an asset behind the published file, which is written by the step of that file."""

import dagster as dg

from vetl.addons.lake.settings import LakeSettings
from vetl.orchestration.resources import PUBLISHED
from vetl.settings import Settings


def definitions(settings: Settings) -> dg.Definitions:
    """Return the asset, or nothing if no place is set."""
    if LakeSettings.of(settings).path is None:
        return dg.Definitions()
    tables = dg.AssetSpec(
        ["lake", "tables"],
        deps=[PUBLISHED],
        group_name="published",
        kinds={"deltalake"},
        description="The marts as Delta tables: each publication replaces the practices that changed.",
    )
    return dg.Definitions(assets=[tables])
