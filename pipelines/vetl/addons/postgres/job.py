"""Copy the published file to Postgres, and note how it went for `vetl status`."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from vetl.addons.postgres.copying import Copied, copy
from vetl.addons.postgres.settings import PublishSettings
from vetl.core.errors import VetlError
from vetl.jobs.status_report import Problem, StatusPart
from vetl.settings import Settings
from vetl.store.notes import read_note, write_note

NOTE = "postgres"


def copy_if_set(settings: Settings) -> Iterator[str]:
    """Copy the published file, and yield a line; a failure is a line too, because the file is published."""
    dsn = PublishSettings.of(settings).postgres.dsn
    if dsn is None:
        return
    note: dict[str, Any] = {"at": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"}
    try:
        copied = copy(settings.warehouse.published, dsn.get_secret_value())
    except VetlError as error:
        note |= {"error": str(error)}
        yield f"warning: {error}; `vetl publish` tries again"
    else:
        note |= {"error": None, "tables": copied.tables}
        yield _line(copied)
    write_note(settings.warehouse.path, NOTE, note)


def _line(copied: Copied) -> str:
    changed = f"{len(copied.changed)} changed, {sum(copied.changed.values()):,} rows"
    return f"Postgres: {copied.tables} tables, {changed}"


def status_part(settings: Settings) -> StatusPart:
    """Return the last copy; a failed one is a problem, because BI shows older figures than the file."""
    note = read_note(settings.warehouse.path, NOTE)
    if not note or PublishSettings.of(settings).postgres.dsn is None:
        return StatusPart()
    if note["error"]:
        line = f"the copy to Postgres failed at {note['at']}: {note['error']}; `vetl publish` tries again"
        return StatusPart((Problem(1, line),), name=NOTE, content=note)
    return StatusPart(lines=(f"Postgres has {note['tables']} tables since {note['at']}",), name=NOTE, content=note)
