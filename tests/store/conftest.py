from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from support.warehouse_with_rows import Filled


@pytest.fixture
def filled(tmp_path: Path) -> Iterator[Filled]:
    """A new warehouse with one practice."""
    opened = Filled(tmp_path / "vetl.duckdb")
    yield opened
    opened.warehouse.close()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Filled]:
    """Provide one warehouse for all examples of a property; each example takes `another_practice`."""
    opened = Filled(tmp_path_factory.mktemp("shared") / "vetl.duckdb")
    yield opened
    opened.warehouse.close()


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "analytics.duckdb"


@pytest.fixture
def private(tmp_path: Path) -> Path:
    """Provide a private file with marts of three clients, two calls and three unbooked requests."""
    path = tmp_path / "vetl.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("""
            create schema control;
            create table control.phone_numbers as select 'p' as practice_id, * from (values
                ('+12125550100', '+12125550100'), ('(212) 555-0111', '+12125550111'), ('+266696687', null),
                ('+99912345678901', '+99912345678901')
            ) as rows (spelling, e164);
            create schema marts;
            create table marts.clients as select * from (values
                ('p', 'c1', 'Jane Doe', '+12125550100', 'jane@example.com'), ('p', 'c2', null, '+266696687', null),
                ('p', 'c3', null, '+99912345678901', null)
            ) as rows (practice_id, client_id, name, phone, email);
            create table marts.phone_calls as select * from (values
                ('p', 'k1', 'c1', 'Jane Doe', '+12125550100', null),
                ('p', 'k2', null, 'Max', '(212) 555-0111', 'Rex')
            ) as rows (practice_id, call_key, client_id, client_name, phone_number, patient_name);
            create table marts.call_back_list as select * from (values
                ('p', 'e1', 'c1', 'online', 's1', null), ('p', 'e2', null, 'call', 'k2', '+12125550111'),
                ('p', 'e3', null, 'online', 's2', null)
            ) as rows (practice_id, episode_id, client_id, last_contact_kind, last_contact_id, phone_number);
        """)
    return path
