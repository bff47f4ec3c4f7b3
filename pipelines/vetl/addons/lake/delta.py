"""The Delta tables of a lake in a folder or a bucket, and bringing them up to date.

A table is opened, written in one commit, and cleared of old versions. An export writes the partitions that
changed, and nothing if none did. The table `control.exports` has the digest of every partition as each folder has
written it, and the version of its table. It is written last: after a kill the next export writes the partitions
again that it does not list.
"""

import json
import re
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from random import uniform
from time import sleep
from typing import Any
from urllib.parse import unquote

import duckdb
import polars as pl
from deltalake import CommitProperties, DeltaTable, Schema, WriterProperties, write_deltalake
from deltalake.exceptions import CommitFailedError, DeltaError, TableNotFoundError
from deltalake.fs import DeltaStorageHandler

from vetl.addons.lake.lake_tables import FOLDER, LakeTable, Partition, among
from vetl.addons.lake.settings import LakeSettings
from vetl.core.errors import Permanent
from vetl.settings import Settings
from vetl.store.connection import Connection, remedy_in

_ATTEMPTS = 20
"""Attempts of a commit. Folders write different practices, so only tables without practices can collide."""

_BATCH = 50_000
_LONGEST = 400
_PROPERTIES = {
    # The smallest and the largest values would stand in the log, where no vacuum reaches a name.
    "delta.dataSkippingNumIndexedCols": "0",
    "delta.logRetentionDuration": "interval 7 days",
}


class LakeError(Permanent):
    """The lake cannot be read or written; each table has its last commit."""


@dataclass(frozen=True, slots=True)
class Lake:
    """A place with tables. Every method may raise a `LakeError`."""

    location: str

    @classmethod
    def of(cls, settings: Settings) -> "Lake":
        """Return the lake of the settings."""
        return cls(LakeSettings.of(settings).location(settings.warehouse.path))

    def place(self, name: str) -> str:
        """Return the place of a table, `raw.phone_calls`."""
        return f"{self.location}/{name.replace('.', '/')}"

    def opened(self, name: str) -> DeltaTable | None:
        """Return a table; `None` if it does not exist."""
        with self.in_one_line(), suppress(TableNotFoundError):
            return DeltaTable(self.place(name))
        return None

    def made(self, table: LakeTable, schema: Schema, commit: CommitProperties) -> DeltaTable:
        """Return a new table, or that which another folder made at this moment."""
        with self.in_one_line():
            try:
                return DeltaTable.create(
                    self.place(table.name),
                    schema,
                    mode="ignore",
                    partition_by=table.partitioned_by,
                    configuration=_PROPERTIES,
                    commit_properties=commit,
                )
            except DeltaError:
                if there := self.opened(table.name):
                    return there
                raise

    def replace(
        self,
        name: str,
        rows: Callable[[], duckdb.DuckDBPyRelation],
        condition: str | None,
        commit: CommitProperties,
    ) -> None:
        """Replace the rows that fulfil the condition, or all, in one commit."""
        with self.in_one_line(name):
            for left in reversed(range(_ATTEMPTS)):
                try:
                    write_deltalake(
                        self.place(name),
                        rows().to_arrow_reader(_BATCH),
                        mode="overwrite",
                        predicate=condition,
                        schema_mode="merge",
                        commit_properties=commit,
                        writer_properties=WriterProperties(compression="ZSTD"),
                    )
                except CommitFailedError:
                    if not left:
                        raise
                    sleep(uniform(0, 0.5))  # noqa: S311 - two writers should not meet again
                else:
                    return

    def clear(self, name: str, commit: CommitProperties, hours: int, practices: Collection[str] = ()) -> None:
        """Remove the files that were replaced so many hours ago, and those that killed exports have left.

        With 0 hours the latter only of these practices, because other folders may write at this moment.
        """
        with self.in_one_line():
            table = DeltaTable(self.place(name))
            how: dict[str, Any] = {"enforce_retention_duration": False, "full": hours > 0}
            if table.vacuum(hours, dry_run=True, **how):
                table.vacuum(hours, dry_run=False, commit_properties=commit, **how)
            for path in self.dead_files(name, practices):
                self._files(name).delete_file(path)

    def dead_files(self, name: str, practices: Collection[str]) -> list[str]:
        """Return the files of these practices that the table does not have now."""
        with self.in_one_line():
            table = DeltaTable(self.place(name))
            dead = table.vacuum(0, dry_run=True, enforce_retention_duration=False, full=True) if practices else []
            folders = {path: path.partition("/")[0].removeprefix("practice_id=") for path in dead}
            ours = [path for path, folder in folders.items() if unquote(folder) in practices]
            # Those that were removed before are listed too, as long as the log names them.
            infos = self._files(name).get_file_info(ours)
            return [path for path, info in zip(ours, infos, strict=True) if info.is_file]

    def _files(self, name: str) -> DeltaStorageHandler:
        return DeltaStorageHandler(self.place(name))

    @contextmanager
    def in_one_line(self, name: str = "") -> Generator[None]:
        """Raise a `LakeError` of one line, with the place of a table, for an error of the storage or of Delta."""
        try:
            yield
        except (DeltaError, OSError) as error:
            # Rust's errors have colours, and the answers of S3 are XML.
            text = re.sub(r"\x1b\[[0-9;]*m|↳", " ", str(error)).partition("<?xml")[0]
            line = " ".join(text.split())[:_LONGEST]
            raise LakeError(
                f"{self.place(name) if name else self.location}: {line}{remedy_in(str(error))}"
            ) from None


def schema_of(rows: duckdb.DuckDBPyRelation) -> Schema:
    """Return the schema of rows in Delta."""
    return Schema.from_arrow(rows.limit(0).to_arrow_table().schema)


def sql_types(schema: Schema) -> dict[str, str]:
    """Return the types of columns as Spark spells them."""
    fields: list[dict[str, Any]] = json.loads(schema.to_json())["fields"]
    return {item["name"]: _sql_type(item["type"]) for item in fields}


def _sql_type(kind: Any) -> str:  # noqa: ANN401 - a name, or an object
    return kind if isinstance(kind, str) else f"array<{_sql_type(kind['elementType'])}>"


Digests = Mapping[Partition, tuple[int, str]]
"""Rows and a digest of each partition."""

ROWS_AT_ONCE = 500_000
"""Rows of a commit, if they are of several practices: those of one are always replaced together."""

EXPORTS = LakeTable("control.exports", "", (), FOLDER, has_month=False)
_SCHEMA: dict[str, Any] = {
    **dict.fromkeys((FOLDER, "table_name", "table_id", "practice_id", "month", "digest"), pl.String),
    **dict.fromkeys(("version", "rows"), pl.Int64),
    "exported_at": pl.Datetime("us", "UTC"),
}


@dataclass(slots=True)
class Exported:
    """The result: the names of all tables, the rows of each that were written, and the number of commits."""

    location: str
    tables: list[str] = field(default_factory=list[str])
    rows: dict[str, int] = field(default_factory=dict[str, int])
    commits: int = 0


@dataclass(slots=True)
class _Written:
    """A table as this folder has written it."""

    table_id: str
    version: int
    exported_at: datetime
    partitions: dict[Partition, tuple[int, str]]


class Export:
    """An export in progress. Each commit says the facts: the folder that wrote it, its run and certificates.

    Every method may raise a `LakeError`.
    """

    def __init__(self, lake: Lake, facts: Mapping[str, str], keep_days: int) -> None:
        self._lake, self._facts, self._hours = lake, facts, 24 * keep_days
        self._written = _read(lake, facts[FOLDER])
        self._at = datetime.now(UTC)
        self.result = Exported(lake.location)

    def update(self, connection: Connection, tables: Iterable[LakeTable]) -> None:
        """Bring these tables up to date, each by a commit for about half a million rows."""
        for table in tables:
            self.result.tables.append(table.name)
            now, before = table.digests(connection), self._written.get(table.name)
            delta = self._lake.opened(table.name)
            if delta is None:
                delta = self._lake.made(table, schema_of(connection.sql(table.relation)), self._commit())
                self.result.commits += 1
            else:
                self._refuse_other_types(connection, table, delta)
            known = before.partitions if before and before.table_id == _id(delta) else {}
            if now != known:
                self._change(connection, table, known, now)
                if before and before.exported_at.date() < self._at.date():
                    self._lake.clear(table.name, self._commit(), self._hours)
                delta.update_incremental()
            if now != known or before is None or before.table_id != _id(delta):
                self._written[table.name] = _Written(_id(delta), delta.version(), self._at, now)

    def _refuse_other_types(self, connection: Connection, table: LakeTable, delta: DeltaTable) -> None:
        """Refuse a column of another type, because Delta would cast its values to the old one: `00731` to 731."""
        there, here = sql_types(delta.schema()), sql_types(schema_of(connection.sql(table.relation)))
        for name in here.keys() & there.keys():
            if here[name] != there[name]:
                raise LakeError(
                    f"{self._lake.place(table.name)}: {name} is {there[name]} there and {here[name]} here; remove"
                    " the table, and the next export writes it whole (with one version of vetl in all folders)"
                )

    def _change(self, connection: Connection, table: LakeTable, known: Digests, now: Digests) -> None:
        either = now.keys() | known.keys()
        changed = {one: now.get(one, (0, "0")) for one in either if now.get(one) != known.get(one)}
        for some in _batches(changed):
            whole = {practice for practice, _ in some} - {practice for practice, _ in known}
            condition = table.condition(some, whole) if table.key else None
            select = f"select * from ({table.relation}) where {condition or 'true'}"
            digest = sum(int(digest.partition(".")[0]) for _, digest in some.values()) % 2**64
            self._lake.replace(
                table.name, lambda select=select: connection.sql(select), condition, self._commit(f"{digest:016x}")
            )
            self.result.commits += 1
            self.result.rows[table.name] = self.result.rows.get(table.name, 0) + sum(n for n, _ in some.values())

    def clear(self) -> None:
        """Remove all files of earlier versions, and those that killed exports left of this folder's practices."""
        for name in self.result.tables:
            practices = {practice for practice, _ in self._written[name].partitions if practice}
            self._lake.clear(name, self._commit(), 0, practices)

    def finish(self) -> Exported:
        """Write the table of exports, if there was a commit."""
        if not self.result.commits:
            return self.result
        folder = self._facts[FOLDER]
        rows = [
            (folder, name, table.table_id, *partition, digest, table.version, count, table.exported_at)
            for name, table in self._written.items()
            # A table without rows has an entry, too.
            for partition, (count, digest) in (table.partitions or {(None, None): (0, None)}).items()
        ]
        frame = pl.DataFrame(rows, _SCHEMA, orient="row")
        with duckdb.connect() as connection:
            connection.execute("set TimeZone = 'UTC'")  # the only zone of Delta
            relation = connection.from_arrow(frame.to_arrow())
            if self._lake.opened(EXPORTS.name) is None:
                self._lake.made(EXPORTS, schema_of(relation), self._commit())
            ours = among(FOLDER, [folder])
            self._lake.replace(EXPORTS.name, lambda: connection.from_arrow(frame.to_arrow()), ours, self._commit())
        return self.result

    def _commit(self, digest: str = "") -> CommitProperties:
        return CommitProperties({**self._facts, "digest": digest})


def _id(table: DeltaTable) -> str:
    return str(table.metadata().id)


def _batches(changed: Digests) -> Iterator[Digests]:
    """Yield the partitions of some practices after the other."""
    some: dict[Partition, tuple[int, str]] = {}
    rows, last = 0, None
    for partition in sorted(changed, key=lambda one: tuple(part or "" for part in one)):
        if rows >= ROWS_AT_ONCE and partition[0] != last:
            yield some
            some, rows = {}, 0
        some[partition], last = changed[partition], partition[0]
        rows += changed[partition][0]
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
    """Return the rows of the table of exports, of all folders; none before the first export."""
    table = lake.opened(EXPORTS.name)
    with lake.in_one_line():
        return pl.DataFrame(table.to_pyarrow_table()).to_dicts() if table else []


def names_of(lake: Lake) -> list[str]:
    """Return the names of all tables."""
    return sorted({row["table_name"] for row in exports_of(lake)})
