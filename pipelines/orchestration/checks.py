"""What is looked at after each run, and every hour without one. Warnings hold nothing up, errors fail the run.

A check is about a list of all practices, and names the practices that it is red for: a freshness policy of
Dagster's judges the list, and one fresh practice would hide 499 stale ones.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import dagster as dg

from pipelines.endpoints import REGISTRY
from pipelines.loading.control.list_status import ListStatus
from pipelines.orchestration.list_status import list_statuses
from pipelines.orchestration.lists import raw_key
from pipelines.orchestration.metadata import table
from pipelines.orchestration.resources import VetlResource, as_failures
from pipelines.orchestration.unrun import keeping_results
from pipelines.settings import Settings
from pipelines.settings.definitions import OpeningHours
from pipelines.settings.schedule import open_hours

Row = tuple[object, ...]

USUAL_HOURS = OpeningHours(opens=8, closes=18, weekdays=6)
"""Where `[definitions]` says nothing: as in `dbt_project.yml`."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a check found: nothing, or rows that say what is wrong, where. `is_error`: worth a failed run."""

    columns: tuple[str, ...] = ()
    rows: Sequence[Row] = field(default_factory=tuple[Row, ...])
    is_error: bool = False

    def result(self, key: dg.AssetKey, name: str) -> dg.AssetCheckResult:
        """The same for Dagster."""
        severity = dg.AssetCheckSeverity.ERROR if self.is_error else dg.AssetCheckSeverity.WARN
        metadata = (
            {"found": table(self.columns, self.rows), "count": len(self.rows)} if self.rows else {"count": 0}
        )
        return dg.AssetCheckResult(
            passed=not self.rows, asset_key=key, check_name=name, severity=severity, metadata=metadata
        )

    def line(self) -> str:
        """The rows in one line, for whoever is told of a failed run."""
        return "; ".join(": ".join(map(str, row)) for row in self.rows[:3])


def certified(lists: Sequence[ListStatus], _settings: Settings, _now: datetime) -> Verdict:
    """Every window has its certificate; a list that could not be read is an error."""
    failed = [item for item in lists if item.state == "failed"]
    unproven = [item for item in lists if item.state == "uncertified"]
    rows = [(item.practice_id, item.state, item.reason) for item in (*failed, *unproven)]
    return Verdict(("practice", "state", "reason"), rows, is_error=bool(failed))


def fresh(lists: Sequence[ListStatus], settings: Settings, now: datetime) -> Verdict:
    """Read within the last few opening hours of the practice; a stale one is an error."""
    zones = {practice.id: practice.time_zone for practice in settings.practices}
    hours = settings.definitions.opening_hours or USUAL_HOURS
    ages = [
        (item, open_hours(item.read_at, now, zones[item.practice_id], hours))
        for item in lists
        if item.read_at is not None
    ]
    stale = sorted(
        (pair for pair in ages if pair[1] > settings.schedule.stale_after_hours), key=lambda pair: -pair[1]
    )
    rows = [(item.practice_id, item.read_at, round(age, 1)) for item, age in stale]
    return Verdict(("practice", "last read", "opening hours since"), rows, is_error=bool(rows))


def quarantined(lists: Sequence[ListStatus], _settings: Settings, _now: datetime) -> Verdict:
    """No row waits in quarantine; `vetl quarantine list` shows them."""
    held = sorted((item for item in lists if item.quarantined), key=lambda item: -item.quarantined)
    return Verdict(("practice", "rows"), [(item.practice_id, item.quarantined) for item in held])


def known_fields(lists: Sequence[ListStatus], _settings: Settings, _now: datetime) -> Verdict:
    """The list has the fields of the contract and no others; new ones are kept in `_extra`."""
    return _drift(lists, lambda departure: not departure.startswith("new_value"))


def known_values(lists: Sequence[ListStatus], _settings: Settings, _now: datetime) -> Verdict:
    """Its enumerations have the values of the contract; unknown ones are kept as they are."""
    return _drift(lists, lambda departure: departure.startswith("new_value"))


def _drift(lists: Sequence[ListStatus], counts: Callable[[str], bool]) -> Verdict:
    rows = [(item.practice_id, departure) for item in lists for departure in item.drift if counts(departure)]
    return Verdict(("practice", "differs from the contract"), rows)


LIST_CHECKS: dict[str, Callable[[Sequence[ListStatus], Settings, datetime], Verdict]] = {
    "certified": certified,
    "fresh": fresh,
    "quarantine": quarantined,
    "known_fields": known_fields,
    "known_values": known_values,
}


@dg.multi_asset_check(
    name="check_lists",
    can_subset=True,
    specs=[
        dg.AssetCheckSpec(name, asset=raw_key(endpoint.table), description=" ".join((judge.__doc__ or "").split()))
        for endpoint in REGISTRY
        for name, judge in LIST_CHECKS.items()
    ],
)
def check_lists(context: dg.AssetCheckExecutionContext, vetl: VetlResource) -> Iterator[Any]:
    """A step of its own, so that marts are built and published of what is committed, whatever it finds."""
    yield from keeping_results(context, _judged(context, vetl.settings()))


def _judged(context: dg.AssetCheckExecutionContext, settings: Settings) -> Iterator[dg.AssetCheckResult]:
    """Run the checks of every list, then fail if one of them found an error."""
    now = datetime.now(UTC)
    with as_failures():
        lists = list_statuses(settings)
    errors: list[str] = []
    for endpoint in REGISTRY:
        ours = [item for item in lists if item.endpoint == endpoint.name]
        for name, judge in LIST_CHECKS.items():
            key = dg.AssetCheckKey(raw_key(endpoint.table), name)
            if key in context.selected_asset_check_keys:
                verdict = judge(ours, settings, now)
                yield verdict.result(key.asset_key, name)
                errors += [f"{endpoint.name} is not {name}: {verdict.line()}"] if verdict.is_error else []
    if errors:
        raise dg.Failure("\n".join(errors), allow_retries=False)
