"""Whether a list was read whole: the verdict of its last materialisation."""

from collections.abc import Iterator
from typing import Any, cast

import dagster as dg

from pipelines.endpoint import Endpoint
from pipelines.orchestration.assets import raw_key

CERTIFIED = "certified"


def certified_check(endpoint: Endpoint) -> dg.AssetChecksDefinition:
    """Warns where a practice is uncertified; an error, and a failed run, where one could not be read.

    It is a step of its own, so that marts are built and published of what is committed all the same.
    """
    key = raw_key(endpoint.table)

    @dg.multi_asset_check(
        name=f"{CERTIFIED}_{endpoint.table}",
        specs=[dg.AssetCheckSpec(CERTIFIED, asset=key, description="Every window has its certificate.")],
    )
    def certified(context: dg.AssetCheckExecutionContext) -> Iterator[dg.AssetCheckResult]:
        states = _last_states(context.instance, key)
        open_ones = {name: item for name, item in states.items() if item["state"] in {"uncertified", "failed"}}
        failed = [f"{name}: {item['reason']}" for name, item in states.items() if item["state"] == "failed"]
        yield dg.AssetCheckResult(
            passed=bool(states) and not open_ones,
            severity=dg.AssetCheckSeverity.ERROR if failed else dg.AssetCheckSeverity.WARN,
            metadata={name: f"{item['state']}: {item['reason']}" for name, item in open_ones.items()},
        )
        if failed:
            raise dg.Failure("; ".join(failed), allow_retries=False)

    return certified


def _last_states(instance: dg.DagsterInstance, key: dg.AssetKey) -> dict[str, Any]:
    event = instance.get_latest_materialization_event(key)
    materialization = event.asset_materialization if event else None
    states = materialization.metadata.get("states") if materialization else None
    return dict(cast("dict[str, Any]", states.value)) if isinstance(states, dg.JsonMetadataValue) else {}
