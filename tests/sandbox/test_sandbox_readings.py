"""Requests and errors, in points that the contract leaves open."""

import pytest
from support.partner_side import Partner, Query

EARLY = {"start_date": "2025-01-01"}


@pytest.mark.parametrize(
    ("path", "query", "fields"),
    [
        ("booking_sessions", {}, ["start_date"]),
        ("booking_sessions", {"start_date": "soon", "end_date": "later"}, ["start_date", "end_date"]),
        ("booking_sessions", {**EARLY, "status": "asleep"}, ["status"]),
        ("phone_calls", {"format": "csv", "start_date": "nope"}, ["start_date"]),
        ("phone_calls", {"page": "-1"}, ["page"]),
        ("phone_calls", {"page": "two"}, ["page"]),
        ("phone_calls", {"per_page": "0"}, ["per_page"]),
        ("phone_calls", {"per_page": "1.5"}, ["per_page"]),
    ],
)
def test_a_senseless_request_is_a_400(
    partner: Partner, path: str, query: dict[str, Query], fields: list[str]
) -> None:
    assert partner.fields_at_fault(path, **query) == fields


def test_an_id_that_is_none_or_has_no_get_is_a_404(partner: Partner) -> None:
    appointment = partner.truth("appointments")[0]["id"]
    calls, patients = "phone_calls/call_0123456789abcdef", "patients/99999999999999999999"
    for path in (calls, "clients/1", patients, f"appointments/{appointment}"):
        assert partner.get(path).status_code == 404


def test_a_page_behind_the_last_is_empty(partner: Partner) -> None:
    page = partner.page("phone_calls", page=10_000)
    assert page["content"] == []
    assert page["total_count"] > 0


def test_one_bound_alone_is_enough(partner: Partner) -> None:
    total = partner.page("phone_calls")["total_count"]
    before = partner.page("phone_calls", end_date="2025-12-01")["total_count"]
    after = partner.page("phone_calls", start_date="2025-12-02")["total_count"]
    assert before + after == total


def test_an_unknown_outcome_matches_nothing(partner: Partner) -> None:
    """The contract promises a 400 only for direction, state and classification."""
    assert partner.page("phone_calls", outcome="sold")["total_count"] == 0


def test_signing_in_again_leaves_older_tokens_good(partner: Partner) -> None:
    first = partner.http.headers["Authorization"]
    partner.sign_in()
    partner.http.headers["Authorization"] = first
    assert partner.get("staff_tasks").status_code == 200


def test_an_unknown_path_gets_the_general_error_envelope(partner: Partner) -> None:
    answer = partner.get("nothing_here")
    assert answer.status_code == 404
    assert answer.json() == {"success": False, "message": "Not Found"}


def test_the_date_header_is_the_platforms_clock(partner: Partner) -> None:
    header = partner.get("staff_tasks").headers["Date"]
    assert header == partner.platform.now().strftime("%a, %d %b %Y %H:%M:%S GMT")
