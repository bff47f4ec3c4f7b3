"""Contract: Sign-in; Authentication; Errors."""

import httpx
import pytest
from support.partner_side import SIGN_IN, Partner

from sandbox import Handle

LISTS = ["phone_calls", "booking_sessions", "appointments", "ai_outbound/requests", "staff_tasks"]


def credentials(platform: Handle, **changes: str) -> dict[str, str]:
    return {"username": platform.username, "password": platform.password, "role": platform.role} | changes


def test_sign_in_answers_a_token_in_the_success_envelope(platform: Handle) -> None:
    body = httpx.post(platform.base_url + SIGN_IN, json=credentials(platform)).json()
    assert set(body) == {"success", "data", "message"}
    assert body["success"] is True
    assert body["data"]["token"]


@pytest.mark.parametrize("wrong", ["username", "password", "role"])
def test_sign_in_with_a_wrong_credential_is_401(platform: Handle, wrong: str) -> None:
    answer = httpx.post(platform.base_url + SIGN_IN, json=credentials(platform, **{wrong: "nobody"}))
    assert answer.status_code == 401
    assert answer.json() == {"success": False, "message": "Invalid username, password or role"}


def test_sign_in_names_every_missing_credential(platform: Handle) -> None:
    answer = httpx.post(platform.base_url + SIGN_IN, json={"username": platform.username, "role": 7})
    assert answer.status_code == 400
    assert [error["field"] for error in answer.json()["data"]["errors"]] == ["password", "role"]


def test_sign_in_without_json_is_a_request_level_error(platform: Handle) -> None:
    answer = httpx.post(platform.base_url + SIGN_IN, content=b"username=x")
    assert answer.status_code == 400
    assert answer.json()["data"]["errors"][0]["field"] is None


@pytest.mark.parametrize("path", LISTS)
def test_every_list_wants_a_token(partner: Partner, path: str) -> None:
    del partner.http.headers["Authorization"]
    answer = partner.get(path, start_date="2026-01-01")
    assert answer.status_code == 401
    assert answer.json()["success"] is False


def test_an_unknown_token_is_401(partner: Partner) -> None:
    partner.http.headers["Authorization"] = "Bearer made-up"
    assert partner.get("staff_tasks").status_code == 401


def test_a_token_in_another_scheme_is_401(partner: Partner) -> None:
    token = partner.http.headers["Authorization"].partition(" ")[2]
    partner.http.headers["Authorization"] = f"Basic {token}"
    assert partner.get("staff_tasks").status_code == 401


def test_signing_in_again_leaves_older_tokens_good(partner: Partner) -> None:
    first = partner.http.headers["Authorization"]
    partner.sign_in()
    partner.http.headers["Authorization"] = first
    assert partner.get("staff_tasks").status_code == 200


@pytest.mark.parametrize("path", LISTS)
def test_every_list_wants_a_practice(partner: Partner, path: str) -> None:
    del partner.http.headers["X-Client-Id"]
    assert partner.get(path, start_date="2026-01-01").status_code == 400


def test_a_foreign_practice_is_403(partner: Partner) -> None:
    partner.http.headers["X-Client-Id"] = "loc-999"
    assert partner.get("staff_tasks").status_code == 403


def test_practices_do_not_see_each_other(partner: Partner) -> None:
    seen = {}
    for practice in partner.platform.practices:
        partner.http.headers["X-Client-Id"] = practice.id
        seen[practice.id] = {row["id"] for row in partner.everything("staff_tasks")}
    assert all(seen.values())
    assert len(set.union(*seen.values())) == sum(map(len, seen.values()))


def test_a_record_of_another_practice_is_not_found(partner: Partner) -> None:
    session = partner.truth("booking_sessions")[0]["id"]
    partner.http.headers["X-Client-Id"] = "loc-002"
    assert partner.get(f"booking_sessions/{session}").status_code == 404


def test_an_unknown_path_gets_the_general_error_envelope(partner: Partner) -> None:
    answer = partner.get("nothing_here")
    assert answer.status_code == 404
    assert answer.json() == {"success": False, "message": "Not Found"}


def test_the_date_header_tells_the_platforms_clock(partner: Partner) -> None:
    told = partner.get("staff_tasks").headers["Date"]
    assert told == partner.platform.now().strftime("%a, %d %b %Y %H:%M:%S GMT")
