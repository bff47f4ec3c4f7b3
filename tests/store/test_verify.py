"""`verify` finds each value of a published file that is not as it was published, and names the place."""

import re
import shutil
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import pytest
import yaml
from hypothesis import given, settings, strategies as st
from support.examples import examples
from support.random_rows import CLOCKS, PRACTICES, random_tables
from support.raw_tables import create_warehouse
from support.warehouse_with_rows import ask
from vetl.bundled import dbt_project
from vetl.core.errors import WarehouseError
from vetl.endpoints import RECEIVED, REGISTRY
from vetl.publishing.descriptions import personal_columns
from vetl.publishing.digests import DIGESTS, Leaf, verify, verify_inputs
from vetl.publishing.marts import table_of
from vetl.publishing.publication import publish
from vetl.settings.core_sections import PrivacySettings
from vetl.store.tables import RawTable, row_hash

OTHER = {
    "VARCHAR": "coalesce({0}, '') || 'x'",
    "BOOLEAN": "not coalesce({0}, false)",
    "DATE": "coalesce({0}, date '2026-01-01') + 1",
    "TIMESTAMP": "coalesce({0}, timestamp '2026-01-01') + interval 1 second",
    "TIMESTAMP WITH TIME ZONE": "coalesce({0}, timestamptz '2026-01-01 00:00:00Z') + interval 1 second",
}
"""SQL for another value of a column, by type; a number becomes the next one."""

MARTS = ("practice_daily", "phone_calls", "staff_tasks", "clients", "proof")
TYPES = {"string": "varchar", "{{ var('instant') }}": "timestamptz", "{{ var('local_time') }}": "timestamp"}
"""The types of the contracts that DuckDB spells in another way."""

VALUES = {
    "varchar": "concat('value ', i)",
    "boolean": "i % 2 = 0",
    "date": "date '2026-01-01' + cast(i as integer)",
    "timestamp": "timestamp '2026-01-01' + i * interval 1 day",
    "timestamptz": "timestamptz '2026-01-01 00:00:00Z'",
}
"""SQL for the value of a column in row `i`, by type; a number is `i`."""


def contract_of(mart: Path) -> dict[str, str]:
    columns = yaml.safe_load(mart.read_text("utf-8"))["models"][0]["columns"]
    kinds: dict[str, str] = {column["name"]: column["data_type"] for column in columns}
    return {name: TYPES.get(kind, kind) for name, kind in kinds.items()}


def value_of(column: str, kind: str) -> str:
    return "concat('loc-00', i % 2)" if column == "practice_id" else VALUES.get(kind, "i")


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Provide a published file of marts with columns of every type that a contract has, and six rows in each."""
    folder = tmp_path_factory.mktemp("published")
    private, target = folder / "vetl.duckdb", folder / "analytics.duckdb"
    with duckdb.connect(str(private)) as connection:
        connection.execute("create schema marts; create schema meta")
        contracts = {
            path.stem: contract_of(path)
            for path in (dbt_project() / "models").rglob("*.yml")
            if {"marts", "meta"} & {*path.parts}
        }
        kinds = {kind for mart in MARTS for kind in contracts[mart].values()}
        assert kinds == {kind for columns in contracts.values() for kind in columns.values()}
        for mart in MARTS:
            columns = contracts[mart]
            values = ", ".join(
                f'cast({value_of(name, kind)} as {kind}) as "{name}"' for name, kind in columns.items()
            )
            connection.execute(f"create table {table_of(mart)} as select {values} from range(6) as rows (i)")
    personal = {mart: columns for mart, columns in personal_columns(dbt_project()).items() if mart in MARTS}
    treatments = PrivacySettings().treatments(personal)
    publish(private, target, pii=treatments, pii_key="k" * 40)
    return target


@pytest.fixture
def file(published: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(published, tmp_path))


def columns_of(file: Path) -> dict[str, list[tuple[str, str]]]:
    columns: dict[str, list[tuple[str, str]]] = {}
    of_marts = (
        "select table_name, column_name, data_type from duckdb_columns() where schema_name in ('marts', 'meta')"
    )
    for table, name, kind in ask(file, of_marts):
        columns.setdefault(table, []).append((name, kind))
    columns.pop(DIGESTS)
    return columns


def change(file: Path, *statements: str) -> None:
    with duckdb.connect(str(file)) as connection:
        for statement in statements:
            connection.execute(statement)


def flipped(mart: str, column: str, kind: str) -> str:
    other = OTHER.get(kind, "coalesce({0}, 0) + 1").format(f'"{column}"')
    return (
        f'update {table_of(mart)} set "{column}" = {other} where rowid = (select min(rowid) from {table_of(mart)})'
    )


def test_a_file_as_it_was_published_is_whole(published: Path) -> None:
    found = verify(published)

    assert found.different == ()
    assert found.marts == len(columns_of(published))
    assert found.leaves > found.marts
    assert verify(published).root == found.root


def test_a_flipped_value_in_any_column_of_any_mart_is_found(published: Path, tmp_path: Path) -> None:
    """Each round flips one value of another column of each mart."""
    columns = columns_of(published)
    for number in range(max(len(names) for names in columns.values())):
        file = Path(shutil.copy(published, tmp_path))
        change(file, *(flipped(mart, *names[number % len(names)]) for mart, names in columns.items()))

        assert {leaf.mart for leaf in verify(file).different} == columns.keys(), number


def test_the_mart_the_practice_and_the_day_are_named(file: Path) -> None:
    day = date(2026, 1, 6)
    change(file, f"update marts.practice_daily set calls = calls + 1 where day = date '{day}'")

    assert verify(file).different == (Leaf("practice_daily", "loc-001", day),)
    assert verify(file, "loc-001", day).different == (Leaf("practice_daily", "loc-001", day),)
    assert verify(file, "loc-000").different == ()
    of_a_day = verify(file, None, date(2026, 1, 5))
    assert (of_a_day.different, of_a_day.root) == ((), None)


@pytest.mark.parametrize(
    ("statement", "mart"),
    [
        ("delete from marts.staff_tasks where rowid = 0", "staff_tasks"),
        ("insert into marts.staff_tasks from marts.staff_tasks limit 1", "staff_tasks"),
        ("alter table marts.staff_tasks rename column status to state", "staff_tasks"),
        ("alter table marts.staff_tasks add column more varchar", "staff_tasks"),
        ("drop table marts.clients", "clients"),
        ("create table marts.another as select 1 as one", "another"),
        ("update meta.digests set digest = digest || '1' where mart = 'proof'", "proof"),
        ("delete from meta.digests where mart = 'proof'", "proof"),
    ],
)
def test_other_rows_columns_tables_and_digests_are_found(statement: str, mart: str, file: Path) -> None:
    root = verify(file).root
    change(file, statement)

    found = verify(file)
    assert {leaf.mart for leaf in found.different} == {mart}
    assert (found.root != root) is ("meta.digests" in statement)


def test_a_file_of_an_older_vetl_or_of_another_hash_gets_a_clear_line(file: Path) -> None:
    change(file, "comment on table meta.digests is 'Probe 1.'")
    with pytest.raises(WarehouseError, match="made by another version of DuckDB"):
        verify(file)

    change(file, "drop table meta.digests")
    with pytest.raises(WarehouseError, match="has no digests: an older vetl published it"):
        verify(file)


values = st.one_of(st.none(), st.text(max_size=3))


@settings(max_examples=examples(12), deadline=None)
@given(rows=st.lists(st.tuples(values, values), min_size=2, max_size=4), data=st.data())
def test_rows_that_differ_as_a_multiset_have_other_digests(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[Any, Any]], data: st.DataObject
) -> None:
    """Values may move between rows and columns, and rows between places: only the last changes nothing."""
    folder = tmp_path_factory.mktemp("multiset")
    private, target = folder / "vetl.duckdb", folder / "analytics.duckdb"
    with duckdb.connect(str(private)) as connection:
        connection.execute("create schema marts; create table marts.pairs (one varchar, other varchar)")
        connection.executemany("insert into marts.pairs values (?, ?)", rows)
    publish(private, target, pii={"pairs": {}}, pii_key=None)
    places = [(row, column) for row in range(len(rows)) for column in (0, 1)]
    first, second = data.draw(st.sampled_from(places)), data.draw(st.sampled_from(places))
    moved = [list(row) for row in rows]
    moved[first[0]][first[1]], moved[second[0]][second[1]] = moved[second[0]][second[1]], moved[first[0]][first[1]]
    with duckdb.connect(str(target)) as connection:
        connection.execute("delete from marts.pairs")
        connection.executemany("insert into marts.pairs values (?, ?)", moved[::-1])

    is_same = sorted(map(repr, map(tuple, moved))) == sorted(map(repr, rows))
    assert (verify(target).different == ()) is is_same


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Provide a private file with rows that fit their hashes, and the file that was published from it."""
    tmp_path = tmp_path_factory.mktemp("inputs")
    tables = {name: rows for name, rows in random_tables(seed=1, rows=200).items() if "." not in name}
    private = create_warehouse(tmp_path / "vetl.duckdb", practices=PRACTICES, clocks=CLOCKS, tables=tables)
    published = tmp_path / "analytics.duckdb"
    change(
        private,
        *(
            f"update {table.raw} as stored set _row_hash = {row_hash(table.hashed, 'stored')}"
            for table in map(RawTable.of, (*REGISTRY, *RECEIVED))
        ),
        "create schema marts; create table marts.pairs as select 1 as one",
    )
    publish(private, published, pii={"pairs": {}}, pii_key=None)
    return private, published


@pytest.fixture
def with_inputs(inputs: tuple[Path, Path], tmp_path: Path) -> tuple[Path, Path]:
    private, published = (Path(shutil.copy(file, tmp_path)) for file in inputs)
    return private, published


def test_a_private_file_has_the_rows_that_were_published(with_inputs: tuple[Path, Path]) -> None:
    found = verify_inputs(*with_inputs)

    assert found.rows > 100
    assert (found.changed, found.different, found.is_older) == ((), (), False)
    assert verify(with_inputs[1]).different == ()


FIRST_THERE = "rowid = (select min(rowid) from raw.appointments where _deleted_at is null)"


@pytest.mark.parametrize(
    ("statement", "where"),
    [
        ("update raw.staff_tasks set status = 'x' where rowid = 0", "changed"),
        ("update raw.phone_calls set booked = not coalesce(booked, false) where rowid = 0", "changed"),
        ("delete from raw.staff_tasks where rowid = 0", "different"),
        (f"update raw.appointments set _deleted_at = now() where {FIRST_THERE}", "different"),
        ("insert into raw.booking_sessions from raw.booking_sessions where rowid = 0", "different"),
    ],
)
def test_a_changed_missing_or_additional_row_of_the_private_file_is_found(
    statement: str, where: str, with_inputs: tuple[Path, Path]
) -> None:
    change(with_inputs[0], statement)
    found = verify_inputs(*with_inputs)

    assert [name for name in ("changed", "different") if getattr(found, name)] == [where]
    assert {table for table, *_ in (*found.changed, *found.different)} == set(re.findall(r"raw\.\w+", statement))


def test_after_another_sync_rows_are_compared_with_their_own_hashes_only(with_inputs: tuple[Path, Path]) -> None:
    change(
        with_inputs[0],
        "delete from raw.staff_tasks where rowid = 0",
        "insert into control.runs (run_id, command, started_at) values ('later', 'sync', now())",
    )
    found = verify_inputs(*with_inputs)

    assert (found.changed, found.different, found.is_older) == ((), (), True)
