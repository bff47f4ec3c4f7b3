"""`manifest.json`: the files that make up a lake. Replaced in one step, after the files that it lists."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from pipelines.core.errors import LakeError

MANIFEST = "manifest.json"
FORMAT = 1

Partition = tuple[str | None, str | None]
"""A practice's id and a month, `2026-01`; `None` where a table is not partitioned so, or a row has no month."""


@dataclass(frozen=True, slots=True)
class LakeFile:
    """A file and what is in it. `fingerprint` tells the rows of its whole partition from others."""

    table: str
    practice_id: str | None
    month: str | None
    path: str
    rows: int
    bytes: int
    schema_version: str
    fingerprint: str

    @property
    def partition(self) -> Partition:
        """Where in its table it belongs."""
        return self.practice_id, self.month


@dataclass(frozen=True, slots=True)
class TableSchema:
    """The columns of each file of a table with DuckDB's types, in order; the version changes with them."""

    schema_version: str
    partitioned_by: tuple[str, ...]
    columns: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Manifest:
    """One state of a lake. `tables` are named `raw.phone_calls`; `export` counts up."""

    export: int
    source_clock: str | None
    tables: Mapping[str, TableSchema]
    files: tuple[LakeFile, ...]

    def paths(self) -> set[str]:
        """The files that make it up."""
        return {file.path for file in self.files}

    def as_json(self) -> dict[str, Any]:
        """As it is written."""
        return {"format": FORMAT, **asdict(self)}

    @classmethod
    def parse(cls, text: bytes, location: str) -> "Manifest":
        """What was written.

        Raises:
            LakeError: it is no manifest, or one of a newer vetl.
        """
        try:
            document: dict[str, Any] = json.loads(text)
            if document["format"] != FORMAT:
                raise LakeError(
                    f"{location}/{MANIFEST}: has format {document['format']}, this vetl knows {FORMAT}"
                )
            tables = {name: _schema(item) for name, item in document["tables"].items()}
            return cls(document["export"], document["source_clock"], tables, _files(document["files"]))
        except (ValueError, KeyError, TypeError):
            raise LakeError(f"{location}/{MANIFEST}: is not a manifest of vetl; move it away") from None


def _schema(table: Mapping[str, Any]) -> TableSchema:
    return TableSchema(table["schema_version"], tuple(table["partitioned_by"]), table["columns"])


def _files(files: Iterable[Mapping[str, Any]]) -> tuple[LakeFile, ...]:
    return tuple(LakeFile(**item) for item in files)
