"""The control interface and the handle: clock, switches, faults, writes, truth, requests."""

import json
from datetime import datetime, timedelta
from typing import Any

import pytest
from support.partner_side import Partner, Row, at_fault


def control(partner: Partner, path: str, body: Row | None = None, method: str | None = None) -> Any:
    answer = partner.http.request(method or ("GET" if body is None else "POST"), f"/_control/{path}", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()["data"]


def test_the_clock_is_read_and_moved(partner: Partner) -> None:
    before = datetime.fromisoformat(control(partner, "clock")["now"])
    after = datetime.fromisoformat(control(partner, "clock", {"advance_seconds": 90})["now"])
    assert after - before == timedelta(seconds=90)
    assert partner.platform.now() == after


def test_switches_are_read_changed_and_reset(partner: Partner) -> None:
    assert control(partner, "switches")["staff_tasks"]["page_base"] == 0
    assert control(partner, "switches", {"staff_tasks": {"page_base": 1}})["staff_tasks"]["page_base"] == 1
    assert partner.page("staff_tasks")["page"] == 1
    assert control(partner, "switches", method="DELETE")["staff_tasks"]["page_base"] == 0


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("clock", {"advance_seconds": -1}, 400),
        ("switches", {"page_bass": 1}, 400),
        ("faults", {"preset": "quiet"}, 400),
        ("faults", {"rules": [{"kind": "earthquake"}]}, 400),
        ("faults", {}, 400),
        ("mutate", {"practice_id": "loc-001", "list": "staff_tasks", "update": {"task_0": {}}}, 404),
        ("mutate", {"practice_id": "loc-001", "list": "staff_tasks", "delete": ["task_0"]}, 404),
    ],
)
def test_a_senseless_order_is_refused(partner: Partner, path: str, body: Row, status: int) -> None:
    assert partner.http.post(f"/_control/{path}", json=body).status_code == status


def test_faults_are_set_counted_and_taken_away(partner: Partner) -> None:
    control(partner, "faults", {"rules": [{"kind": "status", "status": 502}], "seed": 3})
    assert partner.get("staff_tasks").status_code == 502
    assert control(partner, "faults")["hits"] == {"status": 1}
    control(partner, "faults", method="DELETE")
    assert partner.get("staff_tasks").status_code == 200


def test_the_truth_is_a_record_a_line(partner: Partner) -> None:
    answer = partner.http.get("/_control/truth", params={"practice_id": "loc-002", "list": "patients"})
    assert [json.loads(line) for line in answer.text.splitlines()] == partner.platform.truth("loc-002", "patients")
    nothing = partner.http.get("/_control/truth", params={"practice_id": "x", "list": "y"})
    assert at_fault(nothing) == ["practice_id", "list"]


def test_rows_are_inserted_updated_and_deleted(partner: Partner) -> None:
    """Other fields stay; clients must survive unknown fields, unknown values and wrong types."""
    before = partner.truth("staff_tasks")
    first, second = (row["id"] for row in before[:2])
    odd = {"status": "SNOOZED", "colour": "red", "finalized_at": "yesterday", "cancellation_allowed": "maybe"}
    done = control(
        partner,
        "mutate",
        {
            "practice_id": "loc-001",
            "list": "staff_tasks",
            "insert": [odd],
            "update": {first: {"title": "Changed"}},
            "delete": [second],
        },
    )
    read = {row["id"]: row for row in partner.everything("staff_tasks")}
    assert odd.items() <= read[done["inserted"][0]].items()
    assert read[first] == before[0] | {"title": "Changed", "updated_at": read[first]["updated_at"]}
    assert second not in read
    assert len(read) == len(before)


@pytest.mark.parametrize(
    ("writes", "field"),
    [
        ({"insert": [{"status": 5}]}, "status"),
        ({"update": {"known": {"status": {"is": "pending"}}}}, "status"),
        ({"insert": {"status": "pending"}}, "insert"),
        ({"update": {"known": 5}}, "update.known"),
        ({"delete": [5]}, "delete.0"),
    ],
)
def test_a_write_that_breaks_a_list_is_refused_and_changes_nothing(
    partner: Partner, writes: Row, field: str
) -> None:
    before = partner.truth("staff_tasks")
    identity = before[0]["id"]
    body = json.loads(json.dumps(writes).replace("known", identity))
    answer = partner.http.post("/_control/mutate", json=body | {"practice_id": "loc-001", "list": "staff_tasks"})
    assert at_fault(answer) == [field.replace("known", identity)]
    assert partner.everything("staff_tasks")
    assert partner.truth("staff_tasks") == before


def test_a_written_row_is_got_by_its_id(partner: Partner) -> None:
    row_id = partner.platform.insert("loc-001", "clients", {"name": "Ada", "phone": "+15550100"})
    assert partner.page(f"clients/{row_id}")["name"] == "Ada"
    assert [client["id"] for client in partner.page("clients", phone="+15550100")] == [row_id]
    pet = partner.platform.insert("loc-001", "patients", {"name": "Byte", "client_id": row_id})
    assert [patient["id"] for patient in partner.page("patients", client_id=row_id)] == [pet]


def test_requests_are_counted_by_path(partner: Partner) -> None:
    partner.platform.requests.clear()
    for page in range(3):
        partner.get("staff_tasks", page=page)
    partner.get("phone_calls")
    assert control(partner, "requests")["total"] == 4
    assert partner.platform.requests.count("staff_tasks") == 3
    assert partner.platform.requests.log[-1].practice_id == "loc-001"
