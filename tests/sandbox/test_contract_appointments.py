"""Contract: Appointment; List appointments; Create an appointment. Written rows go on with the drawn world."""

from collections import Counter

import pytest
from support.partner_requests import booking
from support.partner_side import Partner, Row, at_fault, by_id, made


def test_a_new_appointment_takes_the_time_of_its_slot_and_is_listed(partner: Partner) -> None:
    """Its id is an integer in the create response and a string in the list."""
    slot = partner.page("open_times")[0]
    visit = made(partner.post("appointments", booking(partner)))
    assert isinstance(visit["id"], int)
    assert (visit["booking_date"], visit["end_date"]) == (slot["start"], slot["end"])
    rows = partner.everything("appointments", start_date="2025-01-01")
    assert visit | {"id": str(visit["id"])} in rows
    assert all(row["remote_client_id"] and row["remote_patient_id"] for row in rows)


def named_client(partner: Partner) -> tuple[Row, Row]:
    """Return a client with a unique name and without a server's id, and the fields that name the client."""
    client = next(
        row
        for row in partner.truth("clients")
        if row["email"] and row["name"].count(" ") == 1 and "-" not in row["remote_id"]
    )
    first, last = client["name"].split()
    return client, {"first_name": first, "last_name": last}


@pytest.mark.parametrize("by", ["client_id", "client_remote_id", "phone", "email"])
def test_a_client_is_identified_by_one_of_two_ids_or_by_name_and_more(partner: Partner, by: str) -> None:
    client, name = named_client(partner)
    who = {
        "client_id": {"client_id": int(client["id"])},
        "client_remote_id": {"client_remote_id": client["remote_id"]},
        "phone": {**name, "phone": client["phone"]},
        "email": {**name, "email": client["email"]},
    }
    body = booking(partner, client_id=None, patient_id=int(client["patients"][0]["id"])) | who[by]
    assert made(partner.post("appointments", body))["client_phone"] == client["phone"]


def test_a_name_alone_identifies_nobody(partner: Partner) -> None:
    _, name = named_client(partner)
    assert at_fault(partner.post("appointments", booking(partner, client_id=None, **name))) == [None]


def test_a_patient_is_identified_by_either_id(partner: Partner) -> None:
    """The remote id comes from an appointment of the same patient."""
    patient = partner.truth("clients")[0]["patients"][0]
    first = made(partner.post("appointments", booking(partner)))
    body = booking(partner, patient_id=None, patient_remote_id=first["remote_patient_id"])
    again = made(partner.post("appointments", body))
    assert first["patient_name"] == again["patient_name"] == patient["name"]


@pytest.mark.parametrize(
    ("accepts", "given", "status"),
    [
        (True, None, "ACCEPTED"),
        (False, None, "REQUESTED"),
        (True, "REQUESTED", "REQUESTED"),
        (False, "ACCEPTED", "ACCEPTED"),
        (False, "CONFIRMED", "CONFIRMED"),
    ],
)
def test_the_status_can_be_given_and_else_the_auto_accept_setting_decides(
    partner: Partner, *, accepts: bool, given: str | None, status: str
) -> None:
    partner.platform.set(auto_accept=accepts)
    assert made(partner.post("appointments", booking(partner, status=given)))["status"] == status


def test_staff_work_on_tasks_of_partners_if_they_are_to(partner: Partner) -> None:
    client = next(row for row in partner.truth("clients") if row["patients"])
    given = {"title": "Call back", "client_id": str(client["id"])}

    def visits() -> int:
        return sum(row["remote_client_id"] == client["remote_id"] for row in partner.truth("appointments"))

    left = made(partner.post("staff_tasks", given))
    partner.platform.set(tasks_are_worked=True)
    tasks = [made(partner.post("staff_tasks", given)) for _ in range(20)]
    before = visits()
    partner.later(hours=14)
    now = by_id(partner.truth("staff_tasks"))
    ends = Counter(now[task["id"]]["status"] for task in tasks)
    assert ends == {"completed": 16, "canceled": 2, "pending": 2}
    assert now[left["id"]]["status"] == "pending"
    assert visits() - before == 6


def test_a_slot_is_booked_once(partner: Partner) -> None:
    body = booking(partner)
    made(partner.post("appointments", body))
    assert at_fault(partner.post("appointments", body)) == ["slot_id"]
    assert body["slot_id"] not in {slot["uuid"] for slot in partner.page("open_times")}


def test_a_patient_of_somebody_else_is_refused(partner: Partner) -> None:
    other = partner.truth("clients")[1]["patients"][0]
    body = booking(partner, patient_id=int(other["id"]))
    assert at_fault(partner.post("appointments", body)) == ["patient_id"]


def test_the_practices_own_system_knows_an_appointment_minutes_later(partner: Partner) -> None:
    visit = made(partner.post("appointments", booking(partner)))
    assert visit["remote_id"] is None
    partner.later(minutes=5)
    row = by_id(partner.truth("appointments"))[str(visit["id"])]
    assert row["remote_id"]
    assert row["updated_at"] > visit["updated_at"]
