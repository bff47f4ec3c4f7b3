"""A forgotten client in the private file: rows under pseudonyms that still join, and no bytes of the client."""

import json
from pathlib import Path

import pytest
from support import forgotten_client as client
from support.warehouse_with_rows import DAY, HARBOR, Filled, ask, by_table, call_line
from vetl.forgetting.job import rewrite
from vetl.forgetting.search import elsewhere
from vetl.settings.core_sections import WarehouseSettings
from vetl.store import forgotten
from vetl.store.forgotten import forget
from vetl.store.person import look_up
from vetl.store.pseudonyms import GONE


@pytest.fixture
def filled(tmp_path: Path) -> Filled:
    """Provide a warehouse with everything of the platform, and an earlier version of the client."""
    filled = Filled(tmp_path / "vetl.duckdb")
    filled.merge("clients", {"id": client.ID, "name": "Jane Old"})
    client.send_everything(filled)
    return filled


def test_no_byte_of_a_person_is_left_and_every_row_is(filled: Filled) -> None:
    filled.warehouse.close()
    before = by_table(filled.path, "raw", "history")
    assert all(text.encode() in filled.path.read_bytes() for text in client.VALUES)

    with Filled(filled.path).warehouse as warehouse:
        person = look_up(warehouse, "p1", client.ID)
        forgotten = forget(warehouse, person)
    rewrite(filled.path)

    content = filled.path.read_bytes()
    assert [text for text in (*client.TOLD, "Rex of Jane", "knee") if text.encode() in content] == []
    assert by_table(filled.path, "raw", "history") == before
    assert set(client.VALUES) <= person.ids | person.names | person.phones | person.emails
    name = forgotten.pseudonym
    assert ask(
        filled.path, "select id, name, json_array_length(patients) from raw.clients order by id = 'max-id'"
    ) == [(name, None, 1), ("max-id", "Max", None)]
    assert ask(filled.path, "select distinct id from history.clients") == [(name,)]
    assert ask(filled.path, "select client_id, name from raw.patients") == [(name, None)]
    ((fake,),) = ask(filled.path, "select phone from raw.clients where id <> 'max-id'")
    assert fake.startswith("+999")
    assert ask(
        filled.path, "select phone_number, client_name, summary from raw.phone_calls order by called_at_local"
    ) == [
        (fake, None, None),
        ("+12125550100", "Max Ray", f"knows forgotten ({fake})"),
        (fake, None, None),
        (None, None, None),
    ]
    (title,) = ask(filled.path, "select title from raw.staff_tasks where id = 't2'")[0]
    assert title.startswith("ask max-id about forgotten, forgotten-")
    assert ask(filled.path, "select client_phone from raw.appointments where id = 'a1'") == [(fake,)]
    assert ask(filled.path, "select payload from control.quarantine") == [('{"forgotten": true}',)]
    assert ask(filled.path, "select pseudonym, rows from control.forgotten") == [
        (name, sum(forgotten.rows.values()))
    ]


def test_quarantined_rows_of_others_keep_their_bytes(filled: Filled) -> None:
    """A delivery that names no practice is about the people in its words; two such deliveries may share a key."""
    rows = [
        (practice, key, f"about {whom}", json.dumps({"name": whom}))
        for practice, key in (("p1", "a"), ("p1", "a"), ("", "b"), ("", "b"))
        for whom in (client.NAME, "Max Ray")
    ]
    with filled.warehouse.writing() as connection:
        connection.execute("delete from control.quarantine")
        connection.executemany(
            "insert into control.quarantine (practice_id, endpoint, row_key, reason, payload, run_id, first_seen,"
            " last_seen) values (?, 'staff_tasks', ?, ?, ?, 'run', now(), now())",
            rows,
        )
    client.forget(filled)
    filled.warehouse.close()

    kept = ask(filled.path, "select reason, payload from control.quarantine where payload like '%Max Ray%'")
    assert sorted(kept) == sorted((reason, payload) for _, _, reason, payload in rows if "Max Ray" in payload)
    assert ask(filled.path, "select count(*) from control.quarantine where payload = ?", GONE) == [(4,)]


def test_all_batches_of_rows_are_swept(filled: Filled, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forgotten, "_ROWS_AT_ONCE", 1)
    client.forget(filled)
    filled.warehouse.close()

    assert ask(filled.path, "select title from raw.staff_tasks where title like ?", f"%{client.NAME}%") == []
    assert ask(filled.path, "select count(*) from raw.phone_calls where phone_number = ?", client.PHONE) == [(0,)]


def test_a_number_without_a_country_is_read_by_the_configured_region(tmp_path: Path) -> None:
    filled = Filled(tmp_path / "vetl.duckdb")
    filled.merge("clients", {"id": client.ID, "phone": "0161 496 0000"})
    filled.merge("staff_tasks", {"id": "t1", "title": "call +44 161 496 0000 back"})
    with filled.warehouse.writing() as connection:
        connection.execute("insert into control.phone_regions values ('p1', 'GB')")
    client.forget(filled)
    filled.warehouse.close()

    ((title,),) = ask(filled.path, "select title from raw.staff_tasks")
    assert "161 496" not in title


def test_a_client_of_another_practice_with_the_same_id_stays(filled: Filled) -> None:
    filled.another_practice()
    filled.merge("clients", {"id": client.ID, "name": client.NAME, "phone": client.PHONE})
    filled.replace_days(call_line(client_name=client.NAME, phone_number=client.PHONE), first=DAY, last=DAY)

    filled.practice = HARBOR
    client.forget(filled)
    filled.warehouse.close()

    assert ask(filled.path, "select id, name, phone from raw.clients where practice_id = 'p2'") == [
        (client.ID, client.NAME, client.PHONE)
    ]
    assert ask(filled.path, "select client_name, phone_number from raw.phone_calls where practice_id = 'p2'") == [
        (client.NAME, client.PHONE)
    ]


@pytest.mark.parametrize("spelling", [client.PHONE, "(212) 555-0199"])
def test_a_number_that_another_client_has_too_stays_that_ones(tmp_path: Path, spelling: str) -> None:
    filled = Filled(tmp_path / "vetl.duckdb")
    filled.merge("clients", {"id": client.ID, "phone": spelling})
    filled.merge("clients", {"id": "max-id", "phone": client.PHONE})

    client.forget(filled)
    filled.warehouse.close()

    assert ask(filled.path, "select phone from raw.clients where id = 'max-id'") == [(client.PHONE,)]


def test_a_withheld_number_is_nobodys(tmp_path: Path) -> None:
    filled = Filled(tmp_path / "vetl.duckdb")
    filled.merge("clients", {"id": client.ID, "phone": "+266696687"})

    assert "+266696687" not in look_up(filled.warehouse, "p1", client.ID).phones


def test_a_number_without_area_code_is_not_that_of_another_area(tmp_path: Path) -> None:
    filled = Filled(tmp_path / "vetl.duckdb")
    filled.merge("clients", {"id": client.ID, "phone": "555-0199"})
    filled.merge("clients", {"id": "max-id", "phone": client.PHONE})

    assert look_up(filled.warehouse, "p1", client.ID).phones == {"555-0199"}


def test_the_name_of_a_pet_is_not_a_name_of_its_client(filled: Filled) -> None:
    """Pets of other clients have the same name; the text of their rows stays."""
    assert "Rex of Jane" not in look_up(filled.warehouse, "p1", client.ID).names


def test_a_name_that_another_practice_has_in_json_is_found_there(filled: Filled) -> None:
    """JSON writes the quotation marks of the name with backslashes."""
    name = 'Jane "The Tank" Doe'
    filled.merge("clients", {"id": client.ID, "name": name})
    person = look_up(filled.warehouse, "p1", client.ID)
    filled.another_practice()
    filled.merge("clients", {"id": "other-id", "name": "Max", "patients": [{"id": "pet-2", "name": name}]})
    filled.warehouse.close()

    assert name in person.names
    place = WarehouseSettings(path=filled.path, lock_wait_seconds=0)
    assert elsewhere(place, person, {name, client.MAIL}) == {name}
