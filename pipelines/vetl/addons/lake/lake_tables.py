"""The tables that are exported: their columns, their partitions, and a digest of each partition."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from vetl.core.published_file import DIGESTS, SCHEMAS
from vetl.store.connection import PRIVATE, Connection, literal, quoted
from vetl.store.tables import columns_in

FOLDER, MONTH = "folder", "month"
Partition = tuple[str | None, str | None]
"""A practice's id and a month, `2026-01`; `None` if a table is not partitioned by it, or a row has no month."""

_PRACTICE = "practice_id"
_MONTH_OF = ("call_date", "created_at", "received_at", "finished_at", "noticed_at")
"""Columns of the private file that give the month of a row; the first that a table has is used."""

_WRITTEN_AS = {"JSON": "VARCHAR", "UBIGINT": "DECIMAL(20,0)"}
"""The types in Delta, which has neither JSON nor unsigned numbers."""

_LEFT_OUT = ("meta", "migrations", "builds", "forgotten_keys", "forgotten_values")
"""The tables of control that are never exported: notes of builds, and secrets of the private file."""

_CERTIFICATES = ("practices", "runs", "windows")
"""The tables of control that are always exported: they name nobody."""


@dataclass(frozen=True, slots=True)
class LakeTable:
    """A table; `relation` is SQL for its rows as they are written. `key` and MONTH are its partitions."""

    name: str
    relation: str
    columns: tuple[tuple[str, str], ...]
    key: str | None
    has_month: bool

    @property
    def partitioned_by(self) -> list[str]:
        """Return the columns of its partitions."""
        return [name for name in (self.key, MONTH if self.has_month else None) if name]

    def digests(self, connection: Connection) -> dict[Partition, tuple[int, str]]:
        """Return the number of rows and the sum of their hashes for each partition; it reads the table once.

        The hash of the columns is a part of it: with another column every partition is written again.
        """
        key, month = (self.key or "null::varchar"), (MONTH if self.has_month else "null::varchar")
        names = ", ".join(quoted(name) for name, _ in self.columns)
        columns = literal(", ".join(f"{name} {kind}" for name, kind in self.columns))
        rows = connection.execute(
            f"select {key}, {month}, count(*), sum(hash({names})::hugeint)::varchar || '.' || hash({columns})"
            f" from ({self.relation}) group by all"
        ).fetchall()
        return {(practice, month): (count, digest) for practice, month, count, digest in rows}

    def condition(self, partitions: Iterable[Partition], whole: Iterable[str | None]) -> str:
        """Return SQL for the rows of these partitions, and for all rows of the practices in `whole`.

        DuckDB reads it, and so does Delta.
        """
        months: dict[str | None, set[str | None]] = {}
        whole = set(whole)
        for practice, month in partitions:
            months.setdefault(practice, set()).add(month)
        alike: dict[frozenset[str | None], list[str | None]] = {}
        for practice, some in months.items():
            every = not self.has_month or practice in whole
            alike.setdefault(frozenset() if every else frozenset(some), []).append(practice)
        terms = [
            among(self.key or "", practices) + (f" and {among(MONTH, some)}" if some else "")
            for some, practices in alike.items()
        ]
        return " or ".join(f"({term})" for term in terms)


def among(column: str, values: Iterable[str | None]) -> str:
    """Return SQL that compares a column with these values."""
    texts = sorted(literal(value) for value in values if value is not None)
    terms = [f"{column} in ({', '.join(texts)})"] if texts else []
    if None in values:
        terms.append(f"{column} is null")
    return f"({' or '.join(terms)})"


def private_tables(connection: Connection, folder: str, *, raw: bool) -> Iterator[LakeTable]:
    """Yield the tables of the private file: the certificates, and all with names and numbers if `raw`."""
    for (schema, table), columns in columns_in(connection, PRIVATE).items():
        is_control = schema == "control"
        if (raw and not (is_control and table in _LEFT_OUT)) or (is_control and table in _CERTIFICATES):
            # Rows of no practice stand beside those of other folders.
            key = _PRACTICE if _PRACTICE in columns else "id" if table == "practices" else FOLDER
            month = next((name for name in _MONTH_OF if name in columns and key == _PRACTICE), None)
            yield _table(schema, table, columns, key, month, folder)


def published_tables(connection: Connection) -> Iterator[LakeTable]:
    """Yield the tables of the published file, but for the digests of that file itself."""
    for (schema, table), columns in columns_in(connection, SCHEMAS).items():
        if table != DIGESTS:
            yield _table(schema, table, columns, _PRACTICE if _PRACTICE in columns else None)


def _table(
    schema: str,
    table: str,
    columns: Mapping[str, str],
    key: str | None,
    month_of: str | None = None,
    folder: str = "",
) -> LakeTable:
    added = {FOLDER: literal(folder)} if key == FOLDER else {}
    if month_of:
        local = quoted(month_of) if columns[month_of] == "DATE" else f"timezone('UTC', {quoted(month_of)})"
        added[MONTH] = f"strftime({local}, '%Y-%m')"
    written = {name: _WRITTEN_AS.get(kind, kind) for name, kind in columns.items()}
    values = [f"{quoted(name)}::{kind} as {quoted(name)}" for name, kind in written.items()]
    values += [f"{value}::varchar as {name}" for name, value in added.items()]
    return LakeTable(
        f"{schema}.{table}",
        f"select {', '.join(values)} from {schema}.{quoted(table)}",
        tuple({**written, **dict.fromkeys(added, "VARCHAR")}.items()),
        key,
        month_of is not None,
    )
