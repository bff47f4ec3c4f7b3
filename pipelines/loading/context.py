"""What every part of a commit works with, and what it did, by practice."""

from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime

import duckdb
import polars as pl

from pipelines.core.pages import Changes
from pipelines.loading.pseudonyms import Pseudonyms
from pipelines.loading.stream import ArrowStream
from pipelines.loading.tables import RawTable

Tally = Mapping[str, Changes]
"""What was done to the rows of each practice, by its id; a practice that nothing was done to may be missing."""


@dataclass(frozen=True, slots=True)
class Commit:
    """One transaction under way: for one endpoint, of any number of practices, in one run.

    A statement costs milliseconds whatever it brings, so rows of all practices go into one; every frame has a
    `practice_id`. `zones` and `clocks` are by practice: its time zone, and the source's clock as of the latest
    read that goes in. `held`: the lists of practices that had rows in quarantine since the file was opened.
    `pseudonyms`: the forgotten people of the file, who come in under these.
    """

    connection: duckdb.DuckDBPyConnection
    run_id: str
    table: RawTable
    zones: Mapping[str, str]
    clocks: Mapping[str, datetime]
    held: set[tuple[str, str]]
    pseudonyms: Pseudonyms = field(default_factory=Pseudonyms)

    @property
    def endpoint_name(self) -> str:
        """The name of the endpoint, as control tables know it."""
        return self.table.endpoint.name


def frame_of(
    connection: duckdb.DuckDBPyConnection, sql: str, *, params: Mapping[str, object] | None = None
) -> pl.DataFrame:
    """The rows that a question is answered with.

    Taken as an Arrow stream: DuckDB's own `pl` imports pyarrow and numpy, a quarter of the CPU of a sync without
    news.
    """
    return pl.DataFrame(ArrowStream(connection.sql(sql, params=params)))


@contextmanager
def registered_frames(connection: duckdb.DuckDBPyConnection, **frames: pl.DataFrame) -> Generator[None]:
    """Let SQL see frames by these names."""
    for name, frame in frames.items():
        connection.register(name, ArrowStream(frame))
    yield
    # After a failure the names stay until the next use: an aborted transaction refuses even this.
    for name in frames:
        connection.unregister(name)


def added(tallies: Iterable[Tally]) -> dict[str, Changes]:
    """All of them together."""
    total: dict[str, Changes] = {}
    for tally in tallies:
        for practice_id, changes in tally.items():
            total[practice_id] = total.get(practice_id, Changes()) + changes
    return total


def counted(**rows: pl.DataFrame) -> dict[str, Changes]:
    """How many rows of each practice were `inserted`, `updated` and so on: frames with a `practice_id`."""
    counts = [
        (practice_id, replace(Changes(), **{name: count}))
        for name, frame in rows.items()
        if not frame.is_empty()
        for practice_id, count in frame.group_by("practice_id").len().rows()
    ]
    return added({practice_id: changes} for practice_id, changes in counts)
