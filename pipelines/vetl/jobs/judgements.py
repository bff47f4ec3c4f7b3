"""Judgements of the lists and of the published file: Dagster's checks, and whatever else shows them.

A judgement of a list covers all practices and names those that fail it. It reads the notes beside the warehouse or
the published file, so none needs a lock.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta

from vetl.core.endpoint import Endpoint
from vetl.core.errors import WarehouseError
from vetl.core.list_read import Practice
from vetl.endpoints import REGISTRY
from vetl.publishing.statements import query
from vetl.settings import Settings
from vetl.settings.core_sections import OpeningHours, open_hours
from vetl.store.notes import Attempt, ListStatus, read_snapshot
from vetl.store.writer_lock import Activity, read_activity

Row = tuple[object, ...]

_ROWS_IN_A_LINE = 3
_LINES = 20
"""The most lines of an error or an alert."""

USUAL_HOURS = OpeningHours(opens=8, closes=18, weekdays=6)
"""The opening hours if `[definitions]` sets none, the same as in `dbt_project.yml`."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of a check: no rows if it passed, else a row for each problem. `is_error`: somebody must act."""

    columns: tuple[str, ...] = ()
    rows: Sequence[Row] = field(default_factory=tuple[Row, ...])
    is_error: bool = False

    def causes(self, check: str) -> list[str]:
        """Return the causes of an alert: the check and each practice, without an age."""
        return sorted({f"{check} {row[0]}" for row in self.rows})

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
        (open_hours(item.read_at, now, zones[item.practice_id], own.get(item.practice_id, usual)), item)
        for item in lists
        if item.read_at is not None
    ]
    stale = [pair for pair in ages if pair[0] > settings.schedule.stale_after_hours]
    rows = [
        (item.practice_id, item.read_at, round(age, 1)) for age, item in sorted(stale, key=lambda pair: -pair[0])
    ]
    return Verdict(("practice", "last read", "opening hours since"), rows, is_error=bool(rows))


def quarantined(lists: Sequence[ListStatus], _settings: Settings, _now: datetime) -> Verdict:
    """No row is in quarantine. `vetl quarantine list` shows the rows."""
    with_rows = sorted((item for item in lists if item.quarantined), key=lambda item: -item.quarantined)
    return Verdict(("practice", "rows"), [(item.practice_id, item.quarantined) for item in with_rows])


def as_in_the_contract(lists: Sequence[ListStatus], _settings: Settings, _now: datetime) -> Verdict:
    """The list has the fields and values of the contract. New fields are in `_extra`, new values unchanged."""
    rows = [(item.practice_id, departure) for item in lists for departure in item.drift]
    return Verdict(("practice", "departure from the contract"), rows)


LIST_CHECKS: dict[str, Callable[[Sequence[ListStatus], Settings, datetime], Verdict]] = {
    "certified": certified,
    "fresh": fresh,
    "quarantine": quarantined,
    "as_in_the_contract": as_in_the_contract,
}


def list_verdicts(settings: Settings) -> Iterator[tuple[Endpoint, str, Verdict]]:
    """Yield the result of every check of every list."""
    now, lists = datetime.now(UTC), list_statuses(settings)
    for endpoint in REGISTRY:
        ours = [item for item in lists if item.endpoint == endpoint.name]
        for name, judge in LIST_CHECKS.items():
            yield endpoint, name, judge(ours, settings, now)


def lines_of(errors: Sequence[tuple[str, str, Verdict]]) -> Iterator[str]:
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


def list_statuses(settings: Settings) -> list[ListStatus]:
    """Return the lists of configured practices that a sync has tried; nothing before the first sync."""
    snapshot = read_snapshot(settings.warehouse.path)
    configured = {practice.id for practice in settings.practices}
    sync = read_activity(settings.warehouse.path, "sync")
    return [
        _failed_since(item, item.attempt, sync)
        for item in (snapshot.lists if snapshot else ())
        if item.practice_id in configured and item.attempt
    ]


def _failed_since(item: ListStatus, attempt: Attempt, sync: Activity | None) -> ListStatus:
    """Return a list as failed if a later sync failed as a whole, since such a sync records no attempt."""
    if not sync or sync.outcome != "failed" or not sync.finished_at:
        return item
    if datetime.fromisoformat(sync.finished_at) < datetime.fromisoformat(attempt.finished):
        return item
    return replace(item, state="failed", attempt=replace(attempt, reason=sync.error or "the last sync failed"))


def certified_months(lists: Sequence[ListStatus], practices: Sequence[Practice]) -> list[tuple[str, str, str]]:
    """Return the certified days of each practice and the months that are not, the most of these first."""
    start, today = {one.id: one.history_start for one in practices}, datetime.now(UTC).date()
    rows = [_history(item, start[item.practice_id], today) for item in lists if item.practice_id in start]
    return sorted(rows, key=lambda row: (-len(row[2]), row[0]))


def _history(item: ListStatus, start: date, today: date) -> tuple[str, str, str]:
    """Return a row of the table; the last certified month counts as far as it is certified."""
    through = (item.certified_through or "")[:10]
    covered = (item.cursor or {}).get("covered") or [(start.isoformat(), through)]
    spans = [(first[:10], end[:10]) for first, end in covered if first < end]
    missing: list[str] = []
    while start < today:
        following = (start.replace(day=1) + timedelta(days=32)).replace(day=1)
        end = min(following.isoformat(), max(through, today.replace(day=1).isoformat()))
        if not any(first <= start.isoformat() and end <= last for first, last in spans):
            missing.append(f"{start:%Y-%m}")
        start = following
    return item.practice_id, ", ".join(f"{first} to {end}" for first, end in spans), ", ".join(missing)


_FEWER = """
select practice_id, endpoint, source_count, warehouse_count from meta.proof
where warehouse_count < source_count order by source_count - warehouse_count desc
"""
"""Only missing rows are a problem: a list may grow between two counts at the source."""


def equals_source(settings: Settings) -> Verdict:
    """No list has fewer rows than the source counted at the last complete read, and the file can be read."""
    try:
        rows = query(settings.warehouse.published, _FEWER).rows
    except WarehouseError as error:
        return Verdict(("error",), [(str(error),)])
    return Verdict(("practice", "list", "rows at the source", "rows published"), rows)


PUBLISHED_CHECKS: dict[str, Callable[[Settings], Verdict]] = {"equals_source": equals_source}
"""The checks of the published file, to which addons add theirs; a docstring describes each to users."""
