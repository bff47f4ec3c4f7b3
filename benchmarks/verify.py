"""`python -m benchmarks.verify`: `vetl verify` over 10 million calls: whole, one day, and the private file."""

import argparse
import tempfile
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path

import duckdb
from vetl.publishing.digests import verify, verify_inputs
from vetl.publishing.publication import publish

from benchmarks.marts_world import PRACTICES, make


def main() -> None:
    """Publish the raw calls as a mart, then verify it; print the seconds of each."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.verify")
    parser.add_argument("--calls", type=int, default=10_000_000, help="a multiple of 1,000")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        private, published = Path(scratch) / "vetl.duckdb", Path(scratch) / "analytics.duckdb"
        make(private, options.calls)
        with duckdb.connect(str(private)) as connection:
            connection.execute("create schema if not exists marts")
            connection.execute("create view marts.phone_calls as select *, call_date as day from raw.phone_calls")
            days: list[tuple[date]] = connection.execute("select max(call_date) from raw.phone_calls").fetchall()
        _timed("publish", lambda: publish(private, published, pii={"phone_calls": {}}, pii_key=None))
        print(f"{options.calls:,} calls: {published.stat().st_size / 2**20:,.0f} MiB")
        _timed("verify", lambda: verify(published))
        _timed("verify --day", lambda: verify(published, None, days[0][0]))
        _timed("verify --practice --day", lambda: verify(published, PRACTICES[0].id, days[0][0]))
        _timed("the private file", lambda: verify_inputs(private, published))


def _timed(label: str, work: Callable[[], object]) -> None:
    started, cpu = time.perf_counter(), time.process_time()
    work()
    print(f"{label}: {time.perf_counter() - started:.1f} s, CPU {time.process_time() - cpu:.1f} s", flush=True)


if __name__ == "__main__":
    main()
