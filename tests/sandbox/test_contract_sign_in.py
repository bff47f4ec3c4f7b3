"""Contract: "What the service does"; Endpoints; Sign-in; Authentication; Versioning."""

import httpx
from support.contract_breaks import answers, enveloped, headed, status, switched, with_header
from support.partner_side import ROOT, SIGN_IN, Partner, wired
from support.rules import broken_by, rule

ENDPOINTS = [
    ("POST", "messages"), ("GET", "messages/x"), ("POST", "ai_outbound/requests"),
    ("GET", "ai_outbound/requests"), ("GET", "ai_outbound/requests/x"), ("GET", "phone_calls"),
    ("GET", "phone_calls/x"), ("GET", "booking_sessions"), ("GET", "booking_sessions/x"),
    ("GET", "appointments"), ("POST", "appointments"), ("GET", "staff_tasks"), ("POST", "staff_tasks"),
    ("PUT", "staff_tasks/x"), ("DELETE", "staff_tasks/x"), ("GET", "clients"), ("GET", "clients/x"),
    ("GET", "patients"), ("GET", "patients/x"),
]  # fmt: skip


def statuses(partner: Partner) -> dict[tuple[str, str], int]:
    return {
        (method, path): partner.http.request(method, f"{ROOT}/{path}").status_code for method, path in ENDPOINTS
    }


def sign_in(partner: Partner, **changes: object) -> httpx.Response:
    platform = partner.platform
    credentials = {"username": platform.username, "password": platform.password, "role": platform.role}
    with wired(platform) as stranger:
        return stranger.post(SIGN_IN, json=credentials | changes)


@rule("Authentication", says="5: no token", header=None)
@rule("Authentication", says="5: a token that was never issued", header="Bearer made-up")
@rule("Authentication", says="2: another scheme than Bearer", header="Basic {token}")
@broken_by(status(_401=403))
def test_without_a_good_token_every_endpoint_is_401(partner: Partner, header: str | None) -> None:
    token = partner.http.headers.pop("Authorization").partition(" ")[2]
    if header is not None:
        partner.http.headers["Authorization"] = header.format(token=token)
    assert set(statuses(partner).values()) == {401}


@rule("Authentication", says="3: X-Client-Id")
@broken_by(with_header("x-client-id", "loc-001"))
def test_without_a_practice_every_endpoint_refuses(partner: Partner) -> None:
    """The contract does not show the status: here it is a status that nothing else gets."""
    partner.platform.set(missing_practice_status=401)
    del partner.http.headers["X-Client-Id"]
    assert set(statuses(partner).values()) == {401}


@rule("Endpoints / Sign-in")
@broken_by(answers("sign-in", lambda data: {"jwt": data["token"]}))
def test_sign_in_answers_a_token(partner: Partner) -> None:
    body = sign_in(partner).json()
    assert set(body) == {"success", "data", "message"}
    assert body["success"] is True
    assert isinstance(body["data"].get("token"), str)


@rule("Endpoints / Sign-in")
@broken_by(status("sign-in", _200=401))
def test_sign_in_needs_neither_token_nor_practice(partner: Partner) -> None:
    assert sign_in(partner).status_code == 200


@rule("Endpoints / Sign-in", says="username", wrong="username")
@rule("Endpoints / Sign-in", says="password", wrong="password")
@rule("Endpoints / Sign-in", says="role", wrong="role")
@broken_by(status("sign-in", _401=200))
def test_sign_in_wants_all_three_credentials(partner: Partner, wrong: str) -> None:
    assert sign_in(partner, **{wrong: "nobody"}).status_code == 401


@rule("Authentication")
@broken_by(answers("sign-in", lambda _: {"token": "made-up"}))
def test_the_token_of_a_sign_in_is_good_on_other_requests(partner: Partner) -> None:
    token = sign_in(partner).json()["data"]["token"]
    partner.http.headers["Authorization"] = f"Bearer {token}"
    assert partner.get("staff_tasks").status_code == 200


READS = ("staff_tasks", "phone_calls", "clients?name=a", "patients?client_id=1", "ai_outbound/requests")


@rule("What the service does", says="7")
@broken_by(enveloped("*", lambda body: {**body, "success": "yes"}))
def test_success_comes_in_the_success_envelope(partner: Partner) -> None:
    for path in READS:
        body = partner.http.get(f"{ROOT}/{path}").json()
        assert set(body) == {"success", "data", "message"}
        assert body["success"] is True
        assert body["message"] is None or isinstance(body["message"], str)


@rule("What the service does", says="6")
@broken_by(headed(content_type="text/plain"))
def test_bodies_are_json(partner: Partner) -> None:
    for path in READS:
        assert partner.http.get(f"{ROOT}/{path}").headers["Content-Type"].startswith("application/json")


EARLY = {"start_date": "2025-01-01"}


@rule("Versioning")
@broken_by(status("v2/staff_tasks", _404=200))
def test_the_version_is_in_the_path(partner: Partner) -> None:
    assert partner.http.get(f"{ROOT}/staff_tasks").status_code == 200
    assert partner.http.get(f"{ROOT.replace('v1', 'v2')}/staff_tasks").status_code == 404
    assert partner.http.post(SIGN_IN.replace("v1", "v2"), json={}).status_code == 404


@rule("Versioning")
@broken_by(switched(appointments_withdrawn=404))
def test_the_proposed_list_is_there_for_now(partner: Partner) -> None:
    assert partner.get("appointments", **EARLY).status_code == 200
