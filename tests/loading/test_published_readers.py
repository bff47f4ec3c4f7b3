"""Readers in other processes open, query and close the published file while it is published repeatedly."""

import json
import subprocess
import sys
from pathlib import Path

import duckdb

from pipelines.loading.published.publish import publish

PUBLICATIONS = 4
READERS = 2
READER = """
import json, sys, duckdb
file, how = sys.argv[1:]
reads, errors, torn, seen = 0, [], 0, set()
print("ready", flush=True)
import select
while not select.select([sys.stdin], [], [], 0)[0]:
    try:
        if how == "connect":
            connection = duckdb.connect(file, read_only=True)
        else:
            connection = duckdb.connect()
            connection.execute(f"attach '{file}' as published (read_only)")
            connection.execute("use published")
        rows = connection.execute(
            "select 'a', build, count(*) from marts.first group by all"
            " union all select 'b', build, count(*) from marts.second group by all"
        ).fetchall()
        connection.close()
    except Exception as error:
        errors.append(str(error).splitlines()[0])
        continue
    reads += 1
    torn += len(rows) != 2 or rows[0][1] != rows[1][1] or {row[2] for row in rows} != {5000}
    seen.add(rows[0][1])
print(json.dumps({"reads": reads, "errors": errors[:3], "torn": torn, "seen": len(seen)}))
"""


def build(private: Path, number: int) -> None:
    """Return two marts with the number of their build in each of 5,000 rows."""
    with duckdb.connect(str(private)) as connection:
        connection.execute("create schema if not exists marts")
        for name in ("first", "second"):
            connection.execute(
                f"create or replace table marts.{name} as select range as id, {number} as build from range(5000)"
            )


def test_no_reader_meets_an_error_or_half_a_build_while_it_is_published(tmp_path: Path) -> None:
    private, published = tmp_path / "vetl.duckdb", tmp_path / "analytics.duckdb"

    def publish_build(number: int) -> None:
        build(private, number)
        publish(private, published, pii={"first": {}, "second": {}}, pii_key=None, keep=3)

    publish_build(0)
    readers = [
        subprocess.Popen(
            [sys.executable, "-c", READER, str(published), how],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for how in ("connect", "attach")
    ]
    for reader in readers:
        assert reader.stdout is not None
        assert reader.stdout.readline() == "ready\n"
    for number in range(1, PUBLICATIONS + 1):
        publish_build(number)
    reports = [json.loads(reader.communicate("end\n")[0]) for reader in readers]

    assert [(one["errors"], one["torn"]) for one in reports] == [([], 0)] * READERS
    assert sum(one["reads"] for one in reports) > PUBLICATIONS
    assert max(one["seen"] for one in reports) > PUBLICATIONS // 4
