"""Contract: Appointment; List appointments; Create an appointment. Written rows go on with the drawn world."""

from collections import Counter

from support.partner_requests import booking
from support.partner_side import Partner, at_fault, by_id, made


def test_a_new_appointment_takes_the_time_of_its_slot_and_is_listed(partner: Partner) -> None:
    """Its id is an integer in the create response and a string in the list."""
    slot = partner.page("open_times")[0]
    visit = made(partner.post("appointments", booking(partner)))
    assert isinstance(visit["id"], int)
    assert (visit["booking_date"], visit["end_date"]) == (slot["start"], slot["end"])
    rows = partner.everything("appointments", start_date="2025-01-01")
    assert visit | {"id": str(visit["id"])} in rows
    assert all(row["remote_client_id"] and row["remote_patient_id"] for row in rows)


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


def test_the_practices_own_system_knows_an_appointment_minutes_later(partner: Partner) -> None:
    visit = made(partner.post("appointments", booking(partner)))
    assert visit["remote_id"] is None
    partner.later(minutes=5)
    row = by_id(partner.truth("appointments"))[str(visit["id"])]
    assert row["remote_id"]
    assert row["updated_at"] > visit["updated_at"]
