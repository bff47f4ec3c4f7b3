"""Merge rows by key: the later of two versions stays, and unchanged rows are not written.

New rows are appended, superseded versions move to history, deleted rows are marked; none is overwritten. Fields
and values that the contract does not list are recorded in `control.schema_changes`, rows that changed after an
earlier certificate in `control.restatements`.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import polars as pl

from vetl.core.endpoint import Column, NewestFirst
from vetl.core.list_read import Margins
from vetl.core.pages import Changes, Row
from vetl.core.steps import MergeRows, MissingRecords
from vetl.core.text import is_label
from vetl.store.commit import Commit, added, counted, frame_of, registered_frames
from vetl.store.connection import equal, literal, quoted, same_key
from vetl.store.control import bad_rows, state
from vetl.store.frames import EXTRA, POSITION, Shape, Typed, joined, typed
from vetl.store.instants import INSTANT
from vetl.store.tables import RawTable, row_hash

_LONGEST_FIELD_NAME = 60


@dataclass(frozen=True, slots=True)
class Drift:
    """One departure from the contract. `name` is the field, `value` the new value or empty."""

    kind: str
    name: str
    value: str = ""

    @property
    def line(self) -> str:
        """Return one line for the operator."""
        match self.kind:
            case "new_field":
                return f"new field {self.name}"
            case "new_value":
                return f"new value {self.value} in {self.name}"
            case _:
                return self.value


Departure = tuple[str, Drift]
"""A practice's id, and a departure of its list."""


def new_fields(fields: Iterable[tuple[str, str]]) -> list[Departure]:
    """Return fields that the contract does not list, each with the practice whose rows have it."""
    return [(practice_id, Drift("new_field", name[:_LONGEST_FIELD_NAME])) for practice_id, name in sorted(fields)]


def new_values(frame: pl.DataFrame, columns: Sequence[Column]) -> list[Departure]:
    """Return enum values that the contract does not list; a value that is no label is masked."""
    listed = {column.name: list(column.values) for column in columns if column.values is not None}
    strange = {name: ~pl.col(name).is_in(values) for name, values in listed.items()}
    any_strange = frame.select(is_strange.any().alias(name) for name, is_strange in strange.items())
    return [
        (practice_id, Drift("new_value", name, value if is_label(value) else f"(masked, {len(value)} characters)"))
        for name in any_strange.columns
        if any_strange[name].item()
        for practice_id, value in frame.filter(strange[name])["practice_id", name].unique().sort(name).rows()
    ]


def record_drift(commit: Commit, departures: Iterable[Departure]) -> dict[str, Changes]:
    """Record new departures; return a line for each of them, by practice."""
    distinct = dict.fromkeys(departures)
    if not distinct:
        return {}
    recorded = commit.connection.execute(
        "select practice_id, kind, name, value from control.schema_changes where endpoint = ?",
        [commit.endpoint_name],
    ).fetchall()
    new = [(of, drift) for of, drift in distinct if (of, drift.kind, drift.name, drift.value) not in recorded]
    for of, drift in new:
        row = [of, commit.endpoint_name, drift.kind, drift.name, drift.value, commit.run_id, commit.clocks[of]]
        commit.connection.execute("insert into control.schema_changes values (?, ?, ?, ?, ?, ?, ?)", row)
    return added({practice_id: Changes(drift=(drift.line,))} for practice_id, drift in new)


def record_restatements(commit: Commit, restated: pl.DataFrame, on: Sequence[str]) -> dict[str, Changes]:
    """Record rows that were just written or marked as deleted as restated; return their number by practice.

    `restated` has `practice_id`, the columns `on` that identify the rows, and their read time `noticed_at`. Only
    raw rows that this read wrote are recorded.
    """
    if restated.is_empty():
        return {}
    has_ids = commit.table.endpoint.strategy.has_ids
    matching = same_key("stored", "restated", on) if has_ids else equal("stored", "restated", ("practice_id", *on))
    row = ("practice_id", *commit.table.endpoint.key)
    key = ", ".join(f"stored.{quoted(name)}" for name in commit.table.endpoint.key)
    changed = ", ".join(
        f"case when stored.{quoted(name)} is distinct from before.{quoted(name)} then {literal(name)} end"
        for name in (column.name for column in commit.table.hashed)
    )
    with registered_frames(commit.connection, restated=restated):
        stored = commit.connection.execute(
            "insert into control.restatements by name"
            " select restated.practice_id, $endpoint as endpoint, $run as run_id,"
            f" concat_ws('/', {key}) as row_key, restated.noticed_at,"
            " case when stored._deleted_at is not null then 'vanished'"
            " when before._valid_to is not null then 'changed' else 'appeared' end as kind,"
            " case when before._valid_to is null or stored._deleted_at is not null then []"
            f" else list_filter([{changed}], lambda name: name is not null) end as columns"
            f" from {commit.table.raw} as stored join restated on {matching}"
            " and restated.noticed_at = coalesce(stored._deleted_at, stored._loaded_at)"
            f" left join {commit.table.history} as before on {equal('before', 'stored', row)}"
            " and before._valid_to = restated.noticed_at"
            " returning practice_id",
            {"endpoint": commit.endpoint_name, "run": commit.run_id},
        ).fetchall()
    return {practice_id: Changes(restated=rows) for (practice_id,), rows in Counter(stored).items()}


TARGET = "_target"
"""The row id, in the raw table, of the row that an incoming row supersedes; null for a new row."""


def with_row_hash(commit: Commit, rows: pl.DataFrame) -> pl.DataFrame:
    """Return rows with their `_row_hash`."""
    numbered = rows.with_row_index("_row")
    with registered_frames(commit.connection, numbered=numbered):
        hashes = frame_of(
            commit.connection,
            f"select _row, {row_hash(commit.table.hashed, 'numbered')} as _row_hash from numbered",
        )
    return numbered.join(hashes, on="_row", how="left", maintain_order="left").drop("_row")


def write(commit: Commit, frame: pl.DataFrame) -> None:
    """Write the columns of rows that are those of the table; a row is valid from its `_loaded_at`.

    A row with a `_target` supersedes that row, which moves to history unchanged.
    """
    if frame.is_empty():
        return
    table = commit.connection
    superseded = frame.filter(pl.col(TARGET).is_not_null()).select(TARGET, until="_loaded_at")
    if not superseded.is_empty():
        state.note_stored(commit, superseded)
        with registered_frames(table, superseded=superseded):
            table.execute(
                f"insert into {commit.table.history} by name"
                " select stored.*, stored._loaded_at as _valid_from, superseded.until as _valid_to"
                f" from {commit.table.raw} as stored join superseded on stored.rowid = superseded._target"
            )
            table.execute(f"delete from {commit.table.raw} where rowid in (select _target from superseded)")
    state.note_new(commit, frame)
    own = [column.name for column in commit.table.columns]
    with registered_frames(table, written=frame.select("practice_id", *own, EXTRA, "_loaded_at", "_row_hash")):
        table.execute(
            f"insert into {commit.table.raw} by name"
            " select written.*, ? as _run_id, null as _deleted_at from written",
            [commit.run_id],
        )
    state.record_mentions(commit, frame)


def update(commit: Commit, frame: pl.DataFrame, values: str) -> None:
    """Update rows of raw (`_target`) by SQL over them and their row of the frame, `given`. No version is made."""
    if frame.is_empty():
        return
    state.note_stored(commit, frame)
    with registered_frames(commit.connection, given=frame):
        commit.connection.execute(
            f"update {commit.table.raw} as stored set {values}, _run_id = ?"
            " from given where stored.rowid = given._target",
            [commit.run_id],
        )


def touch(commit: Commit, frame: pl.DataFrame) -> None:
    """Update rows whose own fields are unchanged, but that were marked as deleted or had other unknown fields.

    `frame` has `_target`, `_loaded_at` and `_extra`.
    """
    loaded_at = "if(stored._deleted_at is null, stored._loaded_at, given._loaded_at)"
    update(commit, frame, f"_deleted_at = null, _extra = given._extra, _loaded_at = {loaded_at}")


def mark_deleted(commit: Commit, frame: pl.DataFrame) -> None:
    """Mark rows as deleted at the source: `frame` has `_target` and `_deleted_at`. The rows stay in raw."""
    update(commit, frame, "_deleted_at = given._deleted_at")


_SEALED = "_sealed_before"
LAG = Margins().overlap
"""Most time by which an answer, from a replica or a cache, may be behind the source."""


def merge_rows(commit: Commit, saves: Sequence[tuple[str, MergeRows]]) -> dict[str, Changes]:
    """Merge all rows of these saves, each with the id of its practice, at once.

    The later read wins. But an answer may be as late as a row may be (`LAG`), so a version does not replace one
    with a later `updated_at` within that time of the read.
    """
    if not any(len(save.rows) for _, save in saves):
        return {}
    endpoint = commit.table.endpoint
    batch = read_rows(commit.table, saves)
    batch = replace(batch, frame=commit.pseudonyms.in_rows(commit.table, batch.frame))
    departures = [*new_fields(batch.new_fields), *new_values(batch.frame, commit.table.columns)]
    noted = [bad_rows.quarantine_rows(commit, batch.bad), record_drift(commit, departures)]
    latest = _latest(commit, _with_read_times(batch.frame, [save for _, save in saves]))
    bad_rows.resolve_keys(commit, latest, endpoint.key)
    if not endpoint.strategy.has_list:
        state.keep_read(commit, latest, batch.bad)
    rows = latest.join(_compared(commit, latest), on=POSITION)
    changed = pl.col("_stored_hash").ne_missing(pl.col("_row_hash"))
    newer = ~pl.col("_outdated") | pl.col("_was_deleted")
    is_written, is_touched = changed & newer, ~changed & (pl.col("_was_deleted") | pl.col("_extra_differs"))
    written, touched = rows.filter(is_written), rows.filter(is_touched)
    write(commit, written)
    touch(commit, touched.select(TARGET, "_loaded_at", EXTRA))
    is_new = pl.col(TARGET).is_null()
    restated = _restated(commit, written)
    return added(
        [
            *noted,
            counted(inserted=written.filter(is_new), updated=written.filter(~is_new)),
            counted(updated=touched, unchanged=rows.filter(~is_written & ~is_touched)),
            counted(late=restated) if commit.table.has("updated_at") else {},
            record_restatements(commit, restated, endpoint.key),
        ]
    )


def read_rows(table: RawTable, saves: Sequence[tuple[str, MergeRows]]) -> Typed:
    """Return the typed rows of all these saves, numbered through all saves."""
    batches: list[Typed] = []
    rows: list[Row] = []
    practices: list[str] = []
    places: list[int] = []
    start = 0
    for practice_id, save in saves:
        own = range(start, start + len(save.rows))
        start = own.stop
        if isinstance(save.rows, Typed):
            batches.append(save.rows.at(own))
        else:
            assert isinstance(save.rows, Sequence)
            rows += save.rows
            practices += [practice_id] * len(own)
            places += own
    if rows:
        shape = Shape(table.columns, table.endpoint.key, table.endpoint.record)
        batches.append(typed(rows, shape, practices).at(places))
    return joined(batches)


def mark_missing(commit: Commit, saves: Sequence[tuple[str, MissingRecords]]) -> dict[str, Changes]:
    """Record ids that the source does not have, and mark their rows in raw as deleted."""
    ids = {(practice_id, str(item)): save.read_at for practice_id, save in saves for item in save.ids}
    if not ids:
        return {}
    missing = state.keep_missing(commit, ids)
    bad_rows.resolve_keys(commit, missing, ("id",))
    with registered_frames(commit.connection, missing=missing):
        gone = frame_of(
            commit.connection,
            f"select stored.rowid as {TARGET}, stored.practice_id, stored.id, missing.read_at as _deleted_at"
            f" from {commit.table.raw} as stored join missing on {same_key('stored', 'missing', ('id',))}"
            " where stored._deleted_at is null",
        )
    mark_deleted(commit, gone.select(TARGET, "_deleted_at"))
    restated = gone.select("practice_id", "id", noticed_at="_deleted_at")
    return added([counted(deleted=gone), record_restatements(commit, restated, ("id",))])


def _with_read_times(frame: pl.DataFrame, saves: Sequence[MergeRows]) -> pl.DataFrame:
    """Add the read time of each row (`_loaded_at`), and the end of the sealed part of its window."""
    reads = pl.DataFrame(
        {
            "_loaded_at": pl.Series([save.read_at for save in saves], dtype=INSTANT),
            _SEALED: pl.Series([save.sealed_before for save in saves], dtype=INSTANT),
        }
    )
    of_row = pl.Series([index for index, save in enumerate(saves) for _ in range(len(save.rows))], dtype=pl.UInt32)
    return frame.hstack(reads[of_row.gather(frame[POSITION])])


def _latest(commit: Commit, frame: pl.DataFrame) -> pl.DataFrame:
    """Return one row for each key: the row with the latest `updated_at`, else of the latest read."""
    order = ["updated_at", "_loaded_at", POSITION] if commit.table.has("updated_at") else ["_loaded_at", POSITION]
    ordered = frame.sort(order, nulls_last=True)
    return ordered.unique(["practice_id", *commit.table.endpoint.key], keep="last", maintain_order=True)


def _compared(commit: Commit, incoming: pl.DataFrame) -> pl.DataFrame:
    """Return the stored hash, status and marks beside each incoming row."""
    match = same_key("stored", "fresh", commit.table.endpoint.key)
    status = "stored.status" if commit.table.has("status") else "null::varchar"
    with registered_frames(commit.connection, incoming=incoming):
        return frame_of(
            commit.connection,
            f"with fresh as (select *, {row_hash(commit.table.hashed, 'incoming')} as _row_hash from incoming)"
            f" select fresh.{POSITION}, fresh._row_hash, stored.rowid as {TARGET},"
            f" stored._row_hash as _stored_hash, coalesce({_outdated(commit.table)}, false) as _outdated,"
            " coalesce(stored._deleted_at is not null, false) as _was_deleted,"
            f" stored.{EXTRA} is distinct from fresh.{EXTRA} as _extra_differs, {status} as _stored_status"
            f" from fresh left join {commit.table.raw} as stored on {match}",
        )


def _outdated(table: RawTable) -> str:
    """Return SQL for whether the stored version is later than the fresh one, which may come from a late answer."""
    if not table.has("updated_at"):
        return "false"
    later = "stored.updated_at > fresh.updated_at"
    # A change that is ahead of its read was no answer's: the times were read in a wrong zone, or by a wrong clock.
    lag = f"interval {LAG.total_seconds():.0f} seconds"
    return f"{later} and stored.updated_at between fresh._loaded_at - {lag} and fresh._loaded_at + {lag}"


def _restated(commit: Commit, written: pl.DataFrame) -> pl.DataFrame:
    """Return the keys and read times of written rows that an earlier sync should have brought.

    A row is restated if it was last changed inside the sealed part of its window; without `updated_at`, if it
    leaves a final status.
    """
    strategy = commit.table.endpoint.strategy
    if commit.table.has("updated_at"):
        unexpected = pl.col("updated_at") < pl.col(_SEALED)
    elif isinstance(strategy, NewestFirst):
        unexpected = pl.col(TARGET).is_not_null() & ~pl.col("_stored_status").is_in(list(strategy.open_statuses))
    else:
        unexpected = pl.lit(value=False)
    return written.filter(unexpected).select("practice_id", *commit.table.endpoint.key, noticed_at="_loaded_at")
