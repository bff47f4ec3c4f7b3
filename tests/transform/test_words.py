"""Words of the source may be masked in the published file, and words of vetl never are."""

from collections.abc import Iterator

import duckdb
import pytest
from support.dbt_build import BOOKING_STAGES, Build
from vetl.bundled import dbt_project
from vetl.core.published_file import COMMON_WORDS, OWN_WORDS, PHRASES, has_source_words
from vetl.endpoints import RECEIVED, REGISTRY
from vetl.publishing.descriptions import personal_columns

CONTRACT = {
    word.lower() for one in (*REGISTRY, *RECEIVED) for column in one.columns() for word in column.values or ()
}
PERSONAL = personal_columns(dbt_project())
NOT_OF_ROWS = {"catalogue", "metrics", "practices", "proof"}
"""Marts about vetl itself, and what the settings say of a practice."""


@pytest.fixture
def connection(filled: Build) -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(filled.warehouse, read_only=True) as connection:
        yield connection


def columns(connection: duckdb.DuckDBPyConnection, schema: str) -> list[tuple[str, str]]:
    return connection.execute(
        "select table_name, column_name from duckdb_columns()"
        " where schema_name = $schema and data_type = 'VARCHAR' and not ends_with(column_name, 'id')",
        {"schema": schema},
    ).fetchall()


def words(connection: duckdb.DuckDBPyConnection, table: str, column: str) -> set[str]:
    """Return the different values of a column, in lower case and without the phrases of vetl."""
    rows = connection.execute(f"select distinct lower({column}) from {table} where {column} <> ''").fetchall()
    return {word.removeprefix(next(filter(word.startswith, PHRASES), "")) for (word,) in rows}


def test_a_column_that_may_be_masked_holds_words_of_the_source_only(connection: duckdb.DuckDBPyConnection) -> None:
    source = set[str]().union(*(words(connection, f"raw.{name}", one) for name, one in columns(connection, "raw")))
    own = {
        f"{mart}.{column}": held
        for mart, column in columns(connection, "marts")
        if has_source_words(mart, column)
        and (held := words(connection, f"marts.{mart}", column) - source - COMMON_WORDS - {*BOOKING_STAGES})
    }

    assert own == {}


def test_a_column_that_is_never_masked_holds_no_word_of_the_source(connection: duckdb.DuckDBPyConnection) -> None:
    marts = columns(connection, "marts")
    of_source = [name for _, name in marts if has_source_words("", name)]
    source = set[str]().union(
        *(words(connection, f"raw.{name}", one) for name, one in columns(connection, "raw") if one in of_source)
    )
    shown = {
        f"{mart}.{column}": held
        for mart, column in marts
        if mart not in NOT_OF_ROWS and column not in PERSONAL[mart] and not has_source_words(mart, column)
        if (held := words(connection, f"marts.{mart}", column) & source - CONTRACT - COMMON_WORDS)
    }

    assert len(source - CONTRACT - COMMON_WORDS) > 5
    assert shown == {}
    assert set(marts) >= OWN_WORDS
