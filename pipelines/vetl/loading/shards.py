"""Several private files, each with some practices and its own writer, and a file with views over all of them.

If the configuration assigns a practice to another shard, vetl moves its rows and their control rows there, so that
nothing is read again.
"""

from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

import duckdb

from vetl.endpoints import REGISTRY
from vetl.loading.connection import (
    MEMORY_LIMIT,
    PRIVATE,
    attach,
    attach_shards,
    drop_derived,
    limit_memory,
    literal,
    quoted,
)
from vetl.loading.control.activity import activity_path
from vetl.loading.control.snapshot import snapshot_path
from vetl.loading.control.state import SALT
from vetl.loading.failures import as_vetl_errors
from vetl.loading.layout import (
    Layout,
    read_layout,
    shard_file,
    shards_of,
    write_layout,
)
from vetl.loading.warehouse import Warehouse, transaction

_OF_A_FILE = ("meta", "migrations", "builds", "building")
"""Control tables that are about one file. The notes of a build (`changed_...`) are about one file too."""


def arrange(path: Path, layout: Layout, *, lock_wait_seconds: float) -> None:
    """Move practices to their configured shards; `layout` is empty for one file. It can be repeated.

    The rows of a practice are committed to the new shard before they are deleted from the old one. The layout is
    written before a file is made and after the last move. Afterwards every shard has its file, so that the
    views over all shards can be made before every shard was synced.

    Raises:
        WarehouseBusy: another process still holds a file after `lock_wait_seconds`.
        WarehouseError: a file cannot be opened or written.
    """
    current = read_layout(path)
    if is_arranged(current, layout):
        return
    first = next(iter(current or layout))
    snapshot_path(path).unlink(missing_ok=True)
    there = {name: current.get(name, []) for name in (*current, *layout)}
    write_layout(path, there)
    if not shard_file(path, first).exists() and path.exists():
        _rename(path, path, shard_file(path, first), lock_wait_seconds)
    homes = {practice: name for name, practices in layout.items() for practice in practices}
    _move_all(path, list(there), homes, next(iter(layout), first), lock_wait_seconds)
    if not layout and shard_file(path, first).exists():
        _rename(path, shard_file(path, first), path, lock_wait_seconds)
    for file in (shard_file(path, name) for name in there.keys() - layout.keys()):
        file.unlink(missing_ok=True)
        # A killed attempt may have left the log, which a later shard of the same name would replay.
        file.with_name(f"{file.name}.wal").unlink(missing_ok=True)
        snapshot_path(file).unlink(missing_ok=True)
        activity_path(file, "sync").unlink(missing_ok=True)
    for file in [shard_file(path, name) for name in layout] or [path]:
        with Warehouse.open(file, REGISTRY, lock_wait_seconds=lock_wait_seconds) as warehouse:
            warehouse.write_status()
    write_layout(path, layout)
    gather(path, lock_wait_seconds=lock_wait_seconds)


def gather(path: Path, *, lock_wait_seconds: float) -> None:
    """Make the file of views over all shards, or replace its views; do nothing without shards.

    Raises:
        WarehouseBusy: another process still holds a file after `lock_wait_seconds`.
        WarehouseError: a file cannot be opened or written.
    """
    shards = list(shards_of(path))
    if not shards:
        return
    with as_vetl_errors(path), closing(attach(path, lock_wait_seconds=lock_wait_seconds)) as connection:
        attach_shards(connection, path, lock_wait_seconds=lock_wait_seconds)
        tables = _tables_of(connection, shards[0])
        with transaction(connection):
            for schema in PRIVATE:
                connection.execute(f"create schema if not exists {schema}")
            for table in tables:
                rows = " union all by name ".join(f"from {quoted(shard)}.{table}" for shard in shards)
                if table == 'control."runs"':
                    # Several shards may have the same run: that of a drain, or of a practice that was moved.
                    last = "row_number() over (partition by run_id order by finished_at desc nulls last)"
                    rows = f"from ({rows}) qualify {last} = 1"
                connection.execute(f"create or replace view {table} as {rows}")
            connection.execute(
                f"create table if not exists control.builds as from {quoted(shards[0])}.control.builds limit 0"
            )


def forget_derived(path: Path, *, lock_wait_seconds: float) -> None:
    """Make the file of views over all shards again, without the tables that dbt made; do nothing without shards.

    Raises:
        WarehouseBusy: another process still holds a file after `lock_wait_seconds`.
        WarehouseError: a file cannot be opened or written.
    """
    if not shards_of(path):
        return
    with as_vetl_errors(path), closing(attach(path, lock_wait_seconds=lock_wait_seconds)) as connection:
        connection.execute("checkpoint")
        path.unlink()
    gather(path, lock_wait_seconds=lock_wait_seconds)


def is_arranged(current: Layout, layout: Layout) -> bool:
    """Return whether each practice is in its shard; one that is no longer configured may be in any shard."""
    places = {practice: name for name, practices in current.items() for practice in practices}
    homes = {practice: name for name, practices in layout.items() for practice in practices}
    return current.keys() == layout.keys() and homes.items() <= places.items()


def _rename(locked: Path, file: Path, name: Path, lock_wait_seconds: float) -> None:
    """Rename a file while this process holds `locked`, so that no other process writes it and no log remains."""
    with as_vetl_errors(locked), closing(attach(locked, lock_wait_seconds=lock_wait_seconds)) as connection:
        if locked == file:
            drop_derived(connection, "warehouse")  # a shard has no marts
        connection.execute("checkpoint")
        file.replace(name)


def _move_all(
    path: Path, names: Sequence[str], homes: Mapping[str, str], otherwise: str, lock_wait_seconds: float
) -> None:
    """Move each practice to its home; without a home it stays, or moves to `otherwise` if its shard is removed."""
    for source in names:
        if not shard_file(path, source).exists():
            continue
        stays = source in homes.values() or source == otherwise
        moves: dict[str, list[str]] = {}
        for practice in _practices_in(shard_file(path, source), lock_wait_seconds):
            target = homes.get(practice, source if stays else otherwise)
            if target != source:
                moves.setdefault(target, []).append(practice)
        for target, practices in moves.items():
            _move(shard_file(path, source), shard_file(path, target), practices, lock_wait_seconds)


def _practices_in(file: Path, lock_wait_seconds: float) -> list[str]:
    """Return the practices that have rows in a file; a file of an older vetl is migrated first."""
    with Warehouse.open(file, REGISTRY, lock_wait_seconds=lock_wait_seconds):
        pass
    with closing(attach(file, lock_wait_seconds=lock_wait_seconds)) as connection:
        ids = " union ".join(
            f"select {column} as id from {table}" for table, column in _practice_columns(connection, "warehouse")
        )
        return [name for (name,) in connection.execute(f"select id from ({ids}) order by id").fetchall()]


def _move(source: Path, target: Path, practices: Sequence[str], lock_wait_seconds: float) -> None:
    """Copy rows and commit them before their deletion, so that the next attempt finds all rows after any crash."""
    if not target.exists():
        Warehouse.open(target, REGISTRY, lock_wait_seconds=lock_wait_seconds).close()
    with as_vetl_errors(target), closing(attach(target, lock_wait_seconds=lock_wait_seconds)) as connection:
        connection.execute(f"attach {literal(str(source))} as moved")
        limit_memory(connection, MEMORY_LIMIT)  # for the keys of the attached file, too
        columns = _practice_columns(connection, "moved")
        with transaction(connection):
            for table, column in columns:
                _delete(connection, table, column, practices)
                connection.execute(
                    f"insert into {table} by name from moved.{table} where list_contains(?, {column})", [practices]
                )
            # If both files have a run (of a drain), keep the row that finished last, as the views over shards do.
            connection.execute(
                "delete from control.runs as known using moved.control.runs as runs"
                " where known.run_id = runs.run_id and runs.finished_at > known.finished_at"
            )
            connection.execute(
                "insert into control.runs by name from moved.control.runs as runs"
                " anti join control.runs as known using (run_id)"
            )
            _bring_salts(connection, practices)
        with transaction(connection):
            for table, column in columns:
                _delete(connection, f"moved.{table}", column, practices)


def _practice_columns(connection: duckdb.DuckDBPyConnection, database: str) -> list[tuple[str, str]]:
    """Return every table whose rows belong to a practice, with the column of the practice's id."""
    with_practice = {
        f"{schema}.{quoted(table)}"
        for schema, table in connection.execute(
            "select schema_name, table_name from duckdb_columns()"
            " where database_name = ? and column_name = 'practice_id'",
            [database],
        ).fetchall()
    }
    columns = [(table, "practice_id") for table in _tables_of(connection, database) if table in with_practice]
    return [*columns, ("control.practices", "id")]


def _delete(connection: duckdb.DuckDBPyConnection, table: str, column: str, practices: Sequence[str]) -> None:
    connection.execute(f"delete from {table} where list_contains(?, {column})", [practices])


def _bring_salts(connection: duckdb.DuckDBPyConnection, practices: Sequence[str]) -> None:
    """Copy the salts of the practices: calls keep their keys although the other file has its own secret."""
    for practice in practices:
        name = f"{SALT}/{practice}"
        connection.execute("delete from control.meta where name = ?", [name])
        connection.execute(
            "insert into control.meta select ?, value from moved.control.meta where name in (?, ?)"
            " order by name desc limit 1",
            [name, name, SALT],
        )


def _tables_of(connection: duckdb.DuckDBPyConnection, database: str) -> list[str]:
    """Return the tables of an attached shard, without those that are about one file."""
    rows = connection.execute(
        "select schema_name, table_name from duckdb_tables() where database_name = $database"
        " and list_contains($schemas, schema_name) order by all",
        {"database": database, "schemas": list(PRIVATE)},
    ).fetchall()
    return [
        f"{schema}.{quoted(name)}"
        for schema, name in rows
        if schema != "control" or (name not in _OF_A_FILE and not name.startswith("changed_"))
    ]
