"""Record the last result of each check that a run planned and will not run.

If a run fails, Dagster counts each check that was planned and not run as "execution failed". One refused list
would turn every check of the marts red without a reason, although no mart has changed.
"""

from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from datetime import UTC, datetime
from typing import Any

import dagster as dg

_PLANNED = dg.DagsterEventType.ASSET_CHECK_EVALUATION_PLANNED
_RUN = dg.DagsterEventType.ASSET_CHECK_EVALUATION
_WHEN = "result_of"
"""The name of the metadata with the time at which the check was last run."""


def keeping_results(
    context: dg.AssetExecutionContext | dg.AssetCheckExecutionContext, events: Iterable[Any]
) -> Iterator[Any]:
    """Yield the events of a step; if the step fails, first record the last result of each check that did not run.

    Steps after a failed step are skipped, so the failed step also records the results of their checks.
    """
    done: set[dg.AssetCheckKey] = set()
    try:
        for event in events:
            if isinstance(event, dg.AssetCheckEvaluation | dg.AssetCheckResult):
                done.add(_key(event))
            yield event
    except Exception as error:
        why = (error.description if isinstance(error, dg.Failure) else None) or type(error).__name__
        yield from last_results(context, f"The run stopped before this check: {why}", done=done)
        raise


def _key(event: dg.AssetCheckEvaluation | dg.AssetCheckResult) -> dg.AssetCheckKey:
    assert event.asset_key
    assert event.check_name
    return dg.AssetCheckKey(event.asset_key, event.check_name)


def last_results(
    context: dg.AssetExecutionContext | dg.AssetCheckExecutionContext,
    why: str,
    *,
    done: AbstractSet[dg.AssetCheckKey] = frozenset(),
    of: dg.AssetKey | None = None,
) -> Iterator[dg.AssetCheckEvaluation]:
    """Record the last result of each check that this run planned and will not run, of one asset or of all.

    `done`: checks with a result of this step, which may not be in the event log yet.
    """
    log = context.instance.all_logs(context.run.run_id, of_type={_PLANNED, _RUN})
    events = [record.dagster_event for record in log if record.dagster_event]
    planned = [event.asset_check_planned_data.asset_check_key for event in events if event.event_type is _PLANNED]
    run = {event.asset_check_evaluation_data.asset_check_key for event in events if event.event_type is _RUN}
    left = [key for key in planned if key not in run and key not in done and of in (None, key.asset_key)]
    records = context.instance.event_log_storage.get_asset_check_summary_records(left)
    for key in left:
        record = records[key].last_completed_check_execution_record if key in records else None
        yield _last_result(
            key, record.evaluation if record else None, record.create_timestamp if record else 0, why
        )


def _last_result(
    key: dg.AssetCheckKey, last: dg.AssetCheckEvaluation | None, timestamp: float, why: str
) -> dg.AssetCheckEvaluation:
    """Return the last result of a check with its time, or a warning if the check has never run."""
    if last is None:
        return dg.AssetCheckEvaluation(
            key.asset_key,
            key.name,
            passed=False,
            severity=dg.AssetCheckSeverity.WARN,
            description=f"This check has never run. {why}",
        )
    when = dict(last.metadata).get(_WHEN) or dg.MetadataValue.text(
        f"{datetime.fromtimestamp(timestamp, UTC):%Y-%m-%d %H:%M} UTC"
    )
    return dg.AssetCheckEvaluation(
        key.asset_key,
        key.name,
        passed=last.passed,
        severity=last.severity,
        metadata={**last.metadata, _WHEN: when},
        target_materialization_data=last.target_materialization_data,
        description=f"Not run since {when.value}. {why}",
    )
