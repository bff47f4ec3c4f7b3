"""Names and numbers on the work list, if `contacts.duckdb` is beside the published file and may be read."""

from pathlib import Path

import duckdb
import pytest
from support.dashboard_pages import Copied, Open

LOOK_UP = "look the client id up"


@pytest.fixture
def file(copied: Copied) -> Path:
    return copied()


def write_contacts(published: Path) -> None:
    """Write the file as `[warehouse] contacts` does: here everybody on the list but one is known."""
    with duckdb.connect(published.with_name("contacts.duckdb")) as connection:
        connection.execute(f"""
            attach '{published}' as published (read_only);
            create table leak_list as
            select practice_id, episode_id, 'Name of ' || episode_id as name, '+15550100' as phone_number,
                   null::varchar as email
            from published.marts.leak_list order by episode_id offset 1
        """)


def test_clients_to_call_are_named_if_there_are_contacts(opened: Open, file: Path) -> None:
    without = opened("leaks", file)
    assert "name" not in without.dataframe[0].value
    assert any(LOOK_UP in caption.value for caption in without.caption)

    write_contacts(file)
    page = opened("leaks", file)

    table = page.dataframe[0].value
    assert not page.exception
    assert len(table) == len(without.dataframe[0].value)
    assert list(table["name"].isna()).count(True) == 1
    assert set(table["phone_number"].dropna()) == {"+15550100"}
    assert not any(LOOK_UP in caption.value for caption in page.caption)


@pytest.mark.parametrize("broken", [b"", b"not a database" * 1000])
def test_contacts_that_cannot_be_read_are_not_spoken_of(opened: Open, file: Path, broken: bytes) -> None:
    file.with_name("contacts.duckdb").write_bytes(broken)
    page = opened("leaks", file)

    assert not page.exception
    assert not page.error
    assert "name" not in page.dataframe[0].value
    assert any(LOOK_UP in caption.value for caption in page.caption)
