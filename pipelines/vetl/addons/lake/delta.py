"""The Delta tables of a lake in a folder or a bucket: opened, written in one commit, cleared of old versions."""

import json
import re
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import uniform
from time import sleep
from typing import Any
from urllib.parse import unquote

import duckdb
from deltalake import CommitProperties, DeltaTable, WriterProperties, write_deltalake
from deltalake import Schema as DeltaSchema
from deltalake.exceptions import CommitFailedError, DeltaError, TableNotFoundError
from deltalake.fs import DeltaStorageHandler

from vetl.addons.lake.lake_tables import LakeTable
from vetl.addons.lake.settings import LakeSettings
from vetl.core.errors import Permanent
from vetl.core.published_file import SCHEMAS
from vetl.settings import Settings
from vetl.store.failures import remedy_in

_ATTEMPTS = 20
"""Attempts of a commit. Folders write different practices, so only tables without practices can collide."""

_BATCH = 50_000
_PROPERTIES = {
    # The smallest and the largest values would stand in the log, where no vacuum reaches a name.
    "delta.dataSkippingNumIndexedCols": "0",
    "delta.logRetentionDuration": "interval 7 days",
}
_LONGEST = 300


class LakeError(Permanent):
    """The lake cannot be read or written; its tables have what they had before."""


@dataclass(frozen=True, slots=True)
class Lake:
    """A place with tables. `options` are deltalake's for this storage."""

    location: str
    options: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)

    @classmethod
    def of(cls, settings: Settings) -> "Lake":
        """Return the lake of the settings, by default the folder `lake` beside the private file."""
        lake = LakeSettings.of(settings)
        return cls(lake.path or str(settings.warehouse.path.with_name("lake")), lake.storage_options())

    @property
    def folder(self) -> Path | None:
        """Return the folder, if it is one."""
        return None if "://" in self.location else Path(self.location)

    def place(self, name: str) -> str:
        """Return the place of a table, `raw.phone_calls`."""
        return f"{self.location}/{name.replace('.', '/')}"

    def opened(self, name: str) -> DeltaTable | None:
        """Return a table; `None` if it does not exist.

        Raises:
            LakeError: the lake cannot be read.
        """
        with self.in_one_line(), suppress(TableNotFoundError):
            if self.folder is None or Path(self.place(name)).exists():
                return DeltaTable(self.place(name), storage_options=dict(self.options))
        return None

    def made(self, table: LakeTable, schema: Any, commit: CommitProperties) -> DeltaTable:  # noqa: ANN401 - Arrow's
        """Return a table, which is made if it does not exist.

        Raises:
            LakeError: the lake cannot be read or written.
        """
        if there := self.opened(table.name):
            return there
        with self.in_one_line():
            if self.folder:
                is_shared = table.name.startswith(tuple(f"{schema}." for schema in SCHEMAS))
                self._make(Path(self.place(table.name)).parent, is_shared=is_shared)
            try:
                return DeltaTable.create(
                    self.place(table.name),
                    schema,
                    mode="ignore",
                    partition_by=table.partitioned_by,
                    configuration=_PROPERTIES,
                    storage_options=dict(self.options),
                    commit_properties=commit,
                )
            except DeltaError:
                if there := self.opened(table.name):  # another folder made it at this moment
                    return there
                raise

    def replace(
        self,
        table: LakeTable,
        rows: Callable[[], duckdb.DuckDBPyRelation],
        condition: str | None,
        commit: CommitProperties,
        *,
        with_schema: bool = False,
    ) -> None:
        """Replace the rows that fulfil the condition, or all, in one commit.

        Raises:
            LakeError: the lake cannot be written.
        """
        with self.in_one_line():
            for left in reversed(range(_ATTEMPTS)):
                try:
                    write_deltalake(
                        self.place(table.name),
                        rows().to_arrow_reader(_BATCH),
                        mode="overwrite",
                        predicate=condition,
                        schema_mode="overwrite" if with_schema else "merge",
                        storage_options=dict(self.options),
                        commit_properties=commit,
                        writer_properties=WriterProperties(compression="ZSTD"),
                    )
                except CommitFailedError:
                    if not left:
                        raise
                    sleep(uniform(0, 0.5))  # noqa: S311 - two writers should not meet again
                else:
                    return

    def clear(self, name: str, hours: int, commit: CommitProperties) -> None:
        """Remove the files that were replaced so many hours ago, and those of killed exports.

        With 0 hours only what a commit has replaced, because other folders may write at this moment.
        """
        with self.in_one_line():
            table = DeltaTable(self.place(name), storage_options=dict(self.options))
            how: dict[str, Any] = {"enforce_retention_duration": False, "full": hours > 0}
            if table.vacuum(hours, dry_run=True, **how):
                table.vacuum(hours, dry_run=False, commit_properties=commit, **how)

    def dead_files(self, name: str, practices: set[str]) -> list[str]:
        """Return the files of these practices that no version of the table has, within the table's place."""
        with self.in_one_line():
            table = DeltaTable(self.place(name), storage_options=dict(self.options))
            dead = table.vacuum(0, dry_run=True, enforce_retention_duration=False, full=True)
        ours = [path for path in dead if _practice_of(path) in practices]
        # Those that were removed before are listed too, as long as the log names them.
        infos = DeltaStorageHandler(self.place(name), dict(self.options)).get_file_info(ours)
        return [path for path, info in zip(ours, infos, strict=True) if info.is_file]

    def remove(self, name: str, path: str) -> None:
        """Remove a file of a table."""
        with self.in_one_line():
            DeltaStorageHandler(self.place(name), dict(self.options)).delete_file(path)

    def _make(self, folder: Path, *, is_shared: bool) -> None:
        """Make a folder with its parents. Existing folders keep their modes, which an operator may have chosen."""
        missing = [parent for parent in (folder, *folder.parents) if not parent.exists()]
        for parent in reversed(missing):
            with suppress(FileExistsError):
                parent.mkdir()
                parent.chmod(0o755 if is_shared or parent != folder else 0o700)

    @contextmanager
    def in_one_line(self) -> Generator[None]:
        """Raise a `LakeError` of one line for an error of the storage or of Delta."""
        try:
            yield
        except (DeltaError, OSError) as error:
            text = str(error)
            raise LakeError(f"{self.location}: {self._reason(text)}{remedy_in(text)}") from None

    def _reason(self, text: str) -> str:
        """Return the readable part of an error of Rust, without colours, XML and secrets."""
        text = re.sub(r"\x1b\[[0-9;]*m|↳", " ", text).partition("<?xml")[0]
        for value in self.options.values():
            text = text.replace(value, "...")
        return " ".join(text.split())[:_LONGEST]


def schema_of(rows: duckdb.DuckDBPyRelation) -> DeltaSchema:
    """Return the schema of rows in Delta."""
    return DeltaSchema.from_arrow(rows.limit(0).to_arrow_table().schema)


def sql_types(schema: DeltaSchema) -> dict[str, str]:
    """Return the types of columns as Spark spells them."""
    fields: list[dict[str, Any]] = json.loads(schema.to_json())["fields"]
    return {item["name"]: _sql_type(item["type"]) for item in fields}


def _sql_type(kind: Any) -> str:  # noqa: ANN401 - a name, or an object
    return kind if isinstance(kind, str) else f"array<{_sql_type(kind['elementType'])}>"


def _practice_of(path: str) -> str | None:
    """Return the practice in the path of a file."""
    first = path.partition("/")[0]
    return unquote(first.removeprefix("practice_id=")) if first.startswith("practice_id=") else None
