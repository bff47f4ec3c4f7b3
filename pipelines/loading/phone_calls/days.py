"""Replacing whole days of phone calls where their content differs (design: how each list is read).

The rows carry no id and change without a trace, so that a day is compared as a multiset of rows.
"""

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from pipelines.core.errors import ContractBroken
from pipelines.core.pages import Changes
from pipelines.core.steps import ReplaceDays
from pipelines.loading import drift
from pipelines.loading.context import Commit, frame_of, registered_frames
from pipelines.loading.control import quarantine, restatements
from pipelines.loading.extras import told_by
from pipelines.loading.instants import INSTANT
from pipelines.loading.phone_calls.keys import with_ordinals
from pipelines.loading.phone_calls.matching import DayChanges, compare
from pipelines.loading.phone_calls.records import as_days
from pipelines.loading.phone_calls.rows import append, forget_details, stored_rows, with_row_hash
from pipelines.loading.phone_calls.times import add_called_at, days_between
from pipelines.loading.phone_calls.values import Calls, read_values
from pipelines.loading.versions import TARGET, mark_deleted, touch, write


def replace_days(commit: Commit, saves: Sequence[ReplaceDays]) -> Changes:
    """Make the days of these saves what their frames hold. No two of the saves share a day.

    Raises:
        ContractBroken: the source answered with calls of other days than it was asked for.
    """
    if not saves:
        return Changes()
    calls = _read(commit, saves)
    days = _read_times(saves)
    fresh = _within(calls.frame, days)
    _set_aside(commit, calls, saves)
    drift_notes = _drift(commit, calls)
    fresh, gaps = add_called_at(fresh, commit.time_zone)
    if gaps:
        drift_notes += drift.record_drift(commit, [_gap(commit.time_zone)])
    stored_days = _known_days(commit, days)
    new = fresh.join(stored_days, on="call_date", how="anti", maintain_order="left")
    append(commit, with_ordinals(new))
    changes = Changes(inserted=new.height, quarantined=len(calls.bad), drift=drift_notes)
    if not stored_days.is_empty():
        again = fresh.join(stored_days, on="call_date", how="semi", maintain_order="left")
        changes += _bring_in_step(commit, again, stored_days, calls.new_fields)
    if changes.inserted or changes.updated or changes.deleted:
        changes = replace(
            changes, restated=restatements.record_restatements(commit, _sealed(saves), ("call_date",))
        )
    return changes


def _read(commit: Commit, saves: Sequence[ReplaceDays]) -> Calls:
    """The calls of pages, and those of records where a day came as such."""
    calls = read_values([page for save in saves for page in save.frames])
    rows = [row for save in saves for row in save.rows]
    if not rows:
        return calls
    records = as_days(commit, rows)
    frame = pl.concat([calls.frame, records.frame.select(calls.frame.columns)])
    return replace(calls, frame=frame, bad=(*calls.bad, *records.bad))


def _read_times(saves: Sequence[ReplaceDays]) -> pl.DataFrame:
    """Each day of the saves, and when it was read."""
    times = {day: save.read_at for save in saves for day in days_between(save.first_day, save.last_day)}
    return pl.DataFrame(
        {"call_date": list(times), "_loaded_at": list(times.values())},
        schema={"call_date": pl.Date(), "_loaded_at": INSTANT},
    )


def _sealed(saves: Sequence[ReplaceDays]) -> pl.DataFrame:
    """The days that an earlier sync has read whole, and when they were read again."""
    times = {
        day: save.read_at
        for save in saves
        for day in days_between(save.first_day, save.last_day)
        if save.sealed_before is not None and day < save.sealed_before
    }
    return pl.DataFrame(
        {"call_date": list(times), "noticed_at": list(times.values())},
        schema={"call_date": pl.Date(), "noticed_at": INSTANT},
    )


def _within(calls: pl.DataFrame, days: pl.DataFrame) -> pl.DataFrame:
    fresh = calls.join(days, on="call_date", how="left", maintain_order="left")
    stray = fresh.filter(pl.col("_loaded_at").is_null())
    if not stray.is_empty():
        raise ContractBroken(
            f"phone_calls: calls of {stray['call_date'].min()} came back for {days['call_date'].min()} to"
            f" {days['call_date'].max()}; does the source ignore start_date and end_date, or is the zone wrong?"
        )
    return fresh


def _set_aside(commit: Commit, calls: Calls, saves: Sequence[ReplaceDays]) -> None:
    first, last = min(save.first_day for save in saves), max(save.last_day for save in saves)
    bad = [row.within(first, last) for row in quarantine.numbered(calls.bad)]
    if quarantine.holds_any(commit):
        for save in saves:
            quarantine.resolve_days(commit, save.first_day, save.last_day, [row.key for row in bad])
    quarantine.quarantine_rows(commit, bad)


def _drift(commit: Commit, calls: Calls) -> tuple[str, ...]:
    departures = [*drift.new_fields(calls.new_fields), *drift.new_values(calls.frame, commit.table.hashed)]
    return drift.record_drift(commit, departures)


def _gap(time_zone: str) -> drift.Drift:
    return drift.Drift(
        "time_zone", "Date", f"a call's local minute does not exist in {time_zone}: is the time zone right?"
    )


def _known_days(commit: Commit, days: pl.DataFrame) -> pl.DataFrame:
    """Those of the days that have rows here, deleted ones included."""
    first, last = days["call_date"].min(), days["call_date"].max()
    stored = frame_of(
        commit.connection,
        f"select distinct call_date from {commit.table.raw}"
        " where practice_id = $practice and call_date between $first and $last",
        params={"practice": commit.practice_id, "first": first, "last": last},
    )
    return days.join(stored, on="call_date", how="semi")


def _bring_in_step(commit: Commit, fresh: pl.DataFrame, days: pl.DataFrame, new_fields: frozenset[str]) -> Changes:
    """Days that have rows here already: those that differ are matched row by row."""
    fresh = with_row_hash(commit, fresh)
    differing = _differing(commit, fresh, days, new_fields)
    same = fresh.height - fresh.join(differing, on="call_date", how="semi").height
    if differing.is_empty():
        return Changes(unchanged=same)
    read = fresh.join(differing, on="call_date", how="semi", maintain_order="left")
    difference = compare(stored_rows(commit, differing), read, new_fields)
    _apply(commit, difference, days)
    return Changes(
        inserted=difference.new.height,
        updated=difference.changed.height + difference.touched.height,
        deleted=difference.gone.height,
        unchanged=same + difference.unchanged,
    )


def _differing(
    commit: Commit, fresh: pl.DataFrame, days: pl.DataFrame, new_fields: frozenset[str]
) -> pl.DataFrame:
    """The days whose rows here are not, as a multiset, those that were read."""
    sums = (
        "select call_date, count(*) as rows, sum(_row_hash::hugeint) as hashes,"
        f" sum({told_by(new_fields)}) as extras"
    )
    with registered_frames(commit.connection, fresh=fresh, days=days):
        return frame_of(
            commit.connection,
            f"with here as ({sums} from {commit.table.raw} semi join days using (call_date)"
            "  where practice_id = $practice and _deleted_at is null group by call_date),"
            f" there as ({sums} from fresh group by call_date)"
            " select call_date from here full join there using (call_date)"
            " where here.rows is distinct from there.rows or here.hashes is distinct from there.hashes"
            " or here.extras is distinct from there.extras",
            params={"practice": commit.practice_id},
        )


def _apply(commit: Commit, difference: DayChanges, days: pl.DataFrame) -> None:
    touch(commit, difference.touched)
    gone = difference.gone.join(days, on="call_date", how="left")
    mark_deleted(commit, gone.select(TARGET, _deleted_at="_loaded_at"))
    forget_details(commit, difference.doubtful)
    write(commit, difference.changed)
    append(commit, difference.new)
