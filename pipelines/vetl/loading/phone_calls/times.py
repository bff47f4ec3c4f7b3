"""Convert practice-local minutes into instants, also in the repeated and the missing hour of a clock change."""

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import polars as pl

from vetl.loading.instants import INSTANT


def add_called_at(calls: pl.DataFrame, time_zone: str) -> tuple[pl.DataFrame, list[str]]:
    """Add `called_at` to calls of one zone; each practice's calls are in the CSV's order.

    Also return the practice of each call at a minute that does not exist in the zone; such a call is shifted
    forward by the gap. For a minute that exists twice the order of the calls within the day decides (`folds`), and
    the first instant is used if the order does not decide.
    """
    minutes = pl.col("called_at_local")
    calls = calls.with_columns(
        called_at=minutes.dt.replace_time_zone(time_zone, ambiguous="earliest", non_existent="null")
        .dt.convert_time_zone("UTC")
        .cast(INSTANT)
    )
    zone = ZoneInfo(time_zone)
    turning = [day for day in calls["call_date"].unique() if _turns(day, zone)]
    if not turning:
        return calls, []
    turned = calls.with_row_index("_row").filter(pl.col("call_date").is_in(turning))
    rows: list[int] = []
    resolved: list[datetime] = []
    gaps: list[str] = []
    for (practice_id, _), day in turned.group_by("practice_id", "call_date", maintain_order=True):
        local = day["called_at_local"].to_list()
        rows += day["_row"].to_list()
        resolved += [_utc(minute, fold, zone) for minute, fold in zip(local, folds(local, zone), strict=True)]
        gaps += [practice_id for minute in local if _shift(minute, zone) > timedelta(0)]
    called_at = calls["called_at"].scatter(rows, pl.Series(resolved, dtype=INSTANT))
    return calls.with_columns(called_at), gaps


def add_called_at_by_zone(
    calls: pl.DataFrame, zones: Mapping[str, str]
) -> tuple[pl.DataFrame, list[tuple[str, str]]]:
    """Add `called_at` to calls of several practices by `zones`; return the gaps with their zones."""
    parts: list[pl.DataFrame] = []
    gaps: list[tuple[str, str]] = []
    for zone, practices in _by_zone(zones):
        part, missing = add_called_at(calls.filter(pl.col("practice_id").is_in(practices)), zone)
        parts.append(part)
        gaps += [(practice_id, zone) for practice_id in missing]
    return pl.concat(parts), gaps


def days_between(first: date, last: date) -> list[date]:
    """Return the days from `first` to `last`, both included."""
    return [first + timedelta(days=past) for past in range((last - first).days + 1)]


def local_minute(instant: pl.Expr, zones: Mapping[str, str]) -> pl.Expr:
    """Return an instant as the CSV shows it: local to the row's practice, cut to the minute."""
    return pl.coalesce(
        pl.when(pl.col("practice_id").is_in(practices)).then(
            instant.dt.convert_time_zone(zone).dt.replace_time_zone(None).dt.truncate("1m")
        )
        for zone, practices in _by_zone(zones)
    )


def _by_zone(zones: Mapping[str, str]) -> list[tuple[str, list[str]]]:
    """Return the practices of each zone."""
    return [(zone, [name for name, its in zones.items() if its == zone]) for zone in dict.fromkeys(zones.values())]


def folds(minutes: Sequence[datetime], zone: ZoneInfo) -> list[int]:
    """Return which of its two instants each local minute of one day is: 0 for the first, 1 for the second.

    The order of the calls decides if the day ascends or descends throughout, except for one step back in the
    repeated hour. If both orders are possible, or neither is, all minutes count as the first instant.
    """
    undecided = [0] * len(minutes)
    upwards = _folds_upwards(minutes, zone)
    downwards = _folds_upwards(minutes[::-1], zone)
    possible = [way for way in (upwards, downwards and downwards[::-1]) if way is not None]
    return possible[0] if len(possible) == 1 else undecided


def _folds_upwards(minutes: Sequence[datetime], zone: ZoneInfo) -> list[int] | None:
    fold = 0
    result: list[int] = []
    before = datetime.min.replace(tzinfo=UTC)
    for minute in minutes:
        repeated = _shift(minute, zone) < timedelta(0)
        if repeated and not fold and _utc(minute, 0, zone) < before:
            fold = 1
        own = fold if repeated else 0
        instant = _utc(minute, own, zone)
        if instant < before:
            return None
        result.append(own)
        before = instant
    return result


def _turns(day: date, zone: ZoneInfo) -> bool:
    """Return whether the zone's offset changes on this day."""
    start = datetime.combine(day, datetime.min.time(), zone)
    return start.utcoffset() != (start + timedelta(days=1)).utcoffset()


def _shift(minute: datetime, zone: ZoneInfo) -> timedelta:
    """Return the change of offset at a local minute: negative if it exists twice, positive if it is missing."""
    first, second = (minute.replace(tzinfo=zone, fold=fold).utcoffset() or timedelta(0) for fold in (0, 1))
    return second - first


def _utc(minute: datetime, fold: int, zone: ZoneInfo) -> datetime:
    return minute.replace(tzinfo=zone, fold=fold).astimezone(UTC)
