"""The published marts in a real Postgres: equal rows, one publication for every reader, nothing lost."""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pytest
from adbc_driver_postgresql import dbapi
from support.processes import free_port, postgres
from support.published import published_once
from vetl.addons.postgres.job import PostgresError, copy
from vetl.core.published_file import DIGESTS, schema_of

ROWS = f"select count(*) from duckdb_tables() where schema_name in ('marts', 'meta') and table_name <> '{DIGESTS}'"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Provide the address of a server."""
    port = free_port()
    with postgres(tmp_path_factory.mktemp("postgres"), port):
        yield f"postgresql://dagster:secret@127.0.0.1:{port}"


@pytest.fixture
def dsn(server: str, request: pytest.FixtureRequest) -> str:
    """Provide an empty database."""
    name = f"of_{abs(hash(request.node.name))}"
    with dbapi.connect(f"{server}/postgres", autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute(f"create database {name}")
    return f"{server}/{name}"


@pytest.fixture(scope="module")
def published() -> Path:
    return published_once()


def asked(dsn: str, *statements: str) -> list[tuple[Any, ...]]:
    """Run statements; return the rows of the last one."""
    with dbapi.connect(dsn) as connection, connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
        rows = cursor.fetchall() if cursor.description else []
        connection.commit()
        return rows


def changed(published: Path, folder: Path, *statements: str, marts: tuple[str, ...] = ("practices",)) -> Path:
    """Return a copy of the published file with other rows in these marts, and other digests."""
    copied = Path(shutil.copy(published, folder / f"{len(list(folder.iterdir()))}.duckdb"))
    with closing(duckdb.connect(copied)) as connection:
        for statement in statements:
            connection.execute(statement)
        for mart in marts:
            connection.execute(
                f"update meta.digests set digest = digest || '{copied.stem}' where mart = ?", [mart]
            )
    return copied


def test_every_table_has_the_rows_of_the_file_and_the_second_copy_none(dsn: str, published: Path) -> None:
    copied = copy(published, dsn)
    with closing(duckdb.connect(published, read_only=True)) as file:
        ((tables,),) = file.execute(ROWS).fetchall()
        assert copied.tables == len(copied.changed) == tables > 40
        file.execute("set timezone = 'UTC'")
        with dbapi.connect(dsn) as connection, connection.cursor() as cursor:
            for name in copied.changed:
                place = f'{schema_of(name)}."{name}"'
                cursor.execute(f"select * from {place}")
                file.register("loaded", cursor.fetch_arrow_table())
                for one, other in ((place, "loaded"), ("loaded", place)):
                    differ = file.execute(f"select count(*) from (from {one} except all from {other})").fetchall()
                    assert differ == [(0,)], name
    assert copy(published, dsn).changed == {}


def test_words_of_any_kind_arrive(dsn: str, published: Path, tmp_path: Path) -> None:
    odd = ["1042", "00731", "2026-01-15", 'it\'s "odd"; drop table x; --', "Zoë 🐶", "\\N", "", "a\tb\nc"]
    words = [word.replace("'", "''") for word in odd]
    file = changed(
        published,
        tmp_path,
        *(
            "insert into marts.practices by name (select * replace"
            f" ('{word}' as practice_id, '{word}' || chr(0) as name) from marts.practices limit 1)"
            for word in words
        ),
    )
    copy(file, dsn)

    found = asked(dsn, "select practice_id, name from marts.practices")
    assert {(word, word) for word in odd} <= set(found)


def test_a_reader_sees_one_publication_in_each_of_thirty(dsn: str, published: Path, tmp_path: Path) -> None:
    """Two tables carry the number of the publication; a statement over both sees one number, and always rows."""
    marts = ("practices", "catalogue")
    files = [
        changed(
            published,
            tmp_path,
            f"update marts.practices set name = '{number}'",
            f"update meta.catalogue set description = '{number}'",
            marts=marts,
        )
        for number in range(2)
    ]
    copy(files[0], dsn)
    seen: list[tuple[Any, ...]] = []
    is_over = threading.Event()

    def read() -> None:
        while not is_over.is_set():
            seen.extend(
                asked(
                    dsn,
                    "select min(number), max(number), count(*) from (select name as number from marts.practices"
                    " union all select description from meta.catalogue) as numbers",
                )
            )

    reader = threading.Thread(target=read)
    reader.start()
    try:
        for number in range(1, 31):
            assert set(copy(files[number % 2], dsn).changed) == set(marts)
    finally:
        is_over.set()
        reader.join()
    assert len(seen) > 15
    assert {(low, high) for low, high, _ in seen} == {("0", "0"), ("1", "1")}
    assert len({rows for *_, rows in seen}) == 1


KILLED = """
import sys
from pathlib import Path
from vetl.addons.postgres.job import copy
print("on", flush=True)
copy(Path(sys.argv[1]), sys.argv[2])
"""


def test_killed_at_any_moment_it_has_one_publication(dsn: str, published: Path, tmp_path: Path) -> None:
    files = [
        changed(published, tmp_path, f"update marts.phone_calls set summary = '{n}'", marts=("phone_calls",))
        for n in range(2)
    ]
    copy(files[1], dsn)
    began = time.monotonic()
    copy(files[0], dsn)
    lasted = time.monotonic() - began
    for part in range(1, 9):
        command = [sys.executable, "-c", KILLED, files[part % 2], dsn]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout
            assert process.stdout.readline() == "on\n"
            try:
                process.wait(lasted * part / 8)
            except subprocess.TimeoutExpired:
                os.kill(process.pid, signal.SIGKILL)
        [(kinds, rows)] = asked(dsn, "select count(distinct summary), count(*) from marts.phone_calls")
        assert (kinds, rows > 0) == (1, True)
    copy(files[0], dsn)
    copy(files[1], dsn)
    assert asked(dsn, "select distinct summary from marts.phone_calls") == [("1",)]


def test_a_column_of_another_type_keeps_grants_and_views(dsn: str, published: Path, tmp_path: Path) -> None:
    copy(published, dsn)
    asked(
        dsn,
        "create role analyst_" + dsn[-8:],
        "create view marts.days as select practice_id, today from marts.practices",
        "create view public.over_it as select count(*) as practices from marts.days",
        f"grant select on marts.practices, marts.days, public.over_it to analyst_{dsn[-8:]}",
    )
    file = changed(
        published,
        tmp_path,
        "alter table marts.practices alter today type timestamp",
        "alter table marts.practices add column beds bigint default 7",
        "alter table marts.practices drop column as_of_local",
    )
    copy(file, dsn)

    [(kind,)] = asked(dsn, "select distinct pg_typeof(today)::text from marts.days")
    assert kind == "timestamp without time zone"
    assert asked(dsn, "select distinct beds from marts.practices") == [(7,)]
    assert asked(dsn, "select practices > 0 from public.over_it") == [(True,)]
    for place in ("marts.practices", "marts.days", "public.over_it"):
        [(may,)] = asked(dsn, f"select has_table_privilege('analyst_{dsn[-8:]}', '{place}', 'select')")
        assert may, place


def test_a_view_of_a_column_that_is_gone_keeps_the_publication_before(
    dsn: str, published: Path, tmp_path: Path
) -> None:
    copy(published, dsn)
    asked(dsn, "create view public.clocks as select as_of_local from marts.practices")
    file = changed(
        published,
        tmp_path,
        "alter table marts.practices drop column as_of_local",
        "delete from marts.clients",
        marts=("practices", "clients"),
    )

    with pytest.raises(PostgresError, match="as_of_local"):
        copy(file, dsn)
    assert asked(dsn, "select count(*) > 0 from marts.clients") == [(True,)]
    assert asked(dsn, "select count(*) > 0 from public.clocks") == [(True,)]


def test_a_readers_long_query_neither_waits_nor_blocks(dsn: str, published: Path, tmp_path: Path) -> None:
    copy(published, dsn)
    with dbapi.connect(dsn) as connection, connection.cursor() as cursor:
        cursor.execute("begin isolation level repeatable read")
        cursor.execute("select min(name) from marts.practices")
        before = cursor.fetchall()
        copy(changed(published, tmp_path, "update marts.practices set name = 'Other'"), dsn)
        cursor.execute("select min(name) from marts.practices")
        assert cursor.fetchall() == before
    assert asked(dsn, "select distinct name from marts.practices") == [("Other",)]


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("postgresql://dagster:of%20nobody@{host}/postgres", "password authentication failed"),
        ("postgresql://dagster:secret@127.0.0.1:1/postgres", "connection to server"),
        ("postgresql://dagster:sec:ret@{host}/postgres?x=1", "the DSN is not one that it reads"),
        ("of no kind", "the DSN is not one that it reads"),
    ],
)
def test_a_failure_is_one_line_without_the_password(
    server: str, published: Path, address: str, reason: str
) -> None:
    with pytest.raises(PostgresError, match=reason) as refused:
        copy(published, address.format(host=server.rpartition("@")[2]))

    line = str(refused.value)
    assert "\n" not in line
    assert not any(word in line for word in ("of nobody", "of%20nobody", "sec:ret", "secret"))
