"""The ledger of acts as an asset. The job that materializes it plans and applies; no other job does."""

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import dagster as dg
from pydantic import Field

from vetl.jobs.act import apply_acts, plan_acts
from vetl.jobs.act_status import act_status
from vetl.orchestration.checks import Verdict
from vetl.orchestration.lock_wait import wait_for_lock
from vetl.orchestration.metadata import bullets, table
from vetl.orchestration.resources import WRITER_POOL, VetlResource, as_failures
from vetl.settings import Settings

ACTS = dg.AssetKey(["acts", "ledger"])
KNOWN = "known"
"""The check for acts of which it is unknown whether they happened."""


class ActConfig(dg.Config):
    """The practices to act for; `[act] practices` must allow them too."""

    practices: list[str] = Field(
        default=[], description="Ids of practices, as in vetl.toml. Empty: all that [act] practices allows."
    )


@dg.asset(
    key=ACTS,
    deps=[dg.AssetKey(["marts", "leak_list"])],
    description="Staff tasks that vetl made for unbooked requests, and what is known of each (docs/act.md).",
    group_name="acts",
    owners=["team:analytics"],
    kinds={"python", "sqlite"},
    pool=WRITER_POOL,
)
def ledger_of_acts(
    context: dg.AssetExecutionContext, config: ActConfig, vetl: VetlResource
) -> dg.MaterializeResult[Any]:
    """Plan and apply. The step fails if the platform refused something; doubts are warnings of the check."""
    settings = vetl.settings()
    with as_failures():
        wait_for_lock(settings, context.log.info)
        plan = plan_acts(settings, config.practices or None)
        result = apply_acts(settings, plan.digest)
    held = Counter(item.reason for item in (*plan.held_back, *result.held_back))
    metadata = {
        "planned": len(plan.acts),
        "sent": result.sent,
        "adopted": result.adopted,
        "canceled": result.canceled,
        "unknown": result.unknown,
        "held_back": held.total(),
        "held_back_because": table(("reason", "requests"), held.most_common()),
        "digest": plan.digest,
        **({"doubts": bullets(result.doubts)} if result.doubts else {}),
    }
    if result.failures:
        raise dg.Failure("\n".join(result.failures), metadata=metadata, allow_retries=False)
    return dg.MaterializeResult(metadata=metadata)


def known(settings: Settings, now: datetime) -> Verdict:
    """It is known of each request whether the platform made its task, at the latest a day after it."""
    overdue = act_status(settings, now=lambda: now).overdue
    rows = [(entry.act.practice_id, entry.asked_at, entry.note) for entry in overdue]
    return Verdict(("practice", "asked at", "why"), rows, is_error=bool(rows))


@dg.multi_asset_check(
    name="check_acts",
    specs=[dg.AssetCheckSpec(KNOWN, asset=ACTS, description=" ".join((known.__doc__ or "").split()))],
)
def check_acts(vetl: VetlResource) -> Iterator[dg.AssetCheckResult]:
    """Check the ledger; a request that has been unknown for a day fails the run, so that an alert is sent."""
    with as_failures():
        verdict = known(vetl.settings(), datetime.now(UTC))
    yield verdict.result(ACTS, KNOWN)
    if verdict.is_error:
        raise dg.Failure(f"acts are not known for longer than a day: {verdict.line()}", allow_retries=False)
