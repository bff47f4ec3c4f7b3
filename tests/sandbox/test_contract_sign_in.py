"""Contract: What the service does; Endpoints; Sign-in; Authentication; Versioning."""

import httpx
from support.breaking import edited, switched
from support.partner_side import ROOT, SIGN_IN, Partner
from support.rules import rule

ENDPOINTS = [
    ("POST", "messages"),
    ("GET", "messages/x"),
    ("POST", "ai_outbound/requests"),
    ("GET", "ai_outbound/requests"),
    ("GET", "ai_outbound/requests/x"),
    ("GET", "phone_calls"),
    ("GET", "phone_calls/x"),
    ("GET", "booking_sessions"),
    ("GET", "booking_sessions/x"),
    ("GET", "appointments"),
    ("POST", "appointments"),
    ("GET", "staff_tasks"),
    ("POST", "staff_tasks"),
    ("PUT", "staff_tasks/x"),
    ("DELETE", "staff_tasks/x"),
    ("GET", "clients"),
    ("GET", "clients/x"),
    ("GET", "patients"),
    ("GET", "patients/x"),
]


def statuses(partner: Partner) -> dict[tuple[str, str], int]:
    return {
        (method, path): partner.http.request(method, f"{ROOT}/{path}").status_code for method, path in ENDPOINTS
    }


def sign_in(partner: Partner, **changes: object) -> httpx.Response:
    platform = partner.platform
    known = {"username": platform.username, "password": platform.password, "role": platform.role}
    return httpx.post(platform.base_url + SIGN_IN, json=known | changes)


UNGUARDED = "practice_of(request)"
NOBODY = "next(iter(platform_of(request).world.practices.values()))"


@rule(
    "Authentication",
    edited("server.auth:practice_of", "raise Refusal(401", "raise Refusal(403"),
    edited("server.lists:_list", UNGUARDED, NOBODY),
    edited("server.messages:get_message", UNGUARDED, NOBODY),
    edited("server.staff_tasks:delete_task", UNGUARDED, NOBODY),
    says="5: no token",
    header=None,
)
@rule(
    "Authentication",
    edited("platform:Platform.knows_token", "return expires is not None", "return True or expires is not None"),
    says="5: a token that was never issued",
    header="Bearer made-up",
)
@rule(
    "Authentication",
    edited("server.auth:practice_of", 'scheme.lower() != "bearer"', "False"),
    says="2: another scheme than Bearer",
    header="Basic {token}",
)
def test_without_a_good_token_every_endpoint_is_401(partner: Partner, header: str | None) -> None:
    token = partner.http.headers.pop("Authorization").partition(" ")[2]
    if header is not None:
        partner.http.headers["Authorization"] = header.format(token=token)
    assert set(statuses(partner).values()) == {401}


@rule(
    "Authentication",
    edited("server.auth:practice_of", "if not practice_id:", "if False:"),
    edited("server.people:clients", UNGUARDED, NOBODY),
    edited("server.messages:create_message", UNGUARDED, NOBODY),
    says="3: X-Client-Id",
)
def test_without_a_practice_every_endpoint_refuses(partner: Partner) -> None:
    """With which status the contract does not show: one that nothing else here gets."""
    partner.platform.set(missing_practice_status=401)
    del partner.http.headers["X-Client-Id"]
    assert set(statuses(partner).values()) == {401}


@rule("Endpoints / Sign-in", edited("server.auth:sign_in", '{"token": platform', '{"access_token": platform'))
def test_sign_in_answers_a_token(partner: Partner) -> None:
    body = sign_in(partner).json()
    assert set(body) == {"success", "data", "message"}
    assert body["success"] is True
    assert isinstance(body["data"].get("token"), str)


@rule(
    "Endpoints / Sign-in", edited("server.auth:sign_in", "platform = platform_of(request)", "practice_of(request)")
)
def test_sign_in_needs_neither_token_nor_practice(partner: Partner) -> None:
    assert sign_in(partner).status_code == 200


@rule(
    "Endpoints / Sign-in",
    edited("platform:Credentials.match", "compare_digest(username.encode(), self.username.encode())", "True"),
    says="username",
    wrong="username",
)
@rule(
    "Endpoints / Sign-in",
    edited("platform:Credentials.match", "compare_digest(password.encode(), self.password.encode())", "True"),
    says="password",
    wrong="password",
)
@rule(
    "Endpoints / Sign-in",
    edited("platform:Credentials.match", "role == self.role", "True"),
    says="role",
    wrong="role",
)
def test_sign_in_wants_all_three_credentials(partner: Partner, wrong: str) -> None:
    assert sign_in(partner, **{wrong: "nobody"}).status_code == 401


@rule("Authentication", edited("platform:Platform.issue_token", "self._tokens[token] =", "_ ="))
def test_the_token_of_a_sign_in_is_good_on_other_requests(partner: Partner) -> None:
    token = sign_in(partner).json()["data"]["token"]
    partner.http.headers["Authorization"] = f"Bearer {token}"
    assert partner.get("staff_tasks").status_code == 200


READS = ("staff_tasks", "phone_calls", "clients?name=a", "patients?client_id=1", "ai_outbound/requests")


@rule(
    "What the service does",
    edited("server.envelopes:encoded", '"success": True, ', ""),
    edited("server.envelopes:encoded", '"message": message', '"note": message'),
    edited("server.envelopes:encoded", '"data": data', '"payload": data'),
    edited("server.lists:page_body", "return encoded(", "return __import__('orjson').dumps("),
    says="7",
)
def test_success_comes_in_the_success_envelope(partner: Partner) -> None:
    for path in READS:
        body = partner.http.get(f"{ROOT}/{path}").json()
        assert set(body) == {"success", "data", "message"}
        assert body["success"] is True
        assert body["message"] is None or isinstance(body["message"], str)


@rule(
    "What the service does",
    edited("server.envelopes:json_response", '"application/json"', '"text/plain"'),
    says="6",
)
def test_bodies_are_json(partner: Partner) -> None:
    for path in READS:
        assert partner.http.get(f"{ROOT}/{path}").headers["Content-Type"].startswith("application/json")


EARLY = {"start_date": "2025-01-01"}
ANY_VERSION = 'scope = scope | {"path": scope["path"].replace("/v2/", "/v1/")}; fault = self._fault(scope)'


@rule("Versioning", edited("server.middleware:FaultInjector.__call__", "fault = self._fault(scope)", ANY_VERSION))
def test_the_version_is_in_the_path(partner: Partner) -> None:
    assert partner.http.get(f"{ROOT}/staff_tasks").status_code == 200
    assert partner.http.get(f"{ROOT.replace('v1', 'v2')}/staff_tasks").status_code == 404
    assert partner.http.post(SIGN_IN.replace("v1", "v2"), json={}).status_code == 404


@rule("Versioning", switched(appointments_withdrawn=410))
def test_the_proposed_list_is_there_for_now(partner: Partner) -> None:
    assert partner.get("appointments", **EARLY).status_code == 200
