"""Retention of published files, rollback, and the files that are published beside them.

Readers in other processes open, query and close the published file while it is published repeatedly.
"""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import duckdb
import polars as pl
import pytest
from support.warehouse_with_rows import ask
from vetl.core.errors import WarehouseError
from vetl.core.published_file import Treatments
from vetl.publishing.contacts import contacts_file, remove_contacts, write_contacts
from vetl.publishing.copies import parquet_folder, remove_parquet, write_parquet
from vetl.publishing.publication import publish
from vetl.publishing.replacing import kept, roll_back
from vetl.publishing.statements import query

PII: Treatments = {
    "clients": {"name": "hash", "phone": "hash", "email": "hash"},
    "phone_calls": {"client_name": "hash", "phone_number": "hash"},
    "call_back_list": {"phone_number": "hash"},
}


def one_more(private: Path) -> None:
    with duckdb.connect(str(private)) as connection:
        connection.execute("insert into marts.clients values ('p', 'c' || random()::varchar, null, null, null)")


def clients(file: Path) -> int:
    return ask(file, "select count(*) from marts.clients")[0][0]


def published_times(private: Path, target: Path, times: int, keep: int = 3) -> None:
    for turn in range(times):
        publish(private, target, pii=PII, pii_key=None, keep=keep)
        os.utime(target, (1_700_000_000 + turn, 1_700_000_000 + turn))
        one_more(private)


@pytest.fixture
def published(private: Path, target: Path) -> Path:
    publish(private, target, pii=PII, pii_key=None)
    return target


def test_the_last_files_are_kept_and_older_ones_go(private: Path, target: Path) -> None:
    published_times(private, target, 3, keep=2)

    assert [clients(file) for file in (target, *kept(target))] == [5, 4]
    assert kept(target)[0].name == "analytics.20231114T221321000000Z.duckdb"
    published_times(private, target, 1, keep=1)
    assert kept(target) == []


def test_rolling_back_goes_one_file_back_each_time(private: Path, target: Path) -> None:
    published_times(private, target, 3)

    roll_back(target)
    assert clients(target) == 4
    roll_back(target)
    assert clients(target) == 3
    with pytest.raises(WarehouseError, match=r"no earlier file is kept; see warehouse\.keep"):
        roll_back(target)
    publish(private, target, pii=PII, pii_key=None, keep=3)
    assert clients(target) == 6


def test_a_reader_of_the_manifest_finds_every_mart_masked(published: Path) -> None:
    folder = write_parquet(published, 2)

    assert folder == parquet_folder(published) == published.with_suffix(".parquet")
    tables = {item["name"]: item for item in json.loads((folder / "manifest.json").read_text("utf-8"))["tables"]}
    counts = {name: item["rows"] for name, item in tables.items()}
    assert counts == {"clients": 3, "digests": 3, "call_back_list": 3, "phone_calls": 2}
    frame = pl.read_parquet(folder / tables["clients"]["path"])
    assert frame["client_id"].to_list() == ["c1", "c2", "c3"]
    assert frame["name"].null_count() == 3
    assert tables["clients"]["columns"]["name"] == "VARCHAR"
    assert not any(b"Jane" in file.read_bytes() for file in folder.rglob("*.*") if file.is_file())
    assert stat.S_IMODE((parquet_folder(published) / tables["clients"]["path"]).stat().st_mode) == 0o644


def test_the_manifest_goes_on_and_files_it_named_stay_for_who_reads_them(private: Path, target: Path) -> None:
    folder = Path()
    seen: list[str] = []
    for _ in range(3):
        one_more(private)
        publish(private, target, pii=PII, pii_key=None)
        folder = write_parquet(target, 2)
        assert write_parquet(target, 2) == folder
        seen.append(json.loads((folder / "manifest.json").read_text("utf-8"))["version"])

    assert len(set(seen)) == 3
    assert sorted(path.name for path in parquet_folder(target).iterdir() if path.is_dir()) == seen[1:]
    assert remove_parquet(target)
    assert not remove_parquet(target)


def test_contacts_name_the_people_of_the_marts_and_nobody_forgotten(private: Path, published: Path) -> None:
    file = write_contacts(private, published)

    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert ask(file, "from clients") == [("p", "c1", "Jane Doe", "+12125550100", "jane@example.com")]
    assert ask(file, "from phone_calls") == [("p", "k2", "Max", "+12125550111")]
    assert ask(file, "from call_back_list order by all") == [
        ("p", "e1", "Jane Doe", "+12125550100", "jane@example.com", None),
        ("p", "e2", "Max", "+12125550111", None, "Rex"),
    ]


def test_a_statement_joins_contacts_if_they_may_be_read(private: Path, published: Path) -> None:
    both = "call_back_list left join contacts.call_back_list as told using (practice_id, episode_id)"
    joined = f"select told.name from {both} order by all"
    with pytest.raises(Exception, match="contacts"):
        query(published, joined)

    write_contacts(private, published)

    assert query(published, joined).rows == [("Jane Doe",), ("Max",), (None,)]
    assert remove_contacts(published)
    assert query(published, "select count(*) from call_back_list").rows == [(3,)]


def test_group_and_mode_of_contacts_stay_and_everybody_else_is_kept_out(private: Path, published: Path) -> None:
    file = write_contacts(private, published)
    group = 12_345 if os.geteuid() == 0 else file.stat().st_gid
    os.chown(file, -1, group)
    file.chmod(0o604)
    os.utime(file, (0, 0))

    assert write_contacts(private, published) == contacts_file(published)

    assert (stat.S_IMODE(file.stat().st_mode), file.stat().st_gid) == (0o600, group)


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
    """Make two marts with the number of their build in each of 5,000 rows."""
    with duckdb.connect(str(private)) as connection:
        connection.execute("create schema if not exists marts")
        for name in ("first", "second"):
            connection.execute(
                f"create or replace table marts.{name} as select range as id, {number} as build from range(5000)"
            )


def test_no_reader_meets_an_error_or_half_a_build_while_it_is_published(tmp_path: Path, target: Path) -> None:
    private = tmp_path / "vetl.duckdb"

    def publish_build(number: int) -> None:
        build(private, number)
        publish(private, target, pii={"first": {}, "second": {}}, pii_key=None, keep=3)

    publish_build(0)
    readers = [
        subprocess.Popen(
            [sys.executable, "-c", READER, str(target), how],
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
