"""Copy the ledger of `vetl act` into the private file, for the marts."""

from collections.abc import Iterable, Sequence
from datetime import datetime

import duckdb

from vetl.addons.act.acts import LedgerEntry
from vetl.addons.act.ledger import read_ledger
from vetl.addons.act.settings import ActSettings
from vetl.core.errors import LedgerError
from vetl.settings import Settings
from vetl.store.warehouse import Warehouse, opened

_COLUMNS = (
    *("practice_id", "code", "kind", "episode_id", "state", "planned_at", "asked_at", "approved_by"),
    *("certified_through", "task_id", "found_by"),
)
"""An act without names, numbers and words; `episode_id` is null if only the code of its task is known."""

_INSTANTS = {"planned_at", "asked_at", "certified_through"}
_FROM_BEFORE = ("episode_id", "asked_at", "approved_by", "certified_through")


def keep_acts(connection: duckdb.DuckDBPyConnection, acts: Sequence[LedgerEntry]) -> None:
    """Replace the acts that differ, and note their practices for the next build.

    An act stays if the ledger was lost. If the ledger knows its task by the code alone, its booking request and
    the time of its plan stay as they were.
    """
    if not acts:
        return
    columns = ", ".join(
        f"unnest(?::varchar[]){'::timestamptz' if name in _INSTANTS else ''} as {name}" for name in _COLUMNS
    )
    preserved = ", ".join(f"coalesce(given.{name}, before.{name}) as {name}" for name in _FROM_BEFORE)
    connection.execute(
        f"create or replace temp table latest_acts as select given.* replace ({preserved},"
        " case when given.episode_id is null then coalesce(before.planned_at, given.planned_at)"
        " else given.planned_at end as planned_at)"
        f" from (select {columns}) as given left join control.acts as before using (practice_id, code)"
        " except from control.acts",
        [[_value(act, name) for act in acts] for name in _COLUMNS],
    )
    connection.execute(
        "delete from control.acts where (practice_id, code) in (select (practice_id, code) from latest_acts)"
    )
    connection.execute("insert into control.acts by name from latest_acts")
    connection.execute(
        "insert into control.changes select distinct practice_id, 'acts', null::date from latest_acts"
        " where practice_id not in (select practice_id from control.changes where table_name = 'acts')"
    )
    connection.execute("drop table latest_acts")


def _value(entry: LedgerEntry, column: str) -> str | None:
    of = entry.act if column in ("practice_id", "code", "kind", "episode_id") else entry
    value = getattr(of, column) or None
    return value.isoformat() if isinstance(value, datetime) else value and str(value)


def mirror_ledger(settings: Settings) -> None:
    """Copy the acts of the ledger before a build. A ledger that cannot be read is no reason not to build."""
    try:
        entries = read_ledger(ActSettings.of(settings).ledger)
    except LedgerError:
        return  # `vetl status` and `vetl act` name it
    if entries:
        with opened(settings.warehouse) as warehouse:
            mirror(warehouse, entries)


def mirror(warehouse: Warehouse, entries: Iterable[LedgerEntry]) -> None:
    """Copy these acts into the private file."""
    with warehouse.writing() as connection:
        keep_acts(connection, [*entries])
