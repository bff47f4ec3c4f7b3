"""Notes beside the warehouse: one SQLite file, which other processes read while a sync writes the warehouse.

`vetl.duckdb.notes.sqlite` has one row for each note, a value of JSON under its name: the `status` of every list,
the last `publication`, a `rollback` that holds the published file, `forgettings` that are not complete, and the
`credentials` that were accepted. What was erased leaves no bytes behind, because notes can name persons.
"""

import json
from pathlib import Path
from typing import Any, ClassVar

from vetl.core.errors import VetlError, WarehouseError, is_of_a_full_disk
from vetl.sqlite_file import SqliteFile

_REMEDY = (
    "; move it away, and repeat a rollback or a forgetting that was not complete; the next sync writes the status"
)


class NotesFile(SqliteFile):
    """The open file. Anybody may read it meanwhile; writers wait for each other for an instant."""

    schema: ClassVar[str] = """
        pragma secure_delete = on;
        create table if not exists notes (name text primary key, value text not null);
    """
    failure: ClassVar[type[VetlError]] = WarehouseError
    misread: ClassVar[tuple[type[Exception], ...]] = (ValueError,)

    def put(self, name: str, value: str) -> None:
        """Replace a note by this text of JSON."""
        with self.writing():
            self._connection.execute("insert or replace into notes values (?, ?)", [name, value])

    def remove(self, name: str) -> None:
        """Remove a note."""
        with self.writing():
            self._connection.execute("delete from notes where name = ?", [name])

    def erase_old_values(self) -> None:
        """Remove the bytes of earlier values from the file and its log."""
        self._erased()


def notes_file(warehouse: Path) -> Path:
    """Return the path of the file."""
    return warehouse.with_name(f"{warehouse.name}.notes.sqlite")


def read_note(warehouse: Path, name: str) -> Any:  # noqa: ANN401 - whatever JSON has
    """Return a note; `None` if there is none."""
    return _read(warehouse).get(name)


def notes_except(warehouse: Path, name: str) -> str:
    """Return the text of all other notes."""
    return "\n".join(
        json.dumps(value, ensure_ascii=False) for own, value in _read(warehouse).items() if own != name
    )


def write_note(warehouse: Path, name: str, value: object, *, erase: bool = False) -> None:
    """Replace a note, or remove it if the value is `None`; with `erase` nothing is left of the old value."""
    file = notes_file(warehouse)
    if value is None and not file.exists():
        return
    with NotesFile.open(file) as notes:
        if value is None:
            notes.remove(name)
        else:
            notes.put(name, value if isinstance(value, str) else json.dumps(value))
        if erase:
            notes.erase_old_values()


def _read(warehouse: Path) -> dict[str, Any]:
    file = notes_file(warehouse)
    if not file.exists():
        return {}
    try:
        with NotesFile.read_only(file) as connection:
            if not connection.execute("select 1 from sqlite_master where name = 'notes'").fetchall():
                return {}  # another process makes the file now
            rows = connection.execute("select name, value from notes").fetchall()
            return {name: json.loads(value) for name, value in rows}
    except WarehouseError as error:
        raise WarehouseError(f"{error}{'' if is_of_a_full_disk(str(error)) else _REMEDY}") from None
