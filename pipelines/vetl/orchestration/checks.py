"""Checks of the lists, after each run and every hour without one. Warnings block nothing, errors fail the run.

A check covers a list of all practices and names those that fail it. A freshness policy of Dagster's would judge
the list as a whole, and one fresh practice would hide 499 stale ones.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import dagster as dg

from vetl.core.endpoint import Endpoint
from vetl.endpoints import REGISTRY
from vetl.orchestration.keys import raw_key
from vetl.orchestration.list_status import list_statuses
from vetl.orchestration.metadata import table
from vetl.orchestration.resources import VetlResource, as_failures
from vetl.settings import Settings
from vetl.settings.mart_definitions import OpeningHours
from vetl.settings.schedule import open_hours
from vetl.store.control.snapshot import ListStatus

Row = tuple[object, ...]

_ROWS_IN_A_LINE = 3
_LINES = 20
"""The most lines of an error or an alert."""

CAUSES = "causes"
"""The name of the metadata of a failure that has the causes of its alert."""

USUAL_HOURS = OpeningHours(opens=8, closes=18, weekdays=6)
"""The opening hours if `[definitions]` sets none, the same as in `dbt_project.yml`."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of a check: no rows if it passed, else a row for each problem. `is_error`: the run fails."""

    columns: tuple[str, ...] = ()
    rows: Sequence[Row] = field(default_factory=tuple[Row, ...])
    is_error: bool = False

    def result(self, key: dg.AssetKey, name: str) -> dg.AssetCheckResult:
        """Return the result in Dagster's form."""
        severity = dg.AssetCheckSeverity.ERROR if self.is_error else dg.AssetCheckSeverity.WARN
        metadata = (
            {"found": table(self.columns, self.rows), "count": len(self.rows)} if self.rows else {"count": 0}
        )
        return dg.AssetCheckResult(
            passed=not self.rows,
            asset_key=key,
            check_name=name,
            severity=severity,
            metadata=metadata,
            description=self.line() or None,
        )

    def causes(self, check: str) -> dict[str, Any]:
        """Return the metadata with the causes of an alert: the check and each practice, without an age."""
        return {CAUSES: dg.MetadataValue.json(sorted({f"{check} {row[0]}" for row in self.rows}))}

    def line(self) -> str:
        """Return the first rows in one line, for the page of the check."""
        more = len(self.rows) - _ROWS_IN_A_LINE
        lines = [": ".join(map(_in_words, self.columns, row)) for row in self.rows[:_ROWS_IN_A_LINE]]
        return "; ".join([*lines, *([f"and {more} more"] if more > 0 else [])])


def _in_words(column: str, value: object) -> str:
    """Return a text as it is, and any other value with the name of its column."""
    if isinstance(value, str):
        return value
    return f"{column} {value:%Y-%m-%d %H:%M} UTC" if isinstance(value, datetime) else f"{value} {column}"


def certified(lists: Sequence[ListStatus], _settings: Settings, _now: datetime) -> Verdict:
    """Every window is certified. A list that could not be read is an error: `vetl doctor` examines it."""
    failed = [item for item in lists if item.state == "failed"]
    unproven = [item for item in lists if item.state == "uncertified"]
    rows = [(item.practice_id, item.state, item.reason) for item in (*failed, *unproven)]
    return Verdict(("practice", "state", "reason"), rows, is_error=bool(failed))


def fresh(lists: Sequence[ListStatus], settings: Settings, now: datetime) -> Verdict:
    """The list was read within the allowed opening hours. If not, look for failed runs, then at the schedule."""
    zones = {practice.id: practice.time_zone for practice in settings.practices}
    usual = settings.definitions.opening_hours or USUAL_HOURS
    own = settings.definitions.opening_hours_by_practice or {}
    ages = [
        (item, open_hours(item.read_at, now, zones[item.practice_id], own.get(item.practice_id, usual)))
        for item in lists
        if item.read_at is not None
    ]
    stale = sorted(
        (pair for pair in ages if pair[1] > settings.schedule.stale_after_hours), key=lambda pair: -pair[1]
    )
    rows = [(item.practice_id, item.read_at, round(age, 1)) for item, age in stale]
    return Verdict(("practice", "last read", "opening hours since"), rows, is_error=bool(rows))


def quarantined(lists: Sequence[ListStatus], _settings: Settings, _now: datetime) -> Verdict:
    """No row is in quarantine. `vetl quarantine list` shows the rows."""
    with_rows = sorted((item for item in lists if item.quarantined), key=lambda item: -item.quarantined)
    return Verdict(("practice", "rows"), [(item.practice_id, item.quarantined) for item in with_rows])


def known_fields(lists: Sequence[ListStatus], _settings: Settings, _now: datetime) -> Verdict:
    """The list has exactly the fields of the contract. New fields are kept in `_extra`."""
    return _drift(lists, lambda departure: not departure.startswith("new_value"))


def known_values(lists: Sequence[ListStatus], _settings: Settings, _now: datetime) -> Verdict:
    """Enumerations have only values of the contract. Unknown values are kept unchanged."""
    return _drift(lists, lambda departure: departure.startswith("new_value"))


def _drift(lists: Sequence[ListStatus], counts: Callable[[str], bool]) -> Verdict:
    rows = [(item.practice_id, departure) for item in lists for departure in item.drift if counts(departure)]
    return Verdict(("practice", "departure from the contract"), rows)


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
def check_lists(context: dg.AssetCheckExecutionContext, vetl: VetlResource) -> Iterator[dg.AssetCheckResult]:
    """Check the lists in a step of its own, so that the marts are built and published even if a check fails."""
    errors: list[tuple[str, str, Verdict]] = []
    with as_failures():
        verdicts = list(list_verdicts(vetl.settings()))
    for endpoint, name, verdict in verdicts:
        key = dg.AssetCheckKey(raw_key(endpoint.table), name)
        if key in context.selected_asset_check_keys:
            yield verdict.result(key.asset_key, name)
            errors += [(endpoint.name, name, verdict)] if verdict.is_error else []
    if errors:
        causes = {f"{name} {row[0]}" for _, name, verdict in errors for row in verdict.rows}
        raise dg.Failure(
            "\n".join(_failures(errors)),
            metadata={CAUSES: dg.MetadataValue.json(sorted(causes))},
            allow_retries=False,
        )


def list_verdicts(settings: Settings) -> Iterator[tuple[Endpoint, str, Verdict]]:
    """Yield the result of every check of every list. No lock is needed."""
    now, lists = datetime.now(UTC), list_statuses(settings)
    for endpoint in REGISTRY:
        ours = [item for item in lists if item.endpoint == endpoint.name]
        for name, judge in LIST_CHECKS.items():
            yield endpoint, name, judge(ours, settings, now)


def _failures(errors: Sequence[tuple[str, str, Verdict]]) -> Iterator[str]:
    """Yield a line for each practice and check, with the first reason: a refused practice fails all of its lists.

    `errors` are the verdicts with the names of their list and check.
    """
    found: dict[tuple[str, object], list[str]] = {}
    for endpoint, name, verdict in errors:
        for row in verdict.rows:
            words = f"{endpoint}: {': '.join(map(_in_words, verdict.columns[1:], row[1:]))}"
            found.setdefault((name, row[0]), []).append(words)
    for (name, practice), lists in list(found.items())[:_LINES]:
        many = f"{len(lists)} lists are" if len(lists) > 1 else "a list is"
        yield f"{practice}: {many} not {name}; {lists[0]}"
    if len(found) > _LINES:
        yield f"and {len(found) - _LINES} more; the checks show them"
