"""The context of a commit, and its counts by practice."""

from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime

import polars as pl

from vetl.core.pages import Changes
from vetl.store.connection import Connection
from vetl.store.pseudonyms import Pseudonyms
from vetl.store.stream import ArrowStream
from vetl.store.tables import RawTable

Tally = Mapping[str, Changes]
"""Counts of changed rows by practice; a practice without changes may be missing."""


@dataclass(frozen=True, slots=True)
class Commit:
    """One open transaction, for one endpoint and any number of practices, in one run.

    A statement costs milliseconds however few rows it has, so the rows of all practices share statements, and
    every frame has a `practice_id`. `zones` holds the time zone of each practice, `clocks` the source's clock at
    its latest read. `quarantined_lists` are the lists that had rows in quarantine since the file was opened.
    `pseudonyms` are those of the file's forgotten people.
    """

    connection: Connection
    run_id: str
    table: RawTable
    zones: Mapping[str, str]
    clocks: Mapping[str, datetime]
    quarantined_lists: set[tuple[str, str]]
    pseudonyms: Pseudonyms = field(default_factory=Pseudonyms)

    @property
    def endpoint_name(self) -> str:
        """Return the name of the endpoint in control tables."""
        return self.table.endpoint.name


def frame_of(connection: Connection, sql: str, *, params: Mapping[str, object] | None = None) -> pl.DataFrame:
    """Return the rows of a query.

    The rows are passed as an Arrow stream: DuckDB's own `pl()` imports pyarrow and numpy, a quarter of the CPU of
    a sync without changes.
    """
    return pl.DataFrame(ArrowStream(connection.sql(sql, params=params)))


@contextmanager
def registered_frames(connection: Connection, **frames: pl.DataFrame) -> Generator[None]:
    """Make frames visible to SQL under these names."""
    for name, frame in frames.items():
        connection.register(name, ArrowStream(frame))
    yield
    # After a failure the names stay until their next use: an aborted transaction refuses to unregister them.
    for name in frames:
        connection.unregister(name)


def added(tallies: Iterable[Tally]) -> dict[str, Changes]:
    """Add up counts by practice."""
    total: dict[str, Changes] = {}
    for tally in tallies:
        for practice_id, changes in tally.items():
            total[practice_id] = total.get(practice_id, Changes()) + changes
    return total


def counted(**rows: pl.DataFrame) -> dict[str, Changes]:
    """Count the rows of frames by practice: `counted(inserted=frame)`."""
    return added(
        {practice_id: Changes(**{name: count})}
        for name, frame in rows.items()
        if not frame.is_empty()
        for practice_id, count in frame.group_by("practice_id").len().rows()
    )
