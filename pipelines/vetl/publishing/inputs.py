"""Keep digests of the rows that a publication was built from, and compare the private file with them.

Each raw row has held the hash of its fields since the transaction that stored it with its certificate. So a
changed row no longer fits its own hash, and a missing, added or replaced row changes the digest of its list and
practice.
"""

from dataclasses import dataclass
from pathlib import Path

import duckdb

from vetl.endpoints import REGISTRY
from vetl.endpoints.received import RECEIVED
from vetl.publishing.query import Read, reading
from vetl.store.connection import literal, quoted
from vetl.store.tables import RawTable, row_hash

_KEYS = ("id", "call_key")
_LAST_RUN = "control.runs"


@dataclass(frozen=True, slots=True)
class Inputs:
    """What `verify_inputs` found: the number of rows, and for each list and practice what is not as it was.

    `is_older` says that the private file was synced after the publication, so that only rows were compared with
    their own hashes, and not the lists with the digests of the publication.
    """

    rows: int
    changed: tuple[tuple[str, str, int], ...]
    different: tuple[tuple[str, str], ...]
    is_older: bool


def digest_inputs(connection: duckdb.DuckDBPyConnection, target: str) -> None:
    """Store the digests of the raw tables of the private file, the default database, in the table `target`."""
    columns = connection.execute(
        "select table_name, list(column_name) from duckdb_columns() where (database_name, schema_name) ="
        " (current_database(), 'raw') group by all having list_contains(list(column_name), '_row_hash')"
    ).fetchall()
    for table, names in columns:
        digests = _digests(f"raw.{quoted(table)}", names)
        connection.execute(
            f"insert into {target} select {literal(f'raw.{table}')}, practice_id, null, rows, digest"
            f" from ({digests})"
        )
    if columns:
        connection.execute(
            f"insert into {target} select '{_LAST_RUN}', null, null, count(*), {_LAST} from control.runs"
        )


def verify_inputs(private: Path, published: Path, practice: str | None = None) -> Inputs:
    """Compare the raw rows of a private file with their own hashes, and with the digests of a published file."""
    of_practice = "true" if practice is None else f"practice_id = {literal(practice)}"
    with reading(published) as read:
        kept = {
            (mart, key): (rows, digest)
            for mart, key, rows, digest in read(
                "select mart, practice_id, rows, digest from meta.digests"
                f" where (starts_with(mart, 'raw.') and {of_practice}) or mart = '{_LAST_RUN}'"
            ).rows
        }
    with reading(private) as read:
        changed: list[tuple[str, str, int]] = []
        now: dict[tuple[str, str], tuple[int, str]] = {}
        for endpoint in (*REGISTRY, *RECEIVED):
            table = RawTable.of(endpoint)
            name, names = f"raw.{endpoint.table}", _columns(read, endpoint.table)
            if names:
                hashed = row_hash(table.hashed, "stored")
                changed += read(
                    f"select {literal(name)}, practice_id, count(*) from {table.raw} as stored"
                    f" where _row_hash is distinct from {hashed} and {of_practice} group by all order by all"
                ).rows
                found = read(f"from ({_digests(table.raw, names)}) where {of_practice}").rows
                now |= {(name, key): (rows, digest) for key, rows, digest in found}
        ((runs, last),) = read(f"select count(*), {_LAST} from control.runs").rows
    is_older = kept.pop((_LAST_RUN, None), None) != (runs, last)  # pyright: ignore[reportArgumentType] - has no practice
    different = () if is_older else (one for one in now.keys() | kept.keys() if now.get(one) != kept.get(one))
    return Inputs(sum(rows for rows, _ in now.values()), tuple(changed), tuple(sorted(different)), is_older)


_LAST = "max_by(run_id, started_at)"


def _digests(relation: str, columns: list[str]) -> str:
    """Return SQL for the rows and the digest of each practice that the source still has."""
    keys = ", ".join(quoted(name) for name in ("_row_hash", *_KEYS) if name in columns)
    return (
        f"select practice_id, count(*) as rows, cast(sum(hash({keys})) as varchar) as digest from {relation}"
        " where _deleted_at is null group by practice_id"
    )


def _columns(read: Read, table: str) -> list[str]:
    rows = read(
        "select column_name from duckdb_columns() where schema_name = 'raw' and database_name = current_database()"
        f" and table_name = {literal(table)}"
    ).rows
    return [name for (name,) in rows]
