"""A reader of some practices is kept to them: by views over a file without a name that can be guessed."""

from pathlib import Path

import duckdb
import pytest
from vetl.publishing.opened import opened_for


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "analytics.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("""
            create schema marts; create schema meta;
            create table marts.practice_daily as select unnest(['p', 'q']) as practice_id;
            create table meta.digests as from (values
                ('p', 'calls'), ('q', 'calls'), (null, 'metrics'), (null, 'own')
            ) as rows (practice_id, mart);
            create table meta.metrics as select 'calls' as metric;
            create table marts.own as select 'of an analyst' as text;
        """)
    return path


def test_a_reader_sees_the_rows_of_their_practices_and_the_definitions(file: Path) -> None:
    with opened_for(file, ["p"]) as connection:
        assert connection.execute("from marts.practice_daily").fetchall() == [("p",)]
        assert connection.execute("from meta.metrics").fetchall() == [("calls",)]
        assert connection.execute("from meta.digests order by all").fetchall() == [("p", "calls")]
        with pytest.raises(duckdb.CatalogException):
            connection.execute("from marts.own")


@pytest.mark.parametrize("name", ["published", "analytics", "source"])
def test_no_name_of_the_file_leads_past_the_wall(file: Path, name: str) -> None:
    with opened_for(file, ["p"]) as connection, pytest.raises(duckdb.Error):
        connection.execute(f"from {name}.marts.practice_daily")


def test_a_reader_of_no_practice_sees_no_row(file: Path) -> None:
    with opened_for(file, []) as connection:
        assert connection.execute("from marts.practice_daily").fetchall() == []
