"""Bring the tables of a lake up to date: the partitions that changed, and nothing if none did.

The table `control.exports` has the digest of every partition as each folder has written it, and the version of its
table. It is written last: after a kill the next export writes the partitions again that it does not list.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from time import monotonic
from typing import Any

import duckdb
import polars as pl
from deltalake import CommitProperties, DeltaTable

from vetl.addons.lake.delta import Lake, LakeError, schema_of, sql_types
from vetl.addons.lake.lake_tables import FOLDER, LakeTable, Partition, among

EXPORTS = LakeTable("control.exports", "", (), FOLDER, has_month=False)
ROWS_AT_ONCE = 500_000
"""Rows of a commit, if they are of several practices: those of one are always replaced together."""

NOTED_EACH = 30
"""Seconds after which a long export notes what it has written."""

_SCHEMA: dict[str, Any] = {
    FOLDER: pl.String,
    "exported_at": pl.Datetime("us", "UTC"),
    "table_name": pl.String,
    "table_id": pl.String,
    "version": pl.Int64,
    "practice_id": pl.String,
    "month": pl.String,
    "rows": pl.Int64,
    "digest": pl.String,
}


_EMPTY: dict[Partition, tuple[int, str]] = {(None, None): (0, "")}
"""The entry of a table without rows."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What a commit says of its rows: the folder that wrote them, its last run, and its certificates in words."""

    folder: str
    run: str
    certificate: str

    def commit(self, digest: str) -> CommitProperties:
        """Return the properties of a commit of rows with this digest."""
        metadata = {"folder": self.folder, "run": self.run, "certificate": self.certificate, "digest": digest}
        return CommitProperties(metadata)


@dataclass(slots=True)
class Exported:
    """The result: the names of all tables, the rows of each that were written, and the number of commits."""

    location: str
    tables: list[str] = field(default_factory=list[str])
    rows: dict[str, int] = field(default_factory=dict[str, int])
    commits: int = 0


@dataclass(slots=True)
class _Written:
    """A table as this folder has written it: its id in Delta, its version, and rows and digest by partition."""

    table_id: str
    version: int
    exported_at: datetime
    partitions: dict[Partition, tuple[int, str]]


class Export:
    """An export in progress."""

    def __init__(self, lake: Lake, facts: Facts, keep_days: int) -> None:
        self._lake, self._facts, self._hours = lake, facts, 24 * keep_days
        self._written = _read(lake, facts.folder)
        self._at, self._noted_at = datetime.now(UTC), monotonic()
        self.result = Exported(lake.location)

    def update(self, connection: duckdb.DuckDBPyConnection, tables: Iterable[LakeTable]) -> None:
        """Bring these tables up to date, each by a commit for about half a million rows.

        Raises:
            LakeError: the lake cannot be read or written.
        """
        for table in tables:
            self.result.tables.append(table.name)
            self._update(connection, table)
            if self.result.commits and monotonic() - self._noted_at > NOTED_EACH:
                self.note()

    def _update(self, connection: duckdb.DuckDBPyConnection, table: LakeTable) -> None:
        now = table.digests(connection)
        before = self._written.get(table.name)
        delta = self._lake.opened(table.name)
        if before and delta and before.table_id == _id(delta) and before.partitions == now:
            return
        rows = connection.sql(table.relation)
        if delta is None:
            delta = self._lake.made(table, rows.limit(0).to_arrow_table().schema, self._facts.commit(""))
            self.result.commits += 1
        known = before.partitions if before and before.table_id == _id(delta) else {}
        either = now.keys() | known.keys()
        changed = {one: now.get(one, (0, "")) for one in either if now.get(one) != known.get(one)}
        if self._is_of_other_types(delta, rows, table, now):
            self._write(connection, table, changed, None, with_schema=True)
        else:
            written = {practice for practice, _ in known}
            for some in _batches(changed):
                whole = {practice for practice, _ in some} - written
                self._write(connection, table, some, table.condition(some, whole) if table.key else None)
        if changed and before and before.exported_at.date() < self._at.date():
            self._lake.clear(table.name, self._hours, self._facts.commit(""))
        delta.update_incremental()
        self._written[table.name] = _Written(_id(delta), delta.version(), self._at, now)

    def _write(
        self,
        connection: duckdb.DuckDBPyConnection,
        table: LakeTable,
        some: Mapping[Partition, tuple[int, str]],
        condition: str | None,
        *,
        with_schema: bool = False,
    ) -> None:
        select = f"select * from ({table.relation}) where {condition or 'true'}"
        digest = f"{sum(int(digest.partition('.')[0] or 0) for _, digest in some.values()) % 2**64:016x}"
        self._lake.replace(
            table, lambda: connection.sql(select), condition, self._facts.commit(digest), with_schema=with_schema
        )
        self.result.commits += 1
        written = sum(rows for rows, _ in some.values())
        self.result.rows[table.name] = self.result.rows.get(table.name, 0) + written

    def _is_of_other_types(
        self, delta: DeltaTable, rows: duckdb.DuckDBPyRelation, table: LakeTable, now: Iterable[Partition]
    ) -> bool:
        """Return whether a column has another type in the lake, so that the table is written whole."""
        there, here = sql_types(delta.schema()), sql_types(schema_of(rows))
        unlike = [name for name in here if there.get(name, here[name]) != here[name]]
        if not unlike:
            return False
        if table.key:
            others = {item[table.key] for item in delta.partitions()} - {practice for practice, _ in now}
            if others:
                raise LakeError(
                    f"{self._lake.place(table.name)}: {unlike[0]} is {there[unlike[0]]} there and"
                    f" {here[unlike[0]]} here; other folders have practices there, too: upgrade vetl in all of"
                    " them, remove the table, and export from each"
                )
        return True

    def clear(self) -> None:
        """Remove all files of earlier versions, and those that killed exports left of this folder's practices.

        Raises:
            LakeError: the lake cannot be written.
        """
        for name in self.result.tables:
            self._lake.clear(name, 0, self._facts.commit(""))
            written = self._written.get(name)
            practices = {practice for practice, _ in written.partitions if practice} if written else set[str]()
            for path in self._lake.dead_files(name, practices):
                self._lake.remove(name, path)

    def finish(self) -> Exported:
        """Note what was written, if anything was.

        Raises:
            LakeError: the lake cannot be written.
        """
        if self.result.commits:
            self.note()
        return self.result

    def note(self) -> None:
        """Write the table of exports."""
        facts = self._facts
        rows = [
            (facts.folder, table.exported_at, name, table.table_id, table.version, practice, month, count, digest)
            for name, table in self._written.items()
            for (practice, month), (count, digest) in sorted((table.partitions or _EMPTY).items(), key=str)
        ]
        frame = pl.DataFrame(rows, _SCHEMA, orient="row")
        commit = facts.commit("")
        self._lake.made(EXPORTS, frame.to_arrow().schema, commit)
        with duckdb.connect() as connection:
            connection.register("noted", frame.to_arrow())
            self._lake.replace(EXPORTS, lambda: connection.table("noted"), among(FOLDER, [facts.folder]), commit)
        self._noted_at = monotonic()


def _id(table: DeltaTable) -> str:
    return str(table.metadata().id)


def _batches(changed: Mapping[Partition, tuple[int, str]]) -> Iterator[dict[Partition, tuple[int, str]]]:
    """Yield the partitions of some practices after the other."""
    some: dict[Partition, tuple[int, str]] = {}
    rows = 0
    last: str | None = None
    for partition in sorted(changed, key=lambda one: tuple(part or "" for part in one)):
        if rows >= ROWS_AT_ONCE and partition[0] != last:
            yield some
            some, rows = {}, 0
        some[partition] = changed[partition]
        rows += changed[partition][0]
        last = partition[0]
    if some:
        yield some


def _read(lake: Lake, folder: str) -> dict[str, _Written]:
    tables: dict[str, _Written] = {}
    for row in exports_of(lake):
        if row[FOLDER] == folder:
            table = tables.setdefault(
                row["table_name"], _Written(row["table_id"], row["version"], row["exported_at"], {})
            )
            if row["digest"]:
                table.partitions[row["practice_id"], row["month"]] = row["rows"], row["digest"]
    return tables


def exports_of(lake: Lake) -> list[dict[str, Any]]:
    """Return the rows of the table of exports, of all folders; none before the first export.

    Raises:
        LakeError: the lake cannot be read.
    """
    table = lake.opened(EXPORTS.name)
    if table is None:
        return []
    with lake.in_one_line():
        return pl.DataFrame(table.to_pyarrow_table()).to_dicts()


def names_of(lake: Lake) -> list[str]:
    """Return the names of all tables.

    Raises:
        LakeError: the lake cannot be read.
    """
    return sorted({row["table_name"] for row in exports_of(lake)})
