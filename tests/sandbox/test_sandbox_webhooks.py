"""What the world tells by itself, and the log of what was told."""

from support.hook_receiver import Receiver
from support.partner_side import Partner
from support.texting import send


def test_one_address_gets_what_the_world_tells(partner: Partner, receiver: Receiver) -> None:
    partner.platform.set(webhooks_to=receiver.url)
    before = {row["id"] for row in partner.truth("ai_outbound") if row["completed_at"]}
    partner.later(hours=24)
    ended = {row["id"] for row in partner.truth("ai_outbound") if row["completed_at"]} - before
    told = [
        got.body for got in receiver.got if got.path == "/hook/ai_outbound" and got.body["clinic_id"] == "loc-001"
    ]
    assert {body["request_id"] for body in told} == ended
    appointments = {row["id"] for row in partner.truth("appointments")}
    booked = [body["outcome_detail"]["appointment_id"] for body in told if body["outcome"] == "booked"]
    assert set(booked) <= appointments
    assert [got for got in receiver.got if got.path == "/hook/service_reminders"]


def test_every_attempt_is_in_the_control_interface(partner: Partner, receiver: Receiver) -> None:
    partner.platform.set(http_callbacks=True)
    send(partner, callback_url=receiver.url)
    partner.platform.settle()
    (attempt,) = partner.http.get("/_control/webhooks").json()["data"]
    assert (attempt["kind"], attempt["number"], attempt["status"]) == ("messages", 1, 200)
