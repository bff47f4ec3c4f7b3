"""Find and remove rows of raw with the same key, with which the tests of the marts fail."""

from collections.abc import Sequence

import duckdb

from vetl.loading.connection import quoted
from vetl.loading.pseudonyms import CALLS
from vetl.loading.tables import RawTable

_REPEATED = "mended_repeated"


def mend(connection: duckdb.DuckDBPyConnection, tables: Sequence[RawTable]) -> dict[str, int]:
    """Leave one row under each key, in the open transaction; return the number of moved rows by table.

    Of the rows with the same key, the last one that is not deleted stays, and the others move to history. A call
    that is not deleted gets a new key instead, because two calls may agree in all columns of the key.
    """
    mended = {table.raw.replace('"', ""): _mend(connection, table) for table in tables}
    mended = {name: rows for name, rows in mended.items() if rows}
    if mended:
        connection.execute("update control.builds set fingerprint = '', is_complete = false, build_id = null")
    return mended


def _mend(connection: duckdb.DuckDBPyConnection, table: RawTable) -> int:
    key = ", ".join(quoted(name) for name in ("practice_id", *table.endpoint.key))
    later = "_deleted_at is null desc, _loaded_at desc, rowid desc"
    connection.execute(
        f"create or replace temp table {_REPEATED} as"
        " select rowid as target, nth, until, _deleted_at is null as is_there from ("
        "  select rowid, _deleted_at, row_number() over same as nth, first_value(_loaded_at) over same as until"
        f"  from {table.raw}"
        f"  semi join (select {key} from {table.raw} group by all having count(*) > 1) using ({key})"
        f"  window same as (partition by {key} order by {later})) where nth > 1"
    )
    [(rows,)] = connection.execute(f"select count(*) from {_REPEATED}").fetchall()
    if rows and table.endpoint.table == CALLS:
        connection.execute(
            f"update {table.raw} as stored set call_key = left(md5(concat(call_key, '/', nth)), 16)"
            f" from {_REPEATED} as repeated where stored.rowid = target and is_there"
        )
        connection.execute(f"delete from {_REPEATED} where is_there")
    if rows:
        connection.execute(
            f"insert into {table.history} by name"
            " select stored.*, stored._loaded_at as _valid_from, greatest(until, stored._loaded_at) as _valid_to"
            f" from {table.raw} as stored join {_REPEATED} as repeated on stored.rowid = target"
        )
        connection.execute(f"delete from {table.raw} where rowid in (select target from {_REPEATED})")
    connection.execute(f"drop table {_REPEATED}")
    return rows
