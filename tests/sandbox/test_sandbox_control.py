"""The control interface and the handle: clock, switches, faults, writes, truth, requests."""

import json
from datetime import datetime, timedelta
from typing import Any

import pytest
from support.partner_side import Partner, Row, at_fault

from sandbox import Handle
from sandbox.table import NoSuchRowError

ALL = {"start_date": "2025-01-01"}


def control(partner: Partner, path: str, body: Row | None = None, method: str | None = None) -> Any:
    answer = partner.http.request(method or ("GET" if body is None else "POST"), f"/_control/{path}", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()["data"]


def test_the_clock_is_read_and_moved(partner: Partner) -> None:
    before = datetime.fromisoformat(control(partner, "clock")["now"])
    after = datetime.fromisoformat(control(partner, "clock", {"advance_seconds": 90})["now"])
    assert after - before == timedelta(seconds=90)
    assert partner.platform.now() == after


def test_the_clock_does_not_go_back(partner: Partner) -> None:
    assert partner.http.post("/_control/clock", json={"advance_seconds": -1}).status_code == 400


def test_switches_are_read_changed_and_reset(partner: Partner) -> None:
    assert control(partner, "switches")["staff_tasks"]["page_base"] == 0
    assert control(partner, "switches", {"staff_tasks": {"page_base": 1}})["staff_tasks"]["page_base"] == 1
    assert partner.page("staff_tasks")["page"] == 1
    assert control(partner, "switches", method="DELETE")["staff_tasks"]["page_base"] == 0


def test_an_unknown_switch_is_a_400(partner: Partner) -> None:
    answer = partner.http.post("/_control/switches", json={"page_bass": 1})
    assert answer.status_code == 400
    assert "page_bass" in answer.json()["message"]


def test_faults_are_set_counted_and_taken_away(partner: Partner) -> None:
    control(partner, "faults", {"rules": [{"kind": "status", "status": 502}], "seed": 3})
    assert partner.get("staff_tasks").status_code == 502
    assert control(partner, "faults")["hits"] == {"status": 1}
    control(partner, "faults", method="DELETE")
    assert partner.get("staff_tasks").status_code == 200


def test_a_preset_of_faults_goes_by_its_name(partner: Partner) -> None:
    assert len(control(partner, "faults", {"preset": "flaky"})["rules"]) > 5


@pytest.mark.parametrize("body", [{"preset": "quiet"}, {"rules": [{"kind": "earthquake"}]}, {}])
def test_senseless_faults_are_a_400(partner: Partner, body: dict[str, Any]) -> None:
    assert partner.http.post("/_control/faults", json=body).status_code == 400


@pytest.mark.parametrize(
    "name",
    ["phone_calls", "booking_sessions", "appointments", "ai_outbound", "staff_tasks", "clients", "patients"],
)
def test_the_truth_is_a_record_a_line(partner: Partner, name: str) -> None:
    answer = partner.http.get("/_control/truth", params={"practice_id": "loc-002", "list": name})
    assert [json.loads(line) for line in answer.text.splitlines()] == partner.platform.truth("loc-002", name)


def test_the_truth_of_nothing_is_a_400_with_both_fields(partner: Partner) -> None:
    answer = partner.http.get("/_control/truth", params={"practice_id": "x", "list": "y"})
    assert [error["field"] for error in answer.json()["data"]["errors"]] == ["practice_id", "list"]


def test_rows_are_inserted_updated_and_deleted(partner: Partner) -> None:
    first, second = (row["id"] for row in partner.truth("staff_tasks")[:2])
    total = len(partner.truth("staff_tasks"))
    done = control(
        partner,
        "mutate",
        {
            "practice_id": "loc-001",
            "list": "staff_tasks",
            "insert": [{"title": "Feed the cat", "status": "pending"}],
            "update": {first: {"title": "Changed"}},
            "delete": [second],
        },
    )
    read = {row["id"]: row for row in partner.everything("staff_tasks")}
    assert read[done["inserted"][0]]["title"] == "Feed the cat"
    assert read[first]["title"] == "Changed"
    assert second not in read
    assert len(read) == total


@pytest.mark.parametrize("part", [{"update": {"task_0": {}}}, {"delete": ["task_0"]}])
def test_a_write_to_a_row_that_is_not_there_is_a_404(partner: Partner, part: dict[str, Any]) -> None:
    body = {"practice_id": "loc-001", "list": "staff_tasks"} | part
    assert partner.http.post("/_control/mutate", json=body).status_code == 404


def test_an_update_changes_only_the_named_fields(partner: Partner) -> None:
    row = partner.truth("appointments")[0]
    partner.platform.update("loc-001", "appointments", row["id"], {"status": "LOST"})
    assert {one["id"]: one for one in partner.truth("appointments")}[row["id"]] == row | {"status": "LOST"}


def test_written_rows_are_returned_unchanged(partner: Partner) -> None:
    """Clients must survive unknown fields, unknown values and wrong types."""
    odd = {"status": "SNOOZED", "colour": "red", "finalized_at": "yesterday", "cancellation_allowed": "maybe"}
    row_id = partner.platform.insert("loc-001", "staff_tasks", odd)
    shown = next(row for row in partner.everything("staff_tasks") if row["id"] == row_id)
    assert {key: shown[key] for key in odd} == odd


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


def test_a_session_that_is_written_with_a_status_keeps_it(partner: Partner) -> None:
    row_id = partner.platform.insert("loc-001", "booking_sessions", {"status": "active"})
    partner.platform.advance(timedelta(days=1))
    assert partner.page(f"booking_sessions/{row_id}")["status"] == "active"


def test_the_handle_says_which_row_is_not_there(platform: Handle) -> None:
    with pytest.raises(NoSuchRowError, match="task_0"):
        platform.delete("loc-001", "staff_tasks", "task_0")


def test_requests_are_counted_by_path(partner: Partner) -> None:
    partner.platform.requests.clear()
    for page in range(3):
        partner.get("staff_tasks", page=page)
    partner.get("phone_calls")
    assert control(partner, "requests")["total"] == 4
    assert partner.platform.requests.count("staff_tasks") == 3
    assert partner.platform.requests.log[-1].practice_id == "loc-001"
