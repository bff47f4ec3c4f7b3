"""Export the private and the published file to the lake, and note how it went for `vetl status`."""

import hashlib
import os
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from vetl.addons.lake.lake_tables import private_tables, published_tables
from vetl.addons.lake.settings import LakeSettings, SparkSettings
from vetl.core.errors import ConfigurationError, VetlError
from vetl.forgetting.search import mentioned
from vetl.hooks import AddonFiles, Problem, StatusPart
from vetl.settings import Settings
from vetl.store.connection import Connection, as_vetl_errors, attached
from vetl.store.control.phone_numbers import note_phone_numbers
from vetl.store.control.state import salt
from vetl.store.mentions import Mentions
from vetl.store.notes import read_note, write_note
from vetl.store.person import Person
from vetl.store.warehouse import existing, opened, writing

if TYPE_CHECKING:
    from vetl.addons.lake.delta import Exported

NOTE = "lake"


def run_export(settings: Settings, *, forgets: bool = False) -> "Exported":
    """Bring the lake up to date; wait for another writer for at most `lock_wait_seconds`.

    If it `forgets`, raw is exported if it ever was, and all earlier versions of the tables are removed at once.

    Raise `ConfigurationError` if the extra `lake` is not installed, `LakeError` if the lake cannot be read or
    written.
    """
    if find_spec("deltalake") is None:
        raise ConfigurationError("the lake needs deltalake: pip install 'vetl-warehouse[lake]'")
    from vetl.addons.lake.delta import Export, Lake

    section, warehouse, lake = LakeSettings.of(settings), settings.warehouse, Lake.of(settings)
    has_raw = section.raw or (forgets and lake.opened("raw.clients") is not None)
    existing(settings.warehouse)
    with writing(settings.warehouse):
        if has_raw:
            # opened, it makes the tables of lists that were never read
            with opened(settings.warehouse) as file, file.writing() as connection:
                note_phone_numbers(connection, settings.definitions.phone_regions)
        with attached(warehouse.path, lock_wait_seconds=warehouse.lock_wait_seconds) as connection:
            facts = _facts(connection)
            export = Export(lake, facts, section.keep_days)
            if "://" not in lake.location:
                with _umask(0o022), lake.in_one_line():
                    Path(lake.location).mkdir(parents=True, exist_ok=True)
            with _umask(0o077):
                export.update(connection, private_tables(connection, facts["folder"], raw=has_raw))
        if warehouse.published.exists():
            with (
                _umask(0o022),  # readable as the published file
                as_vetl_errors(warehouse.published),
                closing(duckdb.connect(warehouse.published, read_only=True)) as connection,
            ):
                connection.execute("set TimeZone = 'UTC'")
                export.update(connection, published_tables(connection))
        exported = export.finish()
        if forgets:
            export.clear()
        return exported


@contextmanager
def _umask(mode: int) -> Generator[None]:
    before = os.umask(mode)
    try:
        yield
    finally:
        os.umask(before)


def _facts(connection: Connection) -> dict[str, str]:
    """Return what each commit says: the folder, as a digest of its own secret, its last run and certificates."""
    [(run, certified, windows, last)] = connection.execute(
        "select (select max_by(run_id, started_at) from control.runs), count(*) filter (certified), count(*),"
        " strftime(max(finished_at) filter (certified), '%Y-%m-%dT%H:%M:%SZ') from control.windows"
    ).fetchall()
    words = f"{certified:,} of {windows:,} windows certified{f', the last at {last}' if last else ''}"
    folder = hashlib.sha256(salt(connection).encode()).hexdigest()[:16]
    return {"folder": folder, "run": run or "", "certificate": words}


def export_if_set(settings: Settings) -> Iterator[str]:
    """Update the lake, and yield a line; a failure is a line too, because the file is published."""
    if LakeSettings.of(settings).path is None:
        return
    note: dict[str, Any] = {"at": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"}
    try:
        exported = run_export(settings)
    except VetlError as error:
        note |= {"error": str(error)}
        yield f"warning: {error}; `vetl lake export` tries again"
    else:
        note |= {"error": None, "tables": len(exported.tables)}
        yield line_of(exported)
    write_note(settings.warehouse.path, NOTE, note)


def line_of(exported: "Exported") -> str:
    """Return the line about an export."""
    changed = f"{len(exported.rows)} changed, {sum(exported.rows.values()):,} rows in {exported.commits} commits"
    return f"{exported.location}: {len(exported.tables)} tables, {changed}"


def status_part(settings: Settings) -> StatusPart:
    """Return the last export after a publication; a failed one is a problem, because the lake is older."""
    note = read_note(settings.warehouse.path, NOTE)
    if not note or LakeSettings.of(settings).path is None:
        return StatusPart()
    if note["error"]:
        line = f"the export to the lake failed at {note['at']}: {note['error']}; `vetl lake export` tries again"
        return StatusPart((Problem(1, line),), name=NOTE, content=note)
    return StatusPart(lines=(f"the lake has {note['tables']} tables since {note['at']}",), name=NOTE, content=note)


class LakeFiles(AddonFiles):
    """The tables of a lake, which are written again, and their old versions, which are removed at once."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        super().__init__({}, [SparkSettings.of(settings).scratch / "build"])

    def renew(self) -> Sequence[str]:
        """Write what has changed in every table that there is, and remove what it replaces."""
        if not self._is_there():
            return ()
        return (run_export(self._settings, forgets=True).location,)

    def left(self, person: Person, mentions: Mentions) -> Iterator[str]:
        """Yield the tables with rows that mention the person, and files that no version of a table has."""
        if not self._is_there():
            return
        from vetl.addons.lake.delta import Lake, names_of

        lake, practice = Lake.of(self._settings), person.practice_id
        for name in names_of(lake):
            table = lake.opened(name)
            if table is None or "practice_id" not in table.metadata().partition_columns:
                continue
            yield from (f"{lake.place(name)}/{path}" for path in lake.dead_files(name, {practice}))
            with lake.in_one_line(), duckdb.connect() as connection:
                connection.register("rows", table.to_pyarrow_dataset())
                columns = {column: kind for column, kind, *_ in connection.execute("describe rows").fetchall()}
                if mentioned(
                    connection, "rows", columns, person, mentions, is_of_clients=name.endswith(".clients")
                ):
                    yield lake.place(name)

    def _is_there(self) -> bool:
        """Return whether there may be a lake: a place is set, or the folder beside the private file is there."""
        lake = LakeSettings.of(self._settings)
        return lake.path is not None or Path(lake.location(self._settings.warehouse.path)).is_dir()
