"""Contract: Create an appointment; Staff tasks, create, update and delete; AI outbound, creation."""

from datetime import timedelta
from typing import Any

import httpx
import pytest
from support.partner_side import ROOT, Partner, Row


def post(partner: Partner, path: str, body: Row) -> httpx.Response:
    return partner.http.post(f"{ROOT}/{path}", json=body)


def at_fault(answer: httpx.Response) -> list[str | None]:
    assert answer.status_code == 400, answer.text
    return [error["field"] for error in answer.json()["data"]["errors"]]


def new_task(partner: Partner, **fields: Any) -> Row:
    answer = post(partner, "staff_tasks", {"title": "Call back", **fields})
    assert answer.status_code == 201, answer.text
    return answer.json()["data"]


def put(partner: Partner, task: Row, **fields: Any) -> Row:
    partner.platform.advance(timedelta(seconds=1))
    answer = partner.http.put(f"{ROOT}/staff_tasks/{task['id']}", json=fields)
    assert answer.status_code == 200, answer.text
    return answer.json()["data"]


def listed(partner: Partner, task: Row) -> Row:
    return next(row for row in partner.everything("staff_tasks") if row["id"] == task["id"])


def test_a_new_task_is_a_pending_task_and_listed(partner: Partner) -> None:
    task = new_task(partner, reference_time_at="2026-02-01T10:00:00+02:00")
    assert (task["task_type"], task["status"], task["finalized_at"]) == ("task", "pending", None)
    assert task["reference_time_at"] == "2026-02-01T08:00:00.000Z"
    assert listed(partner, task) == task


def test_a_task_can_be_a_refill_for_a_client_and_patient(partner: Partner) -> None:
    client = partner.truth("clients")[0]
    ids = {"client_id": client["id"], "patient_id": client["patients"][0]["id"]}
    task = new_task(partner, task_type="rx_refill", **ids)
    assert task.items() >= {"task_type": "rx_refill", **ids}.items()


@pytest.mark.parametrize(
    ("body", "faults"),
    [
        ({}, ["title"]),
        ({"title": 7}, ["title"]),
        ({"title": "t", "task_type": "chore"}, ["task_type"]),
        ({"title": "t", "client_id": "none", "patient_id": "none"}, ["client_id", "patient_id"]),
        ({"title": "t", "reference_time_at": "soon"}, ["reference_time_at"]),
    ],
)
def test_a_task_that_cannot_be_names_every_field(partner: Partner, body: Row, faults: list[str]) -> None:
    assert at_fault(post(partner, "staff_tasks", body)) == faults


def test_only_given_fields_of_a_task_change(partner: Partner) -> None:
    task = new_task(partner, description="As it was")
    changed = put(partner, task, title="Another")
    assert changed == task | {"title": "Another", "updated_at": changed["updated_at"]}
    assert changed["updated_at"] > task["updated_at"]


@pytest.mark.parametrize("status", ["completed", "canceled"])
def test_a_final_status_sets_finalized_at_and_pending_clears_it(partner: Partner, status: str) -> None:
    task = new_task(partner)
    final = put(partner, task, status=status)
    assert (final["status"], final["finalized_at"]) == (status, final["updated_at"])
    again = put(partner, task, status="pending")
    assert (again["status"], again["finalized_at"]) == ("pending", None)


def test_a_drawn_task_can_be_updated_too(partner: Partner) -> None:
    task = next(row for row in partner.truth("staff_tasks") if row["status"] == "pending")
    assert put(partner, task, status="completed")["finalized_at"]
    assert listed(partner, task)["status"] == "completed"


def test_a_status_that_is_none_is_refused(partner: Partner) -> None:
    task = new_task(partner)
    answer = partner.http.put(f"{ROOT}/staff_tasks/{task['id']}", json={"status": "done"})
    assert at_fault(answer) == ["status"]


def test_a_deleted_task_is_canceled_and_kept(partner: Partner) -> None:
    task = new_task(partner)
    answer = partner.http.delete(f"{ROOT}/staff_tasks/{task['id']}")
    assert (answer.status_code, answer.json()["data"]) == (200, {})
    kept = listed(partner, task)
    assert (kept["status"], kept["finalized_at"]) == ("canceled", kept["updated_at"])


@pytest.mark.parametrize("method", ["PUT", "DELETE"])
def test_a_task_of_another_practice_is_not_found(partner: Partner, method: str) -> None:
    task = new_task(partner)
    answer = partner.http.request(
        method, f"{ROOT}/staff_tasks/{task['id']}", json={}, headers={"X-Client-Id": "loc-002"}
    )
    assert answer.status_code == 404


def booking(partner: Partner, **fields: Any) -> Row:
    """A body for the first client, patient and open time; "-" leaves a field out."""
    client = partner.truth("clients")[0]
    body = {
        "slot_id": partner.page("open_times")[0]["uuid"],
        "client_id": int(client["id"]),
        "patient_id": int(client["patients"][0]["id"]),
        **fields,
    }
    return {name: value for name, value in body.items() if value != "-"}


def test_an_appointment_is_made_in_an_open_time_and_listed(partner: Partner) -> None:
    slot = partner.page("open_times")[0]
    answer = post(partner, "appointments", booking(partner))
    assert answer.status_code == 201, answer.text
    made = answer.json()["data"]
    assert isinstance(made["id"], int)
    assert (made["booking_date"], made["end_date"]) == (slot["start"], slot["end"])
    rows = partner.everything("appointments", start_date=made["updated_at"])
    assert made | {"id": str(made["id"])} in rows


def test_a_slot_is_booked_once(partner: Partner) -> None:
    body = booking(partner)
    assert post(partner, "appointments", body).status_code == 201
    assert at_fault(post(partner, "appointments", body)) == ["slot_id"]
    assert body["slot_id"] not in {slot["uuid"] for slot in partner.page("open_times")}


@pytest.mark.parametrize("status", ["REQUESTED", "ACCEPTED", "CONFIRMED"])
def test_the_status_can_be_given(partner: Partner, status: str) -> None:
    assert post(partner, "appointments", booking(partner, status=status)).json()["data"]["status"] == status


@pytest.mark.parametrize(("auto_accept", "status"), [(True, "ACCEPTED"), (False, "REQUESTED")])
def test_else_the_auto_accept_setting_decides_it(partner: Partner, auto_accept: bool, status: str) -> None:  # noqa: FBT001 - parametrised
    partner.platform.set(auto_accept=auto_accept)
    assert post(partner, "appointments", booking(partner)).json()["data"]["status"] == status


def test_a_client_is_found_by_remote_id(partner: Partner) -> None:
    client = partner.truth("clients")[0]
    body = booking(partner, client_id="-", client_remote_id=client["remote_id"])
    assert post(partner, "appointments", body).status_code == 201


@pytest.mark.parametrize("by", ["phone", "email"])
def test_a_client_is_found_by_name_and_phone_or_email(partner: Partner, by: str) -> None:
    client = next(row for row in partner.truth("clients") if row["email"] and row["name"].count(" ") == 1)
    first, last = client["name"].split()
    names = {"client_id": "-", "first_name": first, "last_name": last, by: client[by]}
    body = booking(partner, **names, patient_id=int(client["patients"][0]["id"]))
    assert post(partner, "appointments", body).status_code == 201


@pytest.mark.parametrize(
    ("fields", "faults"),
    [
        ({"slot_id": "-"}, ["slot_id"]),
        ({"slot_id": "slot_0000000000000000"}, ["slot_id"]),
        ({"client_id": "-"}, [None]),
        ({"client_id": "-", "first_name": "A", "last_name": "B"}, [None]),
        ({"client_id": "17"}, ["client_id"]),
        ({"client_id": 17}, ["client_id"]),
        ({"patient_id": "-"}, [None]),
        ({"patient_id": 17}, ["patient_id"]),
        ({"patient_id": "-", "patient_remote_id": "17"}, ["patient_remote_id"]),
        ({"status": "COMPLETED"}, ["status"]),
        ({"slot_id": "-", "client_id": "-", "patient_id": "-", "status": "x"}, ["slot_id", None, None, "status"]),
    ],
)
def test_an_appointment_that_cannot_be_names_every_field(partner: Partner, fields: Row, faults: list[str]) -> None:
    assert at_fault(post(partner, "appointments", booking(partner, **fields))) == faults


def test_a_patient_of_somebody_else_is_refused(partner: Partner) -> None:
    other = partner.truth("clients")[1]["patients"][0]
    assert at_fault(post(partner, "appointments", booking(partner, patient_id=int(other["id"])))) == ["patient_id"]


def test_the_practices_own_system_knows_an_appointment_minutes_later(partner: Partner) -> None:
    made = post(partner, "appointments", booking(partner)).json()["data"]
    assert made["remote_id"] is None
    partner.platform.advance(timedelta(minutes=5))
    row = next(row for row in partner.truth("appointments") if row["id"] == str(made["id"]))
    assert row["remote_id"]
    assert row["updated_at"] > made["updated_at"]


def test_outreach_is_accepted_with_201_and_found_again_by_the_partners_id(partner: Partner) -> None:
    body = {"contact_number": "+12125550139", "partner_request_id": "p-1", "context": "Overdue"}
    first, again = post(partner, "ai_outbound/requests", body), post(partner, "ai_outbound/requests", body)
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json()["data"]["status"] == "received"
    assert first.json()["data"]["id"] == again.json()["data"]["id"]


def test_outreach_moves_from_received_over_queued_to_in_progress(partner: Partner) -> None:
    body = {"contact_number": "+12125550139", "partner_request_id": "p-1"}
    seen = [post(partner, "ai_outbound/requests", body).json()["data"]["status"]]
    for minutes in (1, 30):
        partner.platform.advance(timedelta(minutes=minutes))
        seen.append(partner.page("ai_outbound/requests/p-1")["status"])
    assert seen == ["received", "queued", "in_progress"]


def client_with_coming_visit(partner: Partner) -> Row:
    """A client with an appointment of today, and nothing else that would close a gate."""
    body = booking(partner)
    assert post(partner, "appointments", body).status_code == 201
    return next(row for row in partner.truth("clients") if row["id"] == str(body["client_id"]))


def test_scheduling_is_suppressed_with_a_recent_or_upcoming_appointment(partner: Partner) -> None:
    client = client_with_coming_visit(partner)
    for row in partner.truth("phone_calls"):
        if row["client_id"] == client["id"]:
            partner.platform.delete("loc-001", "phone_calls", row["id"])
    for row in partner.truth("ai_outbound"):
        if row["client_id"] == client["id"]:
            partner.platform.delete("loc-001", "ai_outbound", row["id"])
    body = {"client_id": client["id"], "contact_number": "+12125550139"}
    scheduling = post(partner, "ai_outbound/requests", body | {"purpose": "scheduling"})
    assert scheduling.status_code == 200
    assert scheduling.json()["data"]["suppression_reason"] == "recent_or_upcoming_appointment"
    assert post(partner, "ai_outbound/requests", body | {"purpose": "refill"}).status_code == 201


def test_an_open_conversation_closes_the_gate(partner: Partner) -> None:
    client = client_with_coming_visit(partner)
    partner.platform.insert("loc-001", "ai_outbound", {"client_id": client["id"], "status": "in_progress"})
    request = post(partner, "ai_outbound/requests", {"client_id": client["id"], "contact_number": "+12125550139"})
    assert request.json()["data"]["suppression_reason"] == "active_conversation"


@pytest.mark.parametrize(
    ("body", "faults"),
    [
        ({}, [None]),
        ({"contact_number": "555"}, ["contact_number"]),
        ({"client_id": "none", "channel": "fax", "purpose": "fun"}, ["client_id", "channel", "purpose"]),
        ({"contact_number": "+12125550139", "callback_url": "http://example.com"}, ["callback_url"]),
    ],
)
def test_outreach_that_cannot_be_names_every_field(partner: Partner, body: Row, faults: list[str]) -> None:
    assert at_fault(post(partner, "ai_outbound/requests", body)) == faults
