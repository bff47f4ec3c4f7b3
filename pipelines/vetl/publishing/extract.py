"""Write a file with some practices of the published file alone, for readers of the file itself."""

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import duckdb

from vetl.core.errors import WarehouseError, cannot_write
from vetl.core.published_file import DIGESTS, SCHEMAS
from vetl.publishing.marts import copy_comments, count, marts_of, table_of
from vetl.publishing.opened import OF_NO_PRACTICE, rows_of
from vetl.publishing.retention import attach_target, refuse_foreign
from vetl.store.connection import as_warehouse_error, literal
from vetl.store.drafts import draft_for, give_access

_MODE = 0o640


def extract(published: Path, target: Path, practices: Sequence[str]) -> dict[str, int]:
    """Write the marts of these practices into a new file, and return the number of rows by table.

    The rows are copied into an empty file, so that no byte of another practice is in it. A table without
    practices is left out, unless it is known to be about none. The digests come with their rows.
    """
    if not published.exists():
        raise WarehouseError(f"{published}: there is no such file yet; `vetl run` makes it")
    if target.exists() and target.samefile(published):
        raise WarehouseError(f"{target}: is the published file; write to another")
    refuse_foreign(target, *SCHEMAS)
    try:
        with draft_for(target) as draft:
            rows = _copied(published, draft, practices)
            give_access(draft, target, first=_MODE)
            draft.replace(target)
            return rows
    except OSError as error:
        raise WarehouseError(cannot_write(target, error)) from None
    except duckdb.Error as error:
        raise as_warehouse_error(error, target, "cannot be written") from None


def _copied(published: Path, draft: Path, practices: Sequence[str]) -> dict[str, int]:
    with closing(duckdb.connect()) as connection:
        connection.execute(f"attach {literal(str(published))} as source (read_only)")
        connection.execute("use source")
        attach_target(connection, draft, *SCHEMAS)
        rows: dict[str, int] = {}
        for table, columns in marts_of(connection).items():
            shown = rows_of(table, practices, has_practice="practice_id" in columns)
            if shown is None:
                continue
            if table == DIGESTS:  # with those of the tables of no practice, which the file has whole
                shown += (
                    f" or (practice_id is null and mart in ({', '.join(map(literal, sorted(OF_NO_PRACTICE)))}))"
                )
            name = table_of(table)
            connection.execute(f"create table target.{name} as from {name} where {shown}")
            rows[table] = count(connection, "target", table)
        copy_comments(connection, rows)
        connection.execute("detach target")
    return rows
