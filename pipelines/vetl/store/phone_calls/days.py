"""Replace whole days of phone calls if their content differs, and attach the columns that only the JSON list has.

CSV rows have no id and change without a trace, so a day is compared as a multiset of rows.

The columns of the JSON list are ids, exact times, clients and patients. Each JSON record is converted into its CSV
row, and records and stored rows are matched as multisets: identical rows are interchangeable in the CSV, but both
ids are kept.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import polars as pl

from vetl.core.errors import ContractBroken
from vetl.core.pages import Changes
from vetl.core.steps import AttachDetails, ReplaceDays
from vetl.store import merge
from vetl.store.commit import Commit, added, counted, frame_of, registered_frames
from vetl.store.control import bad_rows, state
from vetl.store.frames import EXTRA, Typed, joined, with_constant
from vetl.store.instants import INSTANT, add_called_at_by_zone, days_between, local_minutes
from vetl.store.mentions import FEWEST_DIGITS
from vetl.store.merge import TARGET, mark_deleted, touch, with_row_hash, write
from vetl.store.phone_calls import json_calls, stored_calls
from vetl.store.phone_calls.stored_calls import DETAILS, SAME_ROW, pair
from vetl.store.pseudonyms import IDS, without_words
from vetl.store.tables import row_hash

DAY = ("practice_id", "call_date")
ONE_DAY = timedelta(days=1)

Saves = Sequence[tuple[str, ReplaceDays]]
"""Saves, each with the id of its practice."""


def replace_days(commit: Commit, saves: Saves) -> dict[str, Changes]:
    """Replace the days of these saves by the rows that were read. No two saves of a practice share a day.

    Raise `ContractBroken` if the source returned calls of days outside the requested range.
    """
    groups = json_calls.grouped_by_new_fields(
        saves, lambda save: [name for page in save.frames for name in page.new_fields]
    )
    return added(_replace_days(commit, group, new_fields) for new_fields, group in groups)


def _replace_days(commit: Commit, saves: Saves, new_fields: frozenset[str]) -> dict[str, Changes]:
    calls = _typed_calls(commit, saves)
    days = _read_times(saves)
    quarantined = _quarantine(commit, calls, saves)
    fresh, gaps = add_called_at_by_zone(calls.frame, commit.zones)
    departures = [*merge.new_fields(calls.new_fields), *merge.new_values(calls.frame, commit.table.hashed)]
    drift_notes = merge.record_drift(commit, [*departures, *((of, _gap(zone)) for of, zone in gaps)])
    stored_days = _known_days(commit, days)
    if stored_days.is_empty():
        new, done = fresh, []
    else:
        new = fresh.join(stored_days, on=DAY, how="anti", maintain_order="left")
        again = fresh.join(stored_days, on=DAY, how="semi", maintain_order="left")
        done = [_update_days(commit, again, stored_days, new_fields)]
    stored_calls.append(commit, stored_calls.with_ordinals(new))
    done.append(counted(inserted=new))
    changes = added(done)
    if any(one.inserted or one.updated or one.deleted for one in changes.values()):
        done.append(merge.record_restatements(commit, _sealed(saves), ("call_date",)))
    return added([*done, quarantined, drift_notes])


def _typed_calls(commit: Commit, saves: Saves) -> Typed:
    """Return the calls of CSV pages, and of JSON records if a day was read as records, with their read times."""
    pages = iter(json_calls.read_values([page for _, save in saves for page in save.frames]))
    calls: list[Typed] = []
    for practice_id, save in saves:
        own = [next(pages).of_practice(practice_id) for _ in save.frames]
        if save.rows or not own:
            own.append(json_calls.as_days(commit, save.rows, [practice_id] * len(save.rows)))
        calls += [_within(batch, save) for batch in own]
    return _without_people(commit, joined(calls))


def _without_people(commit: Commit, calls: Typed) -> Typed:
    """The calls with pseudonyms in the place of forgotten people.

    A row of the CSV names no client: one that is at the place of a forgotten client's call is taken for that call.
    """
    frame = commit.pseudonyms.in_rows(commit.table, calls.frame)
    pseudonyms = commit.pseudonyms.of_practices(frame["practice_id"].unique())
    if pseudonyms and frame.height:
        own = frame_of(
            commit.connection,
            f"select distinct {', '.join(stored_calls.IDENTITY)}, true as _own from {commit.table.raw}"
            " where practice_id in (select unnest($practices)) and call_date between $first and $last"
            " and (list_contains($pseudonyms, client_id) or list_contains($pseudonyms, remote_client_id))",
            params={
                "practices": frame["practice_id"].unique().to_list(),
                "first": frame["call_date"].min(),
                "last": frame["call_date"].max(),
                "pseudonyms": pseudonyms,
            },
        )
        marked = frame.join(own, on=stored_calls.IDENTITY, how="left", nulls_equal=True, maintain_order="left")
        frame = without_words(commit.table, frame, marked["_own"].fill_null(value=False))
    return replace(calls, frame=frame)


def _read_times(saves: Saves) -> pl.DataFrame:
    """Return each day of the saves with its read time."""
    return pl.DataFrame(
        [
            (practice_id, day, save.read_at)
            for practice_id, save in saves
            for day in days_between(save.first_day, save.last_day)
        ],
        {"practice_id": pl.String(), "call_date": pl.Date(), "_loaded_at": INSTANT},
        orient="row",
    )


def _sealed(saves: Saves) -> pl.DataFrame:
    """Return the days that an earlier sync has certified, with the time of this read."""
    return _read_times(
        [
            (practice_id, replace(save, last_day=min(save.last_day, save.sealed_before - ONE_DAY)))
            for practice_id, save in saves
            if save.sealed_before is not None
        ]
    ).rename({"_loaded_at": "noticed_at"})


def _within(calls: Typed, save: ReplaceDays) -> Typed:
    days = calls.frame["call_date"]
    extremes: list[Any] = [] if days.is_empty() else [days.min(), days.max()]
    strays = [day for day in extremes if not save.first_day <= day <= save.last_day]
    if strays:
        raise ContractBroken(
            f"phone_calls: calls of {strays[0]} came back for {save.first_day} to {save.last_day};"
            " does the source ignore start_date and end_date, or is the zone wrong?"
        )
    return replace(calls, frame=with_constant(calls.frame, "_loaded_at", save.read_at, INSTANT))


def _quarantine(commit: Commit, calls: Typed, saves: Saves) -> dict[str, Changes]:
    bad = bad_rows.numbered(calls.bad)
    spans: dict[str, tuple[date, date]] = {}
    for practice_id, save in saves:
        first, last = spans.get(practice_id, (save.first_day, save.last_day))
        spans[practice_id] = min(first, save.first_day), max(last, save.last_day)
    for practice_id in bad_rows.holding(commit):
        still_bad = [row.key for row in bad if row.practice_id == practice_id]
        for save in [save for of, save in saves if of == practice_id]:
            bad_rows.resolve_days(commit, practice_id, save.first_day, save.last_day, still_bad)
    return bad_rows.quarantine_rows(commit, [row.within(*spans[row.practice_id]) for row in bad])


def _gap(time_zone: str) -> merge.Drift:
    return merge.Drift(
        "time_zone", "Date", f"a call's local minute does not exist in {time_zone}: is the time zone right?"
    )


def _known_days(commit: Commit, days: pl.DataFrame) -> pl.DataFrame:
    """Return the days that have stored rows, deleted rows included."""
    # DuckDB skips row groups by a range and by a list of practices; it does so less well for joined days.
    stored = frame_of(
        commit.connection,
        f"select distinct practice_id, call_date from {commit.table.raw} where call_date between $first and $last"
        " and practice_id in (select unnest($practices))",
        params={
            "first": days["call_date"].min(),
            "last": days["call_date"].max(),
            "practices": days["practice_id"].unique().to_list(),
        },
    )
    return days.join(stored, on=DAY, how="semi")


def _update_days(
    commit: Commit, fresh: pl.DataFrame, days: pl.DataFrame, new_fields: frozenset[str]
) -> dict[str, Changes]:
    """Match the stored rows of the days that differ with the rows that were read."""
    differing = _differing(commit, fresh, days, new_fields)
    same = counted(unchanged=fresh.join(differing, on=DAY, how="anti"))
    if differing.is_empty():
        return same
    read = with_row_hash(commit, fresh.join(differing, on=DAY, how="semi", maintain_order="left"))
    difference = stored_calls.compare(stored_calls.stored_rows(commit, differing), read, new_fields)
    touch(commit, difference.touched)
    gone = difference.gone.join(days, on=DAY, how="left")
    mark_deleted(commit, gone.select(TARGET, _deleted_at="_loaded_at"))
    stored_calls.clear_details(commit, difference.doubtful)
    write(commit, difference.changed)
    stored_calls.append(commit, difference.new)
    done = counted(
        inserted=difference.new,
        updated=difference.changed,
        deleted=difference.gone,
        unchanged=difference.unchanged,
    )
    return added([same, done, counted(updated=difference.touched)])


def _differing(
    commit: Commit, fresh: pl.DataFrame, days: pl.DataFrame, new_fields: frozenset[str]
) -> pl.DataFrame:
    """Return the days whose stored rows, as a multiset, differ from the rows that were read."""

    def sums(row_hash: str) -> str:
        return (
            f"select practice_id, call_date, count(*) as rows, sum({row_hash}::hugeint) as hashes,"
            f" sum({json_calls.extra_digest(new_fields)}) as extras"
        )

    with registered_frames(commit.connection, fresh=fresh, days=days):
        return frame_of(
            commit.connection,
            f"with here as ({sums('_row_hash')} from {commit.table.raw}"
            "  semi join days using (practice_id, call_date) where _deleted_at is null group by all),"
            f" there as ({sums(row_hash(commit.table.hashed, 'fresh'))} from fresh group by all)"
            " select practice_id, call_date from here full join there using (practice_id, call_date)"
            " where here.rows is distinct from there.rows or here.hashes is distinct from there.hashes"
            " or here.extras is distinct from there.extras",
        )


_ENOUGH = 5
"""Unmatched calls on both sides from which on, if they are the majority, the time zone is doubtful."""

ID = ("practice_id", "id")

_DIGITS = pl.col("phone_number").str.replace_all(r"\D", "")
_END_OF_NUMBER = (
    pl.when(_DIGITS.str.len_chars() >= FEWEST_DIGITS)
    .then(_DIGITS.str.tail(FEWEST_DIGITS))
    .otherwise("phone_number")
    .alias("_end_of_number")
)
_LIKELY_SAME = ("practice_id", "call_date", "called_at_local", "direction", "_end_of_number")

_BEFORE = {name: f"_stored_{name}" for name in DETAILS}


Attached = Sequence[tuple[str, AttachDetails]]
"""Saves, each with the id of its practice."""


def attach_details(commit: Commit, saves: Attached) -> dict[str, Changes]:
    """Attach details from JSON rows to the calls of their days. No version is made: ids are not in the hash."""
    declared = {column.name for column in json_calls.SHAPE.columns}
    groups = json_calls.grouped_by_new_fields(
        saves, lambda save: {name for row in save.rows for name in row}.difference(declared)
    )
    return added(_attach_details(commit, group, new_fields) for new_fields, group in groups)


def _attach_details(commit: Commit, saves: Attached, new_fields: frozenset[str]) -> dict[str, Changes]:
    practices = [practice_id for practice_id, save in saves for _ in save.rows]
    batch = json_calls.read_records(commit, [row for _, save in saves for row in save.rows], practices)
    quarantined = bad_rows.quarantine_rows(commit, batch.bad)
    bad_rows.resolve_keys(commit, batch.frame, ("id",))
    departures = [*merge.new_fields(batch.new_fields), *merge.new_values(batch.frame, json_calls.SHAPE.columns)]
    latest = batch.frame.unique(ID, keep="last", maintain_order=True)
    calls = pl.concat([latest.select(*DETAILS, EXTRA), json_calls.as_csv_rows(commit, latest)], how="horizontal")
    records = with_row_hash(commit, calls).select(*DETAILS, EXTRA, *SAME_ROW)
    stored = stored_calls.stored_rows(commit, _days(saves)).rename(_BEFORE)
    live = stored.filter(~pl.col("_deleted")).drop("_deleted")
    pairs = matched(live, records)
    doubtful = _with_a_doubtful_zone(live, records, pairs)
    departures += [(practice_id, _doubtful_zone(commit.zones[practice_id])) for practice_id in doubtful]
    _attach(commit, stored, pairs, new_fields)
    return added([quarantined, merge.record_drift(commit, departures)])


def _days(saves: Attached) -> pl.DataFrame:
    days = {(of, day) for of, save in saves for day in days_between(save.first_day, save.last_day)}
    return pl.DataFrame(sorted(days), {"practice_id": pl.String(), "call_date": pl.Date()}, orient="row")


def matched(stored: pl.DataFrame, records: pl.DataFrame) -> pl.DataFrame:
    """Match records with stored calls; return one row for each pair, with the columns of both.

    The matches in order: equal rows that have this id already; equal rows, with records whose id is new first for
    calls without an id; the id alone, for a call that changed between the two reads; minute, direction and the
    last digits of the phone number, if all such calls of a side are equal. The contract does not show how the CSV
    writes a number.
    """
    settled = pair(stored.with_columns(id="_stored_id"), records, ["id", *SAME_ROW])
    stored_ids = stored.select("practice_id", "_stored_id").filter(pl.col("_stored_id").is_not_null())
    is_known_id = pl.struct(ID).is_in(
        stored_ids.select(pl.struct("practice_id", id="_stored_id")).to_series().implode()
    )
    calls = settled.left.sort(pl.col("_stored_id").is_not_null(), "_stored_called_at", "call_key")
    equal = pair(calls.drop("id"), settled.right.sort(is_known_id, "created_at", "id"), SAME_ROW)
    by_id = pair(
        equal.left.with_columns(id="_stored_id").filter(pl.col("id").is_not_null()),
        equal.right.drop(name for name in SAME_ROW if name not in ID),
        ID,
    )
    left = equal.left.join(by_id.pairs, on=TARGET, how="anti").with_columns(_END_OF_NUMBER)
    right = equal.right.join(by_id.pairs, on=ID, how="anti").with_columns(_END_OF_NUMBER).drop("phone_number")
    are_equal = pl.col("_row_hash").n_unique().over(_LIKELY_SAME) == 1
    left, right = (side.filter(are_equal).drop("_row_hash") for side in (left, right))
    likely = pair(left, right, _LIKELY_SAME)
    return pl.concat([settled.pairs, equal.pairs, by_id.pairs, likely.pairs], how="diagonal")


def _attach(commit: Commit, stored: pl.DataFrame, pairs: pl.DataFrame, new_fields: Collection[str]) -> None:
    minute = pl.col("created_at").dt.truncate("1m")
    minutes = local_minutes(pairs["created_at"], pairs["practice_id"], commit.zones)
    is_same_minute = minutes == pairs["called_at_local"]
    rows = pairs.with_columns(
        json_calls.merged_extra(pairs["_stored_extra"], pairs[EXTRA], new_fields).alias(EXTRA),
        called_at=pl.when(is_same_minute).then(minute).otherwise(pl.col("_stored_called_at")),
    )
    differs = pl.any_horizontal(
        pl.col("called_at").ne_missing(pl.col("_stored_called_at")),
        pl.col(EXTRA).ne_missing(pl.col("_stored_extra")),
        *(pl.col(name).ne_missing(pl.col(before)) for name, before in _BEFORE.items()),
    )
    attached = rows.filter(differs).select("practice_id", TARGET, "called_at", EXTRA, *DETAILS)
    if attached.is_empty():
        return
    state.record_mentions(commit, attached)
    # An id belongs to one call: clear it from the call that had it before.
    before = stored.join(pairs, on=TARGET, how="anti").join(
        attached, left_on=("practice_id", "_stored_id"), right_on=ID, how="semi"
    )
    stored_calls.clear_details(commit, before.select(TARGET))
    values = ", ".join(f"{name} = given.{name}" for name in ("called_at", EXTRA, *DETAILS))
    merge.update(commit, attached, values)
    pseudonyms = commit.pseudonyms.of_practices(attached["practice_id"].unique())
    if pseudonyms:
        are_theirs = pl.any_horizontal(pl.col(name).is_in(pseudonyms) for name in IDS)
        stored_calls.empty_words(commit, attached.filter(are_theirs))


def _with_a_doubtful_zone(stored: pl.DataFrame, records: pl.DataFrame, pairs: pl.DataFrame) -> list[str]:
    """Return the practices in which most calls of the JSON list match no stored call."""
    here, listed, paired = (Counter(frame["practice_id"]) for frame in (stored, records, pairs))
    alone = {
        practice_id: min(here[practice_id], listed[practice_id]) - paired[practice_id] for practice_id in listed
    }
    return [name for name, count in alone.items() if count >= _ENOUGH and count > paired[name]]


def _doubtful_zone(time_zone: str) -> merge.Drift:
    doubt = f"most calls of the JSON list have no counterpart in the CSV in {time_zone}: is the time zone right?"
    return merge.Drift("time_zone", "created_at", doubt)
