"""The Delta tables of a lake in a folder or a bucket: opened, written in one commit, cleared of old versions."""

import json
import re
from collections.abc import Callable, Collection, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from random import uniform
from time import sleep
from typing import Any
from urllib.parse import unquote

import duckdb
from deltalake import CommitProperties, DeltaTable, Schema, WriterProperties, write_deltalake
from deltalake.exceptions import CommitFailedError, DeltaError, TableNotFoundError
from deltalake.fs import DeltaStorageHandler

from vetl.addons.lake.lake_tables import LakeTable
from vetl.addons.lake.settings import LakeSettings
from vetl.core.errors import Permanent
from vetl.settings import Settings
from vetl.store.connection import remedy_in

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
            ours = [path for path in dead if _practice_of(path) in practices]
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


def _practice_of(path: str) -> str:
    """Return the practice in the path of a file."""
    return unquote(path.partition("/")[0].removeprefix("practice_id="))
