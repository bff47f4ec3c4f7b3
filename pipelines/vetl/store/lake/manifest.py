"""`manifest.json` lists the files of a lake. It is replaced in one step, after its files were written."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from vetl.core.errors import LakeError

MANIFEST = "manifest.json"
FORMAT = 1

Partition = tuple[str | None, str | None]
"""A practice's id and a month, `2026-01`; `None` if a table is not partitioned by it, or a row has no month."""


@dataclass(frozen=True, slots=True)
class LakeFile:
    """A file of a lake. `fingerprint` is a hash of the rows of its whole partition."""

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
        """Return the partition of the file."""
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
        """Return the paths of its files."""
        return {file.path for file in self.files}

    def as_json(self) -> dict[str, Any]:
        """Return the JSON of the file."""
        return {"format": FORMAT, **asdict(self)}

    @classmethod
    def parse(cls, text: bytes, location: str) -> "Manifest":
        """Read a manifest from its text.

        Raises:
            LakeError: the text is not a manifest, or a newer vetl wrote it.
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
