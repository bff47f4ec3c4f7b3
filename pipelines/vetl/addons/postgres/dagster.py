"""The database as an asset behind the published file, which is copied by the step of that file."""

import dagster as dg

from vetl.addons.postgres.settings import PublishSettings
from vetl.orchestration.resources import PUBLISHED
from vetl.settings import Settings


def definitions(settings: Settings) -> dg.Definitions:
    """Return the asset, or nothing if no database is set."""
    if PublishSettings.of(settings).postgres.dsn is None:
        return dg.Definitions()
    marts = dg.AssetSpec(
        ["postgres", "marts"],
        deps=[PUBLISHED],
        group_name="published",
        kinds={"postgres"},
        description="The published marts in Postgres: each publication is copied there in one transaction.",
    )
    return dg.Definitions(assets=[marts])
