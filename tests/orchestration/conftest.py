"""Dagster's records of a test need not survive a power cut: syncing them to the disk took half of the time."""

from sqlite3 import Connection
from typing import Any

from sqlalchemy import event
from sqlalchemy.engine import Engine


@event.listens_for(Engine, "connect")
def _leave_it_to_the_system(connection: Any, _record: object) -> None:
    if isinstance(connection, Connection):
        connection.execute("pragma synchronous = off")
