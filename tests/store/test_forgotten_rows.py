"""Rows of a forgotten client that the platform sends again match the stored rows, under the pseudonym."""

import json
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from support import forgotten_client as client
from support.warehouse_with_rows import Filled, call_line, call_record
from vetl.core.steps import ReferencedIds
from vetl.forgetting.job import rewrite
from vetl.store.forgotten import forget
from vetl.store.person import look_up

NEXT_DAY = date(2025, 5, 2)
SHE = {"client_name": client.NAME, "phone_number": client.PHONE}
KEYS = {
    "phone_calls": "call_date, call_key",
    "message_events": "message_id, status",
    "outreach_events": "request_id",
    "service_reminder_events": "id, content_hash",
}


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Provide the file of a warehouse that has everything of the platform, and has forgotten her."""
    filled = Filled(tmp_path_factory.mktemp("forgotten") / "vetl.duckdb")
    client.send_everything(filled)
    client.forget(filled)
    filled.warehouse.close()
    return filled.path.read_bytes()


@pytest.fixture
def forgotten(content: bytes, tmp_path: Path) -> Iterator[Filled]:
    path = tmp_path / "vetl.duckdb"
    path.write_bytes(content)
    filled = Filled(path)
    yield filled
    filled.warehouse.close()


def pseudonym(filled: Filled) -> str:
    return filled.rows("select pseudonym from control.forgotten")[0][0]


def tables(filled: Filled, schema: str = "raw") -> list[str]:
    found = filled.rows(f"select table_name from duckdb_tables() where schema_name = '{schema}'")
    return [name for (name,) in found]


def contents(filled: Filled) -> dict[str, list[tuple[Any, ...]]]:
    return {
        f"{schema}.{name}": filled.rows(f"from {schema}.{name} order by all")
        for schema in ("raw", "history")
        for name in tables(filled, schema)
    }


def repeated(filled: Filled) -> dict[str, int]:
    """Return the number of duplicate keys by table."""
    twice = "select 1 from raw.{} group by practice_id, {} having count(*) > 1"
    counts = {name: len(filled.rows(twice.format(name, KEYS.get(name, "id")))) for name in tables(filled)}
    return {name: count for name, count in counts.items() if count}


def in_clear(filled: Filled) -> list[str]:
    """Return the client's values that are in the file; it is closed and rewritten first."""
    filled.warehouse.close()
    rewrite(filled.path)
    content = filled.path.read_bytes()
    return [text for text in (*client.TOLD, "her knee") if text.encode() in content]


def test_rows_that_are_sent_again_change_nothing(forgotten: Filled) -> None:
    before = contents(forgotten)

    changes = client.send_everything(forgotten)

    assert (changes.inserted, changes.updated, changes.deleted, changes.restated) == (0, 0, 0, 0)
    assert contents(forgotten) == before
    assert repeated(forgotten) == {}
    assert in_clear(forgotten) == []


def test_new_rows_get_the_same_pseudonyms(forgotten: Filled) -> None:
    name = pseudonym(forgotten)
    [(fake,)] = forgotten.rows("select phone from raw.clients where id <> 'max-id'")

    forgotten.merge(
        "staff_tasks",
        {"id": "t9", "title": f"{client.NAME} again", "client_id": client.ID},
        {"id": "t10", "title": "ask Doe-Smith, Jane, 212.555.0199".replace("oe-S", "œ-S"), "client_id": "max-id"},
    )
    forgotten.replace_days(call_line("2025-05-02 09:00", **SHE), first=NEXT_DAY, last=NEXT_DAY)

    assert forgotten.rows(
        "select id, client_id, title from raw.staff_tasks where id in ('t9', 't10') order by id"
    ) == [("t10", "max-id", f"ask forgotten, {fake}"), ("t9", name, None)]
    assert forgotten.rows(
        "select phone_number, client_name, summary from raw.phone_calls where call_date = '2025-05-02'"
    ) == [(fake, None, None)]
    assert in_clear(forgotten) == []


def test_a_row_with_her_number_that_names_another_client_keeps_its_words(forgotten: Filled) -> None:
    [(fake,)] = forgotten.rows("select phone from raw.clients where id <> 'max-id'")
    request = {"status": "completed", "contact_number": client.PHONE, "context": "the cat"}
    forgotten.merge("ai_outbound", {"id": "o8", "client_id": "max-id", **request}, {"id": "o9", **request})

    assert forgotten.rows(
        "select id, contact_number, context from raw.ai_outbound_requests where id in ('o8', 'o9') order by id"
    ) == [("o8", fake, "the cat"), ("o9", fake, None)]


def test_an_id_of_two_digits_is_replaced_in_fields_of_json_alone(filled: Filled) -> None:
    """In a text such a number may mean anything."""
    filled.merge("clients", {"id": "77", "name": client.NAME})
    forget(filled.warehouse, look_up(filled.warehouse, "p1", "77"))
    filled.merge("staff_tasks", {"id": "t9", "title": "room 77", "about": {"client_id": "77", "room": "77"}})

    [(title, about)] = filled.rows("select title, _extra -> 'about' from raw.staff_tasks where id = 't9'")
    assert title == "room 77"
    assert json.loads(about) == {"client_id": pseudonym(filled), "room": "77"}


def test_a_quarantined_row_that_names_her_by_an_id_of_two_digits_alone_is_emptied(filled: Filled) -> None:
    filled.merge("clients", {"id": "77", "name": client.NAME})
    filled.merge("staff_tasks", {"id": "bad", "created_at": "nonsense", "title": "her knee", "client_id": "77"})

    forget(filled.warehouse, look_up(filled.warehouse, "p1", "77"))

    assert filled.rows("select payload from control.quarantine") == [('{"forgotten": true}',)]


def test_a_call_that_turns_out_to_be_hers_loses_its_words(forgotten: Filled) -> None:
    """The CSV names no client, and the number is withheld: only the JSON record identifies the client."""
    name = pseudonym(forgotten)
    shown = {"client_name": "", "phone_number": "", "summary": "the bad knee"}
    line = call_line("2025-05-02 09:00", **shown)
    record = call_record("call-9", "2025-05-02T13:00:10Z", client_id=client.ID, **shown)

    for _ in range(2):  # the same row once more changes nothing
        forgotten.replace_days(line, first=NEXT_DAY, last=NEXT_DAY)
        forgotten.attach(record, first=NEXT_DAY, last=NEXT_DAY)
        assert forgotten.rows(
            "select id, client_id, summary from raw.phone_calls where call_date = '2025-05-02'"
        ) == [("call-9", name, None)]
    assert forgotten.rows("select count(*) from history.phone_calls where call_date = '2025-05-02'") == [(0,)]


def test_a_change_of_a_call_of_hers_is_one_row_and_no_words(filled: Filled) -> None:
    filled.replace_days(call_line(**SHE, state="In progress"))
    filled.attach(call_record("call-1", client_id=client.ID, **SHE, state="in_progress"))
    client.forget(filled)

    filled.replace_days(call_line(**SHE, summary=f"{client.NAME} came"))

    assert filled.rows("select id, state, client_name, summary, _deleted_at from raw.phone_calls") == [
        ("call-1", "completed", None, None, None)
    ]
    assert filled.rows("select state, client_name from history.phone_calls") == [("in_progress", None)]


def test_bad_rows_of_hers_are_quarantined_without_their_bytes(forgotten: Filled) -> None:
    forgotten.merge("staff_tasks", {"id": "bad", "created_at": "nonsense", "title": f"for {client.NAME.upper()}"})
    forgotten.merge("staff_tasks", {"id": "bad-too", "created_at": "nonsense", "title": "for Max"})

    rows = dict(forgotten.rows("select row_key, payload from control.quarantine where row_key like 'bad%'"))
    assert rows["bad"] == '{"forgotten": true}'
    assert json.loads(rows["bad-too"])["title"] == "for Max"


def test_the_platform_is_never_asked_for_her(forgotten: Filled) -> None:
    client.send_everything(forgotten)

    asked = forgotten.answer("clients", ReferencedIds(forgotten.now + timedelta(days=9_999), 100))

    assert [identity for identity in asked if identity.startswith("forgotten") or identity == client.ID] == []


def test_forgetting_twice_is_forgetting_once(forgotten: Filled) -> None:
    first = pseudonym(forgotten)
    before = contents(forgotten)

    assert client.forget(forgotten) == first
    assert contents(forgotten) == before
    assert forgotten.rows("select count(*) from control.forgotten") == [(1,)]


def test_the_stored_digests_cannot_be_read(forgotten: Filled) -> None:
    kept = str([forgotten.rows(f"from control.forgotten_{what}") for what in ("values", "keys")])
    assert [text for text in client.TOLD if text in kept] == []


def test_a_pet_with_the_same_id_keeps_it(filled: Filled) -> None:
    """Platforms count clients and pets separately, so both may have the number 10000001."""
    filled.merge("clients", {"id": "10000001", "name": client.NAME, "phone": client.PHONE})
    filled.merge("patients", {"id": "10000001", "name": "Rex", "client_id": "max-id"})
    filled.merge("staff_tasks", {"id": "t1", "client_id": "max-id", "patient_id": "10000001"})

    forget(filled.warehouse, look_up(filled.warehouse, "p1", "10000001"))

    assert filled.rows("select id, name from raw.patients") == [("10000001", "Rex")]
    assert filled.rows("select patient_id from raw.staff_tasks") == [("10000001",)]
    assert filled.rows("select id from control.mentions where endpoint = 'patients'") == []
