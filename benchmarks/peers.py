"""Alternatives to vetl: a script by hand, dlt with Arrow tables parsed by hand, and dlt with dictionaries.

All send the requests of the floor and keep the rows, without certificates, history, keys or hashes.
"""

import csv
import io
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from threading import local
from typing import Any

import duckdb
import httpx
import orjson
import polars as pl

from benchmarks.floor import IN_FLIGHT, Query

_PAGES = 10
"""Answers that become one table: each insert into DuckDB costs the same, however few rows it has."""


def script(base_url: str, path: str, queries: Sequence[Query], folder: Path) -> None:
    """Parse the answers with polars and insert them with DuckDB, by hand."""
    with duckdb.connect(str(folder / "script.duckdb")) as connection:
        for number, frame in enumerate(_tables(base_url, path, queries)):
            connection.register("page", frame)
            connection.execute("insert into kept from page" if number else "create table kept as from page")


def dlt_arrow(base_url: str, path: str, queries: Sequence[Query], folder: Path) -> None:
    """Load with the best form of dlt: Arrow tables, appended by one Parquet file."""
    _load(map(pl.DataFrame.to_arrow, _tables(base_url, path, queries)), path, folder)


def dlt_dictionaries(base_url: str, path: str, queries: Sequence[Query], folder: Path) -> None:
    """Load as most users of dlt do: rows as dictionaries."""
    parse = _csv_rows if path == "phone_calls" else _json_rows
    _load((row for body in _bodies(base_url, path, queries) for row in parse(body)), path, folder)


def _load(rows: Iterator[Any], path: str, folder: Path) -> None:
    os.environ |= {"RUNTIME__DLTHUB_TELEMETRY": "false", "RUNTIME__LOG_LEVEL": "CRITICAL"}
    import dlt  # noqa: PLC0415 - not for the other contenders

    target = dlt.destinations.duckdb(str(folder / "dlt.duckdb"))
    pipeline = dlt.pipeline("bench", pipelines_dir=str(folder / "dlt"), destination=target, dataset_name="raw")
    pipeline.run(rows, table_name=path, write_disposition="append", loader_file_format="parquet")


def _tables(base_url: str, path: str, queries: Sequence[Query]) -> Iterator[pl.DataFrame]:
    parse = _csv_table if path == "phone_calls" else _json_table
    bodies = _bodies(base_url, path, queries)
    while some := list(islice(bodies, _PAGES)):
        yield parse(some)


def _bodies(base_url: str, path: str, queries: Sequence[Query]) -> Iterator[bytes]:
    """Yield each answer, in the order of the requests, eight in flight, by threads with a client each."""
    mine = local()

    def get(query: Query) -> bytes:
        if not hasattr(mine, "client"):
            mine.client = httpx.Client(base_url=f"{base_url}/services/core/open_api/v1", timeout=60)
        return mine.client.get(path, params=query).raise_for_status().content

    with ThreadPoolExecutor(IN_FLIGHT) as pool:
        for start in range(0, len(queries), 4 * IN_FLIGHT):  # no more in memory than is written next
            yield from pool.map(get, queries[start : start + 4 * IN_FLIGHT])


def _csv_table(bodies: Sequence[bytes]) -> pl.DataFrame:
    head = bodies[0].index(b"\n") + 1
    frame = pl.read_csv(bodies[0] + b"".join(body[head:] for body in bodies[1:]), infer_schema=False)
    yes = [pl.col(name) == "Yes" for name in ("Booking Intent", "Booked")]
    return frame.with_columns(pl.col("Date").str.to_datetime("%Y-%m-%d %H:%M"), *yes)


def _json_table(bodies: Sequence[bytes]) -> pl.DataFrame:
    rows = [row for body in bodies for row in _json_rows(body)]
    times = ["booking_date", "end_date", "created_at", "updated_at"]
    frame = pl.DataFrame(rows, infer_schema_length=None)
    return frame.with_columns(pl.col(times).str.to_datetime(time_zone="UTC"))


def _csv_rows(body: bytes) -> Iterator[dict[str, Any]]:
    return iter(csv.DictReader(io.StringIO(body.decode())))


def _json_rows(body: bytes) -> list[dict[str, Any]]:
    return orjson.loads(body)["data"]["content"]
