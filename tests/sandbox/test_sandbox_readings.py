"""Phone calls as JSON, practices and errors, in points that the contract leaves open."""

import pytest
from support.partner_side import Partner


def test_a_page_behind_the_last_is_empty(partner: Partner) -> None:
    page = partner.page("phone_calls", page=10_000)
    assert page["content"] == []
    assert page["total_count"] > 0


@pytest.mark.parametrize(
    ("name", "value"), [("page", "-1"), ("page", "two"), ("per_page", "0"), ("per_page", "1.5")]
)
def test_a_senseless_page_is_a_400(partner: Partner, name: str, value: str) -> None:
    assert partner.fields_at_fault("phone_calls", **{name: value}) == [name]


def test_one_bound_alone_is_enough(partner: Partner) -> None:
    total = partner.page("phone_calls")["total_count"]
    before = partner.page("phone_calls", end_date="2025-12-01")["total_count"]
    after = partner.page("phone_calls", start_date="2025-12-02")["total_count"]
    assert before + after == total


def test_an_unknown_outcome_matches_nothing(partner: Partner) -> None:
    """The contract promises a 400 only for direction, state and classification."""
    assert partner.page("phone_calls", outcome="sold")["total_count"] == 0


def test_an_unknown_call_is_not_found(partner: Partner) -> None:
    assert partner.get("phone_calls/call_0123456789abcdef").status_code == 404


def test_signing_in_again_leaves_older_tokens_good(partner: Partner) -> None:
    first = partner.http.headers["Authorization"]
    partner.sign_in()
    partner.http.headers["Authorization"] = first
    assert partner.get("staff_tasks").status_code == 200


def test_a_foreign_practice_is_403(partner: Partner) -> None:
    partner.http.headers["X-Client-Id"] = "loc-999"
    assert partner.get("staff_tasks").status_code == 403


def test_an_unknown_path_gets_the_general_error_envelope(partner: Partner) -> None:
    answer = partner.get("nothing_here")
    assert answer.status_code == 404
    assert answer.json() == {"success": False, "message": "Not Found"}


def test_the_date_header_is_the_platforms_clock(partner: Partner) -> None:
    header = partner.get("staff_tasks").headers["Date"]
    assert header == partner.platform.now().strftime("%a, %d %b %Y %H:%M:%S GMT")
