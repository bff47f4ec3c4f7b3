"""Keep a digest for each mart, practice and day in the published file, and recompute it (`vetl verify`).

The digest of a day is the sum of the hashes of its rows, so it does not depend on their order. DuckDB's own hash
takes 0.8 s for a million calls of 31 columns on two cores; md5 of the same rows as text takes 31 s. The hash finds
accidents and edits; it does not stop somebody who also rewrites the digests: a root noted elsewhere does.

The rows of the private file that a publication was built from have digests, too. Each raw row has held the hash of
its fields since the transaction that stored it with its certificate. So a changed row no longer fits its own hash,
and a missing, added or replaced row changes the digest of its list and practice.
"""

import hashlib
import re
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import duckdb

from vetl.core.errors import WarehouseError
from vetl.core.published_file import DIGESTS
from vetl.endpoints import RECEIVED, REGISTRY
from vetl.publishing.marts import Columns, table_of
from vetl.publishing.statements import Read, columns_of, reading
from vetl.store.connection import Connection, literal, quoted
from vetl.store.tables import RawTable, row_hash

TARGET = f"target.meta.{DIGESTS}"
"""Leaves with a dot in `mart` are of the private file (`digest_inputs`)."""
_PROBE = (
    "hash(hash(row(1, 2.5, 'three', true, date '2026-01-02', timestamptz '2026-01-02 03:04:05Z', null)), 'probe')"
)
"""The hash of a known row: if it differs, this DuckDB hashes in another way than the one that published."""
_DAYS = ("day", "week")


@dataclass(frozen=True, slots=True)
class Leaf:
    """The rows of a mart with one digest. `practice_id` and `day` are `None` if the mart has no such column."""

    mart: str
    practice_id: str | None
    day: date | None


@dataclass(frozen=True, slots=True)
class Verification:
    """What `verify` found. `different` are leaves whose rows changed.

    `root` is a digest of all stored digests; `None` if only a practice or a day was recomputed.
    """

    marts: int
    leaves: int
    root: str | None
    different: tuple[Leaf, ...]


def begin(connection: Connection) -> None:
    """Make the table in the target."""
    (probe,) = connection.execute(f"select {_PROBE}").fetchall()[0]
    comment = f"One row per mart, practice and day: a digest of the rows, for `vetl verify`. Probe {probe}."
    connection.execute(
        f"create table {TARGET} (mart varchar not null, practice_id varchar, day date, rows bigint,"
        " digest varchar)"
    )
    connection.execute(f"comment on table {TARGET} is {literal(comment)}")


def digest_whole(connection: Connection, mart: str, columns: Columns) -> None:
    """Store the digests of a mart that the target holds now."""
    connection.execute(
        f"insert into {TARGET} select {literal(mart)}, practice_id, day, rows, cast(digest as varchar)"
        f" from ({_leaves(columns, f'target.{table_of(mart)}')})"
    )


def verify(file: Path, practice: str | None = None, day: date | None = None) -> Verification:
    """Recompute the digests of a published file: of all rows, or of one practice and one day."""
    with reading(file) as read:
        marts = columns_of(read)
        if DIGESTS not in marts:
            raise WarehouseError(
                f"{file}: has no digests: an older vetl published it; `vetl build` publishes them"
            )
        del marts[DIGESTS]
        _refuse_other_hash(read, file)
        kept = _kept(read, _narrowed("practice_id", "day", practice, day))
        now: dict[Leaf, tuple[int, int]] = {}
        for mart, columns in marts.items():
            if (practice is None or "practice_id" in columns) and (day is None or _day_of(columns) != _NO_DAY):
                chosen = _narrowed("practice_id", _day_of(columns), practice, day)
                rows = read(_leaves(columns, f"(from {table_of(mart)} where {chosen})")).rows
                now.update({Leaf(mart, *leaf): (count, digest) for *leaf, count, digest in rows})
        different = {leaf for leaf in kept.keys() | now.keys() if kept.get(leaf) != now.get(leaf)}
        different |= {Leaf(mart, None, None) for mart in {leaf.mart for leaf in kept} - marts.keys()}
        ordered = sorted(different, key=lambda leaf: (leaf.mart, leaf.practice_id or "", leaf.day or date.min))
        root = _root(read) if practice is None and day is None else None
        return Verification(len(marts), len(kept), root, tuple(ordered))


def _root(read: Read) -> str:
    lines = read(f"select concat_ws(' ', mart, practice_id, day, rows, digest) from meta.{DIGESTS} order by all")
    return hashlib.sha256("\n".join(line for (line,) in lines.rows).encode()).hexdigest()


_NO_DAY = "cast(null as date)"


def _day_of(columns: Columns) -> str:
    return next((name for name in _DAYS if columns.get(name) == "DATE"), _NO_DAY)


def _leaves(columns: Columns, relation: str) -> str:
    """Return SQL for the digests of a relation with these columns. A renamed column changes them all."""
    practice = "practice_id" if "practice_id" in columns else "cast(null as varchar)"
    row = ", ".join(quoted(name) for name in columns)
    named = literal("; ".join(f"{name} {kind}" for name, kind in columns.items()))
    # Without a practice and a day there is no group, and an empty mart would have a leaf.
    return (
        f"select {practice} as practice_id, {_day_of(columns)} as day, count(*) as rows,"
        f" sum(hash(hash(row({row})), {named})) as digest from {relation} group by all"
        " having count(*) > 0"
    )


def _narrowed(practice_column: str, day_column: str, practice: str | None, day: date | None) -> str:
    chosen = [f"{practice_column} = {literal(practice)}"] if practice is not None else []
    if day is not None:
        chosen.append(f"{day_column} = date {literal(day.isoformat())}")
    return " and ".join(chosen) or "true"


def _kept(read: Read, chosen: str) -> dict[Leaf, tuple[int, int]]:
    rows = read(
        f"select mart, practice_id, day, rows, digest from meta.{DIGESTS}"
        f" where {chosen} and not contains(mart, '.')"
    ).rows
    return {Leaf(*leaf): (count, int(digest)) for *leaf, count, digest in rows}


def _refuse_other_hash(read: Read, file: Path) -> None:
    """Return if this DuckDB hashes as the one that published the file."""
    ((comment, probe),) = read(
        f"select (select comment from duckdb_tables() where table_name = '{DIGESTS}'), {_PROBE}"
    ).rows
    if re.findall(r"Probe (\d+)", comment or "") != [str(probe)]:
        raise WarehouseError(
            f"{file}: its digests were made by another version of DuckDB than {duckdb.__version__}; verify it with"
            " the vetl that published it, or publish again"
        )


_KEYS = ("id", "call_key")
_LAST_RUN = "control.runs"


@dataclass(frozen=True, slots=True)
class Inputs:
    """What `verify_inputs` found: the number of rows, and for each list and practice what is not as it was.

    `is_older` says that the private file was synced after the publication, so that only rows were compared with
    their own hashes, and not the lists with the digests of the publication.
    """

    rows: int
    changed: tuple[tuple[str, str, int], ...]
    different: tuple[tuple[str, str], ...]
    is_older: bool


_RAW_COLUMNS = (
    "select table_name, list(column_name) from duckdb_columns() where (database_name, schema_name) ="
    " (current_database(), 'raw') group by all having list_contains(list(column_name), '_row_hash')"
)


def digest_inputs(connection: Connection) -> None:
    """Store the digests of the raw tables of the private file, the default database, in the target."""
    columns = connection.execute(_RAW_COLUMNS).fetchall()
    for table, names in columns:
        digests = _digests(f"raw.{quoted(table)}", names)
        connection.execute(
            f"insert into {TARGET} select {literal(f'raw.{table}')}, practice_id, null, rows, digest"
            f" from ({digests})"
        )
    if columns:
        connection.execute(
            f"insert into {TARGET} select '{_LAST_RUN}', null, null, count(*), {_LAST} from control.runs"
        )


def verify_inputs(private: Path, published: Path, practice: str | None = None) -> Inputs:
    """Compare the raw rows of a private file with their own hashes, and with the digests of a published file."""
    of_practice = "true" if practice is None else f"practice_id = {literal(practice)}"
    with reading(published) as read:
        kept = {
            (mart, key): (rows, digest)
            for mart, key, rows, digest in read(
                "select mart, practice_id, rows, digest from meta.digests"
                f" where (starts_with(mart, 'raw.') and {of_practice}) or mart = '{_LAST_RUN}'"
            ).rows
        }
    with reading(private) as read:
        columns = dict(read(_RAW_COLUMNS).rows)
        changed: list[tuple[str, str, int]] = []
        now: dict[tuple[str, str], tuple[int, str]] = {}
        for endpoint in (*REGISTRY, *RECEIVED):
            table = RawTable.of(endpoint)
            name, names = f"raw.{endpoint.table}", columns.get(endpoint.table)
            if names:
                hashed = row_hash(table.hashed, "stored")
                changed += read(
                    f"select {literal(name)}, practice_id, count(*) from {table.raw} as stored"
                    f" where _row_hash is distinct from {hashed} and {of_practice} group by all order by all"
                ).rows
                found = read(f"from ({_digests(table.raw, names)}) where {of_practice}").rows
                now |= {(name, key): (rows, digest) for key, rows, digest in found}
        ((runs, last),) = read(f"select count(*), {_LAST} from control.runs").rows
    is_older = kept.pop((_LAST_RUN, None), None) != (runs, last)  # pyright: ignore[reportArgumentType] - has no practice
    different = () if is_older else (one for one in now.keys() | kept.keys() if now.get(one) != kept.get(one))
    return Inputs(sum(rows for rows, _ in now.values()), tuple(changed), tuple(sorted(different)), is_older)


_LAST = "max_by(run_id, started_at)"


def _digests(relation: str, columns: list[str]) -> str:
    """Return SQL for the rows and the digest of each practice that the source still has."""
    keys = ", ".join(quoted(name) for name in ("_row_hash", *_KEYS) if name in columns)
    return (
        f"select practice_id, count(*) as rows, cast(sum(hash({keys})) as varchar) as digest from {relation}"
        " where _deleted_at is null group by practice_id"
    )
