"""Keep a digest for each mart, practice and day in the published file, and recompute it (`vetl verify`).

The digest of a day is the sum of the hashes of its rows, so it does not depend on their order. DuckDB's own hash
takes 0.8 s for a million calls of 31 columns on two cores; md5 of the same rows as text takes 31 s. The hash finds
accidents and edits; it does not stop somebody who also rewrites the digests: a root noted elsewhere does.
"""

import hashlib
import re
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import duckdb

from vetl.core.errors import WarehouseError
from vetl.core.published import DIGESTS
from vetl.publishing.marts import Columns, table_of
from vetl.publishing.query import Read, columns_of, reading
from vetl.store.connection import literal, quoted

TARGET = f"target.meta.{DIGESTS}"
"""Leaves with a dot in `mart` are of the private file (`inputs.py`)."""
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


def begin(connection: duckdb.DuckDBPyConnection) -> None:
    """Make the table in the target."""
    (probe,) = connection.execute(f"select {_PROBE}").fetchall()[0]
    comment = f"One row per mart, practice and day: a digest of the rows, for `vetl verify`. Probe {probe}."
    connection.execute(
        f"create table {TARGET} (mart varchar not null, practice_id varchar, day date, rows bigint,"
        " digest varchar)"
    )
    connection.execute(f"comment on table {TARGET} is {literal(comment)}")


def digest_whole(connection: duckdb.DuckDBPyConnection, mart: str, columns: Columns) -> None:
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
        root = _root(read) if practice is None and day is None else None
        return Verification(len(marts), len(kept), root, tuple(sorted(different, key=_order)))


def _root(read: Read) -> str:
    """Return the digest of all digests."""
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


def _order(leaf: Leaf) -> tuple[str, str, date]:
    return leaf.mart, leaf.practice_id or "", leaf.day or date.min
