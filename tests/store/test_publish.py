"""The analysts' file: only the marts, masked, and replaced as a whole."""

import hashlib
import os
import shutil
import stat
from pathlib import Path

import duckdb
import pytest
from support.warehouse_with_rows import ask
from vetl.core.errors import WarehouseError
from vetl.core.published_file import Treatments
from vetl.publishing.publication import publish

PII: Treatments = {"clients": {"name": "hash", "born": "hash"}, "daily": {}}


@pytest.fixture
def private(tmp_path: Path) -> Path:
    path = tmp_path / "vetl.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("""
            create schema marts; create schema raw;
            create table raw.clients as select 'secret' as name;
            create table marts.clients (id varchar not null, name varchar, born date);
            insert into marts.clients
            values ('c1', 'Jane Doe', '1980-01-01'), ('c2', null, null), ('c3', 'Jane Doe', null);
            create view marts.daily as select id, 1 as calls from marts.clients;
            comment on table marts.clients is 'One row per client, it''s said';
            comment on column marts.clients.id is 'Service id';
        """)
    return path


def hashed(value: str, key: str, *, scope: str, practice: str = "") -> str:
    inner = hashlib.sha256(f"{key}{scope}:{len(practice)}:{practice}{value}".encode()).hexdigest()
    return hashlib.sha256(f"{key}{inner}".encode()).hexdigest()


def test_only_marts_are_published_and_personal_data_is_null_without_a_key(private: Path, tmp_path: Path) -> None:
    target = tmp_path / "deep" / "analytics.duckdb"

    result = publish(private, target, pii=PII, pii_key=None)

    assert (result.path, result.tables, result.left_out) == (target, {"clients": 3, "daily": 3}, ())
    assert result.masked == ("clients.name", "clients.born")
    people = ask(target, "from marts.clients order by id")
    assert people == [("c1", None, None), ("c2", None, None), ("c3", None, None)]
    tables = ask(target, "select distinct schema_name, table_name from duckdb_tables() order by 2")
    assert tables == [("marts", "clients"), ("marts", "daily"), ("meta", "digests")]
    assert ask(target, "select data_type from duckdb_columns() where column_name = 'born'") == [("DATE",)]


def test_with_a_key_texts_are_keyed_hashes_that_still_join(private: Path, target: Path) -> None:
    publish(private, target, pii=PII, pii_key="k'ey")

    jane = hashed("Jane Doe", "k'ey", scope="client_name")
    people = ask(target, "from marts.clients order by id")
    assert people == [("c1", jane, None), ("c2", None, None), ("c3", jane, None)]
    assert b"Jane" not in target.read_bytes()
    assert b"k'ey" not in target.read_bytes()


def test_hashes_join_within_a_practice_and_never_across(tmp_path: Path, target: Path) -> None:
    private = tmp_path / "vetl.duckdb"
    with duckdb.connect(str(private)) as connection:
        connection.execute("""
            create schema marts;
            create table marts.clients as
            select unnest(['p', 'q', 'p1']) as practice_id, unnest(['Rex', 'Rex', 'Rex']) as name;
            create table marts.phone_calls as
            select practice_id, name as client_name, name as patient_name from marts.clients;
        """)
    pii: Treatments = {
        "clients": {"name": "hash"},
        "phone_calls": {"client_name": "hash", "patient_name": "hash"},
    }

    publish(private, target, pii=pii, pii_key="key")

    assert ask(
        target,
        "select count(distinct name), count(distinct patient_name), bool_and(name = client_name),"
        " bool_or(name = patient_name) from marts.clients inner join marts.phone_calls using (practice_id)",
    ) == [(3, 3, True, False)]


def test_each_column_is_treated_as_set(private: Path, target: Path) -> None:
    pii: Treatments = {"clients": {"name": "null", "born": "clear"}, "daily": {}}

    result = publish(private, target, pii=pii, pii_key="k'ey")

    assert (result.masked, result.clear) == (("clients.name",), ("clients.born",))
    people = ask(target, "select name, born::varchar from marts.clients order by id")
    assert people == [(None, "1980-01-01"), (None, None), (None, None)]
    assert b"Jane" not in target.read_bytes()


def test_comments_go_with_the_marts_and_an_older_duckdb_can_read_them(private: Path, target: Path) -> None:
    publish(private, target, pii=PII, pii_key=None)

    assert ask(
        target,
        "select comment from duckdb_tables() where comment is not null and table_name <> 'digests'"
        " union all select comment from duckdb_columns() where comment is not null",
    ) == [("One row per client, it's said",), ("Service id",)]
    tags = ask(target, "select tags from duckdb_databases() where database_name = 'analytics'")
    assert "v1.0.0" in str(tags)


def test_a_mart_that_nobody_classified_is_left_out_and_named(private: Path, target: Path) -> None:
    result = publish(private, target, pii={"daily": {}}, pii_key=None)

    assert (dict(result.tables), result.left_out) == ({"daily": 3}, ("clients",))


def test_nothing_to_publish_is_one_clear_line(tmp_path: Path, target: Path) -> None:
    private = tmp_path / "vetl.duckdb"
    duckdb.connect(str(private)).close()

    with pytest.raises(WarehouseError, match="there is no mart to publish; run `vetl build`"):
        publish(private, target, pii=PII, pii_key=None)

    assert not (target).exists()


def test_a_classified_column_that_is_not_there_stops_the_publication(private: Path, tmp_path: Path) -> None:
    """The column may have been renamed, and would be published in clear under its new name."""
    with pytest.raises(WarehouseError, match="clients has no column phone, which is classified as personal"):
        publish(private, tmp_path / "a.duckdb", pii={**PII, "clients": {"phone": "hash"}}, pii_key=None)


@pytest.mark.parametrize("spelling", ["same", "dots", "folder link", "link", "hard link", "copy", "private link"])
def test_the_private_file_is_never_replaced(private: Path, tmp_path: Path, spelling: str) -> None:
    """This holds for any spelling and any name: a file with more than marts was not published by vetl."""
    folder = private.parent
    (tmp_path / "there").symlink_to(folder)
    other = folder / "analytics.duckdb"
    match spelling:
        case "link":
            other.symlink_to(private)
        case "hard link":
            other.hardlink_to(private)
        case "copy":
            shutil.copy(private, other)
        case "private link":
            private.rename(other)
            private.symlink_to(other)
        case _:
            pass
    target = {
        "same": private,
        "dots": folder / ".." / folder.name / private.name,
        "folder link": tmp_path / "there" / private.name,
    }.get(spelling, other)
    before = private.read_bytes()

    with pytest.raises(WarehouseError, match=r"is the private file|holds the schema raw"):
        publish(private, target, pii=PII, pii_key=None)

    assert private.read_bytes() == before
    assert target.read_bytes() == before


def test_mode_and_group_of_the_published_file_stay(private: Path, target: Path) -> None:
    publish(private, target, pii=PII, pii_key=None)
    assert stat.S_IMODE(target.stat().st_mode) == 0o644
    group = next((group for group in os.getgroups() if group != target.stat().st_gid), None)
    group = 12_345 if os.geteuid() == 0 else group
    target.chmod(0o640)
    if group is not None:
        os.chown(target, -1, group)
    expected = target.stat()

    publish(private, target, pii=PII, pii_key=None)

    after = target.stat()
    assert after.st_ino != expected.st_ino
    assert (after.st_mode, after.st_gid) == (expected.st_mode, expected.st_gid)


def test_a_link_to_the_published_file_stays_one(private: Path, tmp_path: Path, target: Path) -> None:
    link = tmp_path / "link.duckdb"
    publish(private, target, pii=PII, pii_key=None)
    link.symlink_to(target)

    publish(private, link, pii=PII, pii_key=None)

    assert link.is_symlink()
    assert ask(target, "select count(*) from marts.clients") == [(3,)]
