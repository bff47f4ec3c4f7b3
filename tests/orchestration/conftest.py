"""Dagster's SQLite files, as tests need them."""

from datetime import UTC, datetime
from sqlite3 import Connection
from typing import Any

from sqlalchemy import event
from sqlalchemy.engine import Engine


@event.listens_for(Engine, "connect")
def _quick_and_exact(connection: Any, _record: object) -> None:
    """Leave syncing to the system, which took half of the time; date rows by the microsecond.

    Dagster shows the result of a check that its step did not plan if the check's row is newer than the rows of its
    asset. SQLite's clock counts seconds, and runs of tests follow each other within one.
    """
    if isinstance(connection, Connection):
        connection.execute("pragma synchronous = off")
        connection.create_function("current_timestamp", 0, lambda: str(datetime.now(UTC).replace(tzinfo=None)))
