"""A forgotten client in the private file: rows under pseudonyms that still join, and no bytes of the client."""

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest
from support.warehouse_with_rows import DAY, Filled, call_line, call_record

from pipelines.loading.compact import rewrite
from pipelines.loading.residue import elsewhere

JANE, JANES_PHONE, JANES_MAIL = "Jané Dœ-Smith", "+12125550199", "jane.doe@example.com"
JANES_ID, HER_REMOTE = "7f3c2a10-jane", "remote-4471"
TOLD = (JANE, JANES_PHONE, JANES_MAIL, JANES_ID, HER_REMOTE, json.dumps(JANE)[1:-1])


@pytest.fixture
def filled(tmp_path: Path) -> Filled:
    """Provide Jane in calls, tasks, clients, pets, appointments, history, quarantine, and Max, who names her."""
    filled = Filled(tmp_path / "vetl.duckdb")
    jane: dict[str, Any] = {"id": JANES_ID, "name": JANE, "email": JANES_MAIL, "phone": JANES_PHONE}
    filled.replace_days(
        call_line(client_name=JANE, phone_number=JANES_PHONE, summary=f"{JANE} wants to come"),
        call_line("2025-05-01 11:00", client_name="Max Ray", summary=f"knows {JANE} ({JANES_PHONE})"),
        call_line("2025-05-01 12:00", client_name="", phone_number=JANES_PHONE),
    )
    who: dict[str, Any] = {"client_id": JANES_ID, "remote_client_id": HER_REMOTE, "client_name": JANE}
    filled.attach(call_record("call-1", **who, phone_number=JANES_PHONE, summary=f"{JANE} wants to come"))
    filled.merge("clients", {**jane, "name": "Jane Old", "patients": [{"id": "pet-1", "name": "Rex"}]})
    filled.merge(
        "clients", {**jane, "patients": [{"id": "pet-1", "name": "Rex"}]}, {"id": "max-id", "name": "Max"}
    )
    filled.merge("patients", {"id": "pet-1", "name": "Rex of Jane", "client_id": JANES_ID})
    filled.merge(
        "staff_tasks",
        {"id": "t1", "title": f"call {JANE}", "description": "knee", "client_id": JANES_ID, "odd": JANES_MAIL},
        {"id": "t2", "title": f"ask max-id about {JANE}, {JANES_MAIL}", "client_id": "max-id"},
    )
    filled.merge("appointments", {"id": "a1", "remote_client_id": HER_REMOTE, "client_phone": JANES_PHONE})
    filled.merge("staff_tasks", {"id": "t3", "created_at": "nonsense", "title": JANE, "client_id": JANES_ID})
    return filled


def ask(filled: Filled, sql: str) -> list[tuple[Any, ...]]:
    with duckdb.connect(str(filled.path), read_only=True) as connection:
        return connection.execute(sql).fetchall()


def forget(filled: Filled) -> None:
    filled.warehouse.people.forget(filled.warehouse.people.look_up("p1", JANES_ID))


def counts(filled: Filled) -> dict[str, int]:
    tables = ask(
        filled, "select schema_name || '.' || table_name from duckdb_tables() where schema_name <> 'control'"
    )
    return {name: ask(filled, f"select count(*) from {name}")[0][0] for (name,) in tables}


def test_no_byte_of_a_person_is_left_and_every_row_is(filled: Filled) -> None:
    filled.warehouse.close()
    before = counts(filled)
    assert all(text.encode() in filled.path.read_bytes() for text in TOLD[:5])

    with Filled(filled.path).warehouse as warehouse:
        person = warehouse.people.look_up("p1", JANES_ID)
        forgotten = warehouse.people.forget(person)
    rewrite(filled.path)

    content = filled.path.read_bytes()
    assert [text for text in (*TOLD, "Rex of Jane", "knee") if text.encode() in content] == []
    assert counts(filled) == before
    assert set(TOLD[:5]) <= person.ids | person.names | person.phones | person.emails
    name = forgotten.pseudonym
    assert ask(filled, "select id, name, json_array_length(patients) from raw.clients order by id = 'max-id'") == [
        (name, None, 1),
        ("max-id", "Max", None),
    ]
    assert ask(filled, "select distinct id from history.clients") == [(name,)]
    assert ask(filled, "select client_id, name from raw.patients") == [(name, None)]
    ((fake,),) = ask(filled, "select phone from raw.clients where id <> 'max-id'")
    assert fake.startswith("+999")
    assert ask(
        filled, "select phone_number, client_name, summary from raw.phone_calls order by called_at_local"
    ) == [
        (fake, None, None),
        ("+12125550100", "Max Ray", f"knows forgotten ({fake})"),
        (fake, None, None),
    ]
    (title,) = ask(filled, "select title from raw.staff_tasks where id = 't2'")[0]
    assert title.startswith("ask max-id about forgotten, forgotten-")
    assert ask(filled, "select client_phone from raw.appointments") == [(fake,)]
    assert ask(filled, "select payload from control.quarantine") == [('{"forgotten": true}',)]
    assert ask(filled, "select pseudonym, rows from control.forgotten") == [(name, sum(forgotten.rows.values()))]


def test_a_row_that_is_merged_again_unchanged_makes_no_version(filled: Filled) -> None:
    """`_row_hash` is computed from the row with pseudonyms, so an equal row makes no version."""
    forget(filled)

    assert filled.merge("clients", {"id": "max-id", "name": "Max"}).updated == 0


def test_a_client_of_another_practice_with_the_same_id_stays(filled: Filled) -> None:
    filled.another_practice()
    filled.merge("clients", {"id": JANES_ID, "name": JANE, "phone": JANES_PHONE})
    filled.replace_days(call_line(client_name=JANE, phone_number=JANES_PHONE), first=DAY, last=DAY)

    forget(filled)
    filled.warehouse.close()

    assert ask(filled, "select id, name, phone from raw.clients where practice_id = 'p2'") == [
        (JANES_ID, JANE, JANES_PHONE)
    ]
    assert ask(filled, "select client_name, phone_number from raw.phone_calls where practice_id = 'p2'") == [
        (JANE, JANES_PHONE)
    ]


def test_a_number_that_another_client_has_too_stays_that_ones(filled: Filled) -> None:
    filled.merge("clients", {"id": "max-id", "name": "Max", "phone": JANES_PHONE})

    forget(filled)
    filled.warehouse.close()

    assert ask(filled, "select phone from raw.clients where id = 'max-id'") == [(JANES_PHONE,)]


def test_the_name_of_a_pet_is_not_a_name_of_its_client(filled: Filled) -> None:
    """Pets of other clients have the same name; the text of their rows stays."""
    assert "Rex of Jane" not in filled.warehouse.people.look_up("p1", JANES_ID).names


def test_a_name_that_another_practice_has_in_json_is_found_there(filled: Filled) -> None:
    """JSON writes the quotation marks of the name with backslashes."""
    name = 'Jane "The Tank" Doe'
    filled.merge("clients", {"id": JANES_ID, "name": name})
    person = filled.warehouse.people.look_up("p1", JANES_ID)
    filled.another_practice()
    filled.merge("clients", {"id": "other-id", "name": "Max", "patients": [{"id": "pet-2", "name": name}]})
    filled.warehouse.close()

    assert name in person.names
    assert elsewhere(filled.path, person, {name, JANES_MAIL}, lock_wait_seconds=0) == {name}
