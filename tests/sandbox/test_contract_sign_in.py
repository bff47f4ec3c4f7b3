"""Contract: "What the service does"; Endpoints; Sign-in; Authentication; Versioning."""

import httpx
import pytest
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


@pytest.mark.parametrize("wrong", ["username", "password", "role"])
def test_sign_in_wants_all_three_credentials(partner: Partner, wrong: str) -> None:
    assert sign_in(partner, **{wrong: "nobody"}).status_code == 401


def test_the_version_is_in_the_path(partner: Partner) -> None:
    assert partner.get("staff_tasks").status_code == 200
    assert partner.http.get(f"{ROOT.replace('v1', 'v2')}/staff_tasks").status_code == 404
    assert partner.http.post(SIGN_IN.replace("v1", "v2"), json={}).status_code == 404
