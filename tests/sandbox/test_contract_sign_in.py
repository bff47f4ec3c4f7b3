"""Contract: "What the service does"; Endpoints; Sign-in; Authentication; Versioning; Errors; Message content.

`tests/partner/test_request_models.py` sends messages at and beyond the limits.
"""

from collections.abc import Callable
from typing import Any

import httpx
import pytest
from support.partner_requests import booking, reach_out, send, to
from support.partner_side import ROOT, SIGN_IN, Partner, Row, at_fault

ENDPOINTS = [
    ("POST", "messages"), ("GET", "messages/x"), ("POST", "ai_outbound/requests"),
    ("GET", "ai_outbound/requests"), ("GET", "ai_outbound/requests/x"), ("GET", "phone_calls"),
    ("GET", "phone_calls/x"), ("GET", "booking_sessions"), ("GET", "booking_sessions/x"),
    ("GET", "appointments"), ("POST", "appointments"), ("GET", "staff_tasks"), ("POST", "staff_tasks"),
    ("PUT", "staff_tasks/x"), ("DELETE", "staff_tasks/x"), ("GET", "clients"), ("GET", "clients/x"),
    ("GET", "patients"), ("GET", "patients/x"),
]  # fmt: skip


def statuses(partner: Partner) -> set[int]:
    return {partner.http.request(method, f"{ROOT}/{path}").status_code for method, path in ENDPOINTS}


@pytest.mark.parametrize("header", [None, "Bearer made-up", "Basic {token}"])
def test_without_a_good_token_every_endpoint_is_401(partner: Partner, header: str | None) -> None:
    token = partner.http.headers.pop("Authorization").partition(" ")[2]
    if header is not None:
        partner.http.headers["Authorization"] = header.format(token=token)
    assert statuses(partner) == {401}


def test_without_a_practice_every_endpoint_refuses(partner: Partner) -> None:
    """The contract does not show the status: here it is a status that nothing else gets."""
    partner.platform.set(missing_practice_status=401)
    del partner.http.headers["X-Client-Id"]
    assert statuses(partner) == {401}


def sign_in(partner: Partner, **changes: str) -> httpx.Response:
    """Sign in without the headers of other requests."""
    credentials = {name: getattr(partner.platform, name) for name in ("username", "password", "role")}
    return httpx.post(f"{partner.platform.base_url}{SIGN_IN}", json=credentials | changes)


def test_sign_in_answers_a_token_and_older_tokens_stay_good(partner: Partner) -> None:
    body = sign_in(partner).json()
    assert set(body) == {"success", "data", "message"}
    assert body["success"] is True
    older = str(partner.http.headers["Authorization"])
    for authorization in (f"Bearer {body['data']['token']}", older):
        partner.http.headers["Authorization"] = authorization
        assert partner.get("staff_tasks").status_code == 200


@pytest.mark.parametrize("wrong", ["username", "password", "role"])
def test_sign_in_wants_all_three_credentials(partner: Partner, wrong: str) -> None:
    assert sign_in(partner, **{wrong: "nobody"}).status_code == 401


def test_the_version_is_in_the_path(partner: Partner) -> None:
    assert partner.get("staff_tasks").status_code == 200
    assert partner.http.get(f"{ROOT.replace('v1', 'v2')}/staff_tasks").status_code == 404
    assert partner.http.post(SIGN_IN.replace("v1", "v2"), json={}).status_code == 404


Ask = Callable[..., httpx.Response]


def appointment(partner: Partner, **body: Any) -> httpx.Response:
    return partner.post("appointments", booking(partner, **body))


def task(partner: Partner, **body: Any) -> httpx.Response:
    return partner.post("staff_tasks", {"title": "t", "description": "d", **body})


def asked_for_a_token(partner: Partner, **body: Any) -> httpx.Response:
    return partner.http.post(SIGN_IN, json=body)


@pytest.mark.parametrize(
    ("ask", "body", "fields"),
    [
        (
            send,
            {
                "recipient": None,
                "fallback_text": None,
                "channel": "fax",
                "callback_url": "http://a.example/",
                "content": {"type": "carousel", "cards": [{"title": "A card"}, {"buttons": [{"type": "wave"}]}]},
            },
            [
                "recipient",
                "fallback_text",
                "channel",
                "callback_url",
                "content.cards.1",
                "content.cards.1.buttons.0.type",
                "content.cards.1.buttons.0.text",
            ],
        ),
        (send, {"content": {"type": "media", "media_url": "https://gone.invalid/a.png"}}, ["content"]),
        (
            reach_out,
            {"client_id": "none", "purpose": "fun", "callback_url": "?"},
            ["client_id", "purpose", "callback_url"],
        ),
        (reach_out, {"contact_number": None}, [None]),
        (
            appointment,
            {"slot_id": None, "client_id": None, "patient_id": None, "status": "COMPLETED"},
            ["slot_id", None, None, "status"],
        ),
        (appointment, {"client_id": "10000001", "patient_id": "10000001"}, ["client_id", "patient_id"]),
        (appointment, {"client_id": None, "client_remote_id": "none"}, ["client_remote_id"]),
        (
            task,
            {"title": [1], "task_type": "chore", "client_id": "x", "patient_id": "x", "reference_time_at": "soon"},
            ["title", "task_type", "client_id", "patient_id", "reference_time_at"],
        ),
        (asked_for_a_token, {"username": 7}, ["username", "password", "role"]),
    ],
)
def test_a_request_that_cannot_be_names_every_field(
    partner: Partner, ask: Ask, body: Row, fields: list[str | None]
) -> None:
    assert sorted(at_fault(ask(partner, **body)), key=str) == sorted(fields, key=str)


def test_a_body_that_is_no_object_is_a_request_level_error(partner: Partner) -> None:
    for body in (b"", b"[]", b"{", b'"text"'):
        assert at_fault(partner.http.post(f"{ROOT}/messages", content=body)) == [None]


def test_a_number_that_cannot_receive_texts_may_be_refused(partner: Partner) -> None:
    """The contract allows two answers; a switch chooses this one."""
    partner.platform.set(blocked_number="refused")
    assert at_fault(send(partner, recipient=to("01"))) == ["recipient"]


def test_other_errors_come_in_the_general_envelope(partner: Partner) -> None:
    answers = [partner.get("messages/none"), send(partner, recipient=to("10"))]
    answers.append(next(answer for answer in (send(partner) for _ in range(125)) if answer.status_code != 201))
    partner.http.headers["Authorization"] = "Bearer made-up"
    answers.append(send(partner))
    assert [answer.status_code for answer in answers] == [404, 502, 429, 401]
    for body in (answer.json() for answer in answers):
        assert set(body) <= {"success", "message", "data"}
        assert body["success"] is False
        assert isinstance(body["message"], str)
