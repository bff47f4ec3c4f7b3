"""Checks of the lists and of the published file, after each run and every hour without one.

Warnings block nothing, errors fail the run. A check of a list covers all practices and names those that fail it. A
freshness policy of Dagster's would judge the list as a whole, and one fresh practice would hide 499 stale ones. No
check needs a lock.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from inspect import getdoc
from typing import Any

import dagster as dg

from vetl.core.errors import VetlError
from vetl.endpoints import REGISTRY
from vetl.jobs.judgements import LIST_CHECKS, PUBLISHED_CHECKS, Verdict, lines_of, list_verdicts
from vetl.orchestration.metadata import table
from vetl.orchestration.resources import EVERYTHING, PUBLISHED, VetlResource, as_failures, raw_key
from vetl.settings import Settings
from vetl.settings.core_sections import OFF

CAUSES = "causes"
"""The name of the metadata of a failure that has the causes of its alert."""


def result_of(
    verdict: Verdict,
    key: dg.AssetCheckKey,
    kind: type[dg.AssetCheckResult | dg.AssetCheckEvaluation] = dg.AssetCheckResult,
) -> Any:  # noqa: ANN401 - of that kind
    """Return a verdict in Dagster's form: a result of a planned check, or an evaluation of any other."""
    return kind(
        passed=not verdict.rows,
        asset_key=key.asset_key,
        check_name=key.name,
        severity=dg.AssetCheckSeverity.ERROR if verdict.is_error else dg.AssetCheckSeverity.WARN,
        metadata={
            **({"found": table(verdict.columns, verdict.rows)} if verdict.rows else {}),
            "count": len(verdict.rows),
        },
        description=verdict.line() or None,
    )


def failure(message: str, causes: Iterable[str]) -> dg.Failure:
    """Return the failure of a step whose checks failed, with the causes of its alert."""
    return dg.Failure(message, metadata={CAUSES: dg.MetadataValue.json(sorted(causes))}, allow_retries=False)


@dg.multi_asset_check(
    name="check_lists",
    can_subset=True,
    specs=[
        dg.AssetCheckSpec(name, asset=raw_key(endpoint.table), description=getdoc(judge))
        for endpoint in REGISTRY
        for name, judge in LIST_CHECKS.items()
    ],
)
def check_lists(context: dg.AssetCheckExecutionContext, vetl: VetlResource) -> Iterator[dg.AssetCheckResult]:
    """Check the lists in a step of its own, so that the marts are built and published even if a check fails.

    Red is what somebody must act on: one refused practice of 500 fails the job `watch`, and not each hourly run.
    """
    errors: list[tuple[str, str, Verdict]] = []
    settings = vetl.settings()
    with as_failures():
        for endpoint, name, verdict in list_verdicts(settings):
            if (key := dg.AssetCheckKey(raw_key(endpoint.table), name)) in context.selected_asset_check_keys:
                yield result_of(verdict, key)
                errors += [(endpoint.name, name, verdict)] if verdict.is_error else []
    failed = {row[0] for _, _, verdict in errors for row in verdict.rows}
    few = 2 * len(failed) < len(settings.practices) and settings.schedule.watch != OFF
    if few and context.run.job_name == EVERYTHING:
        for line in lines_of(errors):
            context.log.warning(line)
    elif errors:
        causes = {cause for _, name, verdict in errors for cause in verdict.causes(name)}
        raise failure("\n".join(lines_of(errors)), causes)


def check_published() -> dg.AssetChecksDefinition:
    """Return the checks of the published file with those of addons."""

    @dg.multi_asset_check(
        name="check_published",
        can_subset=True,
        specs=[
            dg.AssetCheckSpec(name, asset=PUBLISHED, description=getdoc(judge))
            for name, judge in PUBLISHED_CHECKS.items()
        ],
    )
    def check(context: dg.AssetCheckExecutionContext, vetl: VetlResource) -> Iterator[dg.AssetCheckResult]:
        """Run the checks. Failures are warnings, because none of them proves a fault."""
        settings = vetl.settings()
        for name, judge in PUBLISHED_CHECKS.items():
            if (key := dg.AssetCheckKey(PUBLISHED, name)) in context.selected_asset_check_keys:
                yield result_of(judge(settings), key)

    return check


def checked_if_it_fails(settings: Settings, events: Iterable[Any], *, may_retry: bool = True) -> Iterator[Any]:
    """Yield the events of a step. If it fails, run the checks of the steps after it first, which Dagster skips.

    A check that was planned and did not run counts as a failure without a reason.
    """
    try:
        with as_failures(may_retry=may_retry):
            yield from events
    except Exception:
        yield from lists_now(settings)
        raise


def lists_now(settings: Settings) -> Iterator[dg.AssetCheckEvaluation]:
    """Run the checks of the lists in a step that ends early."""
    with suppress(VetlError):
        for endpoint, name, verdict in list_verdicts(settings):
            key = dg.AssetCheckKey(raw_key(endpoint.table), name)
            yield result_of(verdict, key, dg.AssetCheckEvaluation)


def published_now(settings: Settings) -> Iterator[dg.AssetCheckEvaluation]:
    """Run the checks of the published file in the step that builds it; planned, each would be two more events."""
    for name, judge in PUBLISHED_CHECKS.items():
        yield result_of(judge(settings), dg.AssetCheckKey(PUBLISHED, name), dg.AssetCheckEvaluation)
