"""Written rows go on with the drawn world, and stay consistent with it."""

from collections import Counter

from support.partner_requests import PHONE, booking, reach_out, send
from support.partner_side import Partner, at_fault, by_id, made


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


def test_who_opted_out_of_the_worlds_own_outreach_is_never_texted(partner: Partner) -> None:
    ended = next(row for row in partner.truth("ai_outbound") if row["outcome"] == "opted_out")
    for recipient in ({"client_id": ended["client_id"]}, {"phone_number": ended["contact_number"]}):
        assert made(send(partner, recipient=recipient), 200)["status_reason"] == "opted_out"
    again = made(reach_out(partner, contact_number=None, client_id=ended["client_id"]), 200)
    assert again["suppression_reason"] == "sms_opted_out"


def test_who_opted_out_in_a_row_that_was_written_is_never_texted(partner: Partner) -> None:
    assert made(send(partner), 201)
    row = {"contact_number": PHONE, "status": "completed", "outcome": "opted_out"}
    partner.platform.insert("loc-001", "ai_outbound", row)
    assert made(send(partner), 200)["status_reason"] == "opted_out"
    partner.act_for("loc-004")
    assert send(partner).status_code == 201
