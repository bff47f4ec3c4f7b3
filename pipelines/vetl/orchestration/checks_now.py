"""The checks of the lists and of the published file, run by a step that ends early.

Dagster skips the steps after it, and counts a check that was planned and did not run as a failure without a
reason. These checks need neither a lock nor the work of the step, so the step that ends early runs them.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

import dagster as dg

from vetl.core.errors import VetlError
from vetl.orchestration.checks import Verdict, list_verdicts
from vetl.orchestration.keys import PUBLISHED, raw_key
from vetl.orchestration.published_checks import published_verdicts
from vetl.settings import Settings


def checked_if_it_fails(settings: Settings, events: Iterable[Any]) -> Iterator[Any]:
    """Yield the events of a step. If the step fails, run the checks of the steps after it first."""
    try:
        yield from events
    except Exception:
        yield from lists_now(settings)
        yield from published_now(settings)
        raise


def lists_now(settings: Settings) -> Iterator[dg.AssetCheckEvaluation]:
    """Run the checks of the lists."""
    with suppress(VetlError):
        for endpoint, name, verdict in list_verdicts(settings):
            yield _evaluation(verdict, raw_key(endpoint.table), name)


def published_now(settings: Settings) -> Iterator[dg.AssetCheckEvaluation]:
    """Run the checks of the published file."""
    for name, verdict in published_verdicts(settings):
        yield _evaluation(verdict, PUBLISHED, name)


def _evaluation(verdict: Verdict, key: dg.AssetKey, name: str) -> dg.AssetCheckEvaluation:
    result = verdict.result(key, name)
    return dg.AssetCheckEvaluation(
        asset_key=key,
        check_name=name,
        passed=result.passed,
        metadata=result.metadata,
        severity=result.severity,
        description=result.description,
    )
