"""The ledger of acts as an asset, and the job that applies a plan.

To materialize the asset copies the ledger and sends nothing, however often it happens. Only the job sends, and it
asks for the digest of a plan.
"""

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import dagster as dg
from pydantic import Field

from vetl.addons.act.act_files import mirror_ledger
from vetl.addons.act.job import apply_acts, plan_acts
from vetl.addons.act.ledger import act_status
from vetl.addons.act.settings import ActSchedule, ActSettings
from vetl.jobs.judgements import Verdict
from vetl.orchestration.checks import failure, result_of
from vetl.orchestration.metadata import bullets, table
from vetl.orchestration.resources import WRITER_POOL, VetlResource, as_failures
from vetl.orchestration.schedules import schedule
from vetl.settings import Settings
from vetl.store.warehouse import writing

ACTS = dg.AssetKey(["acts", "ledger"])
ACT = "act"
KNOWN = "known"
"""The check for acts of which it is unknown whether they happened."""

_PATIENCE_OF_A_TICK = 30
"""Seconds; Dagster ends a tick after sixty."""


class ActConfig(dg.Config):
    """The plan to apply."""

    digest: str = Field(description="The digest of a plan: `vetl act plan` shows the plan and its digest.")


@dg.asset(
    key=ACTS,
    deps=[dg.AssetKey(["marts", "call_back_list"])],
    description="Staff tasks that vetl made for unbooked requests. To materialize it sends nothing.",
    group_name="acts",
    owners=["team:analytics"],
    kinds={"python", "sqlite"},
    pool=WRITER_POOL,
)
def ledger_of_acts(vetl: VetlResource) -> dg.MaterializeResult[Any]:
    """Copy the ledger into the private file, for the marts."""
    settings = vetl.settings()
    with as_failures():
        mirror_ledger(settings)
        return dg.MaterializeResult(metadata={**act_status(settings).counts})


@dg.op(description="Apply the plan with this digest, as [act] allows.", pool=WRITER_POOL)
def apply_plan(context: dg.OpExecutionContext, config: ActConfig, vetl: VetlResource) -> None:
    """Apply a plan. The step fails if the platform refused something; doubts are warnings of the check."""
    settings = vetl.settings()
    if not ActSettings.of(settings).enabled:
        context.log.info("Skipped: act.enabled is false")
        return
    with as_failures():
        result = apply_acts(settings, config.digest)
    held = Counter(item.reason for item in result.held_back)
    metadata = {
        **result.counts,
        "held_back_because": table(("reason", "requests"), held.most_common()),
        "digest": config.digest,
        **({"doubts": bullets(result.doubts)} if result.doubts else {}),
    }
    context.log_event(dg.AssetMaterialization(ACTS, metadata=metadata))
    if result.failures:
        raise dg.Failure("\n".join(result.failures), allow_retries=False)


@dg.job(name=ACT, description="Apply a plan by its digest: the same as `vetl act apply`.")
def act() -> None:
    """Apply a plan."""
    apply_plan()


def config_of_a_plan(settings: Settings) -> dict[str, Any] | dg.SkipReason:
    """Make a plan for a tick of `[schedule] act`, and return the configuration of the run that applies it."""
    if not ActSettings.of(settings).enabled:
        return dg.SkipReason("act.enabled is false")
    with as_failures(), writing(settings.warehouse, _PATIENCE_OF_A_TICK):
        plan = plan_acts(settings, None)
    return {"ops": {apply_plan.name: {"config": {"digest": plan.digest}}}}


def known(settings: Settings, now: datetime) -> Verdict:
    """It is known of each request whether the platform made its task, at the latest a day after it."""
    overdue = act_status(settings, now).overdue
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
    yield result_of(verdict, dg.AssetCheckKey(ACTS, KNOWN))
    if verdict.is_error:
        raise failure(f"acts are not known for longer than a day: {verdict.line()}", verdict.causes(KNOWN))


def definitions(settings: Settings, vetl: VetlResource) -> dg.Definitions:
    """Return the ledger with its check, and the job with its schedule."""
    tick = schedule(
        settings.schedule,
        *(ACT, ActSchedule.of(settings).act, ACT),
        lambda: config_of_a_plan(vetl.settings()),
        "Make a plan and apply it, as [act] allows.",
    )
    return dg.Definitions(assets=[ledger_of_acts], asset_checks=[check_acts], jobs=[act], schedules=tick)
