"""Contract: "What the service does"; Endpoints; Sign-in; Authentication; Versioning; Errors; Message content.

`tests/partner/test_request_models.py` sends messages at and beyond the limits.
"""

import httpx
import pytest
from support.partner_requests import send, to
from support.partner_side import ROOT, SIGN_IN, Partner

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
