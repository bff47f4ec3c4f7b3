"""Contract: Errors."""

from typing import Any

import httpx
from support.booking import booking
from support.contract_breaks import accepts, enveloped, status
from support.message_requests import CARD, send, to
from support.outreach_requests import reach_out
from support.partner_side import ROOT, SIGN_IN, Partner, Row, at_fault
from support.rules import broken_as, broken_by, rule, rules


def unauthorized(partner: Partner) -> httpx.Response:
    partner.http.headers["Authorization"] = "Bearer made-up"
    return send(partner)


def unknown(partner: Partner) -> httpx.Response:
    return partner.get("messages/none")


def too_many(partner: Partner) -> httpx.Response:
    return next(answer for answer in (send(partner) for _ in range(125)) if answer.status_code != 201)


def unavailable(partner: Partner) -> httpx.Response:
    return send(partner, recipient=to("10"))


@rule("Errors", says="401", ask=unauthorized, status=401)
@rule("Errors", says="not found", ask=unknown, status=404)
@rule("Errors", says="429", ask=too_many, status=429)
@rule("Errors", says="502", ask=unavailable, status=502)
@broken_by(enveloped("*", lambda body: {**body, "success": True}))
def test_an_error_comes_in_the_general_envelope(partner: Partner, ask: Any, status: int) -> None:
    answer = ask(partner)
    assert answer.status_code == status
    body = answer.json()
    assert set(body) <= {"success", "message", "data"}
    assert body["success"] is False
    assert isinstance(body.get("message"), str)


@rule("Errors", says="validation envelope")
@broken_by(enveloped("messages", lambda body: {**body, "data": {"errors": body["data"]["errors"]}}))
def test_a_validation_error_has_its_envelope(partner: Partner) -> None:
    answer = send(partner, fallback_text=None, channel="fax")
    assert answer.status_code == 400
    body = answer.json()
    assert set(body) == {"success", "message", "data"}
    assert body["success"] is False
    assert set(body["data"]) == {"message", "errors"}
    assert all(set(error) == {"field", "message"} for error in body["data"]["errors"])
    assert all(isinstance(error["message"], str) for error in body["data"]["errors"])


@rule("Errors", says="the first error")
@broken_by(enveloped("messages", lambda body: {**body, "message": "no"}))
def test_the_message_is_that_of_the_first_error(partner: Partner) -> None:
    body = send(partner, fallback_text=None, channel="fax").json()
    assert body["message"] == body["data"]["message"] == body["data"]["errors"][0]["message"]


def wrong_message(partner: Partner) -> httpx.Response:
    content = {"type": "carousel", "cards": [CARD, {"buttons": [{"type": "wave"}]}]}
    return send(partner, recipient=None, fallback_text=None, channel="fax", callback_url="?", content=content)


def wrong_request(partner: Partner) -> httpx.Response:
    return reach_out(partner, client_id="none", channel="fax", purpose="fun", callback_url="?")


def wrong_appointment(partner: Partner) -> httpx.Response:
    body = booking(partner, slot_id=None, client_id=None, patient_id=None, status="x")
    return partner.post("appointments", body)


def wrong_task(partner: Partner) -> httpx.Response:
    wrong = {"title": [1], "task_type": "chore", "client_id": "none", "patient_id": "none"}
    return partner.post("staff_tasks", {**wrong, "reference_time_at": "soon"})


def wrong_calls(partner: Partner) -> httpx.Response:
    query = {"start_date": "x", "end_date": "x", "direction": "x", "state": "x", "call_classification": "x"}
    return partner.get("phone_calls", **query, page="x", per_page="x")


def wrong_sign_in(partner: Partner) -> httpx.Response:
    return partner.http.post(SIGN_IN, json={"username": 7})


@rules(
    "Errors",
    "ask fields",
    (
        "every field: message",
        wrong_message,
        {
            "recipient",
            "fallback_text",
            "channel",
            "callback_url",
            "content.cards.1",
            "content.cards.1.buttons.0.type",
            "content.cards.1.buttons.0.text",
        },
    ),
    ("every field: request", wrong_request, {"client_id", "channel", "purpose", "callback_url"}),
    ("every field: appointment", wrong_appointment, {"slot_id", None, "status"}),
    ("every field: task", wrong_task, {"title", "task_type", "client_id", "patient_id", "reference_time_at"}),
    (
        "every field: calls",
        wrong_calls,
        {"start_date", "end_date", "direction", "state", "call_classification", "page", "per_page"},
    ),
    ("every field: sign-in", wrong_sign_in, {"username", "password", "role"}),
)
@broken_as(lambda fields: accepts(min(fields, key=str)))
def test_every_offending_field_is_listed(partner: Partner, ask: Any, fields: set[str | None]) -> None:
    assert set(at_fault(ask(partner))) == fields


@rule("Errors", says="400, field null")
@broken_by(accepts())
def test_a_body_that_is_no_object_is_a_request_level_error(partner: Partner) -> None:
    for body in (b"", b"[]", b"{", b'"text"'):
        assert at_fault(partner.http.post(f"{ROOT}/messages", content=body)) == [None]


@rule("Errors", says="phone calls: direction", query={"direction": "up"})
@rule("Errors", says="phone calls: state", query={"state": "asleep"})
@rule("Errors", says="phone calls: a date", query={"start_date": "01/05/2026"})
@broken_by(accepts())
def test_the_list_of_calls_refuses_with_a_400(partner: Partner, query: Row) -> None:
    assert partner.get("phone_calls", **query).status_code == 400


@rule("Errors", says="unknown id: writing")
@broken_by(status("staff_tasks/x", _404=200))
def test_an_unknown_task_cannot_be_written(partner: Partner) -> None:
    assert 400 <= partner.put("staff_tasks/x", {"title": "t"}).status_code < 500
    assert 400 <= partner.delete("staff_tasks/x").status_code < 500
