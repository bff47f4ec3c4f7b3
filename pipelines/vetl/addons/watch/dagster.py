"""The check of the published file against the thresholds of `[watch]`."""

import dagster as dg

from vetl.addons.watch.job import judge
from vetl.addons.watch.watching import line
from vetl.core.errors import VetlError
from vetl.jobs.judgements import PUBLISHED_CHECKS, Verdict
from vetl.settings import Settings


def definitions() -> dg.Definitions:
    """Add the check."""
    PUBLISHED_CHECKS["thresholds"] = outside
    return dg.Definitions()


def outside(settings: Settings) -> Verdict:
    """No practice is outside of a threshold of [watch]."""
    try:
        rows = [
            (one.practice_id, one.threshold.rule, one.open.began, line(one, one.open))
            for one in judge(settings)
            if one.open
        ]
    except VetlError as error:
        return Verdict(("error",), [(str(error),)])
    return Verdict(("practice", "threshold", "out since", "last closed period"), rows)
