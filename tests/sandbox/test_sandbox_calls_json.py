"""Phone calls as JSON, where the contract leaves them open; all of them, as the truth has them."""

import pytest
from support.partner_side import Partner


def test_the_pages_together_are_the_truth(partner: Partner) -> None:
    read = partner.everything("phone_calls")
    assert sorted(read, key=lambda call: call["id"]) == sorted(
        partner.truth("phone_calls"), key=lambda call: call["id"]
    )


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
    """Only direction, state and classification are promised a 400."""
    assert partner.page("phone_calls", outcome="sold")["total_count"] == 0


def test_an_unknown_call_is_not_found(partner: Partner) -> None:
    assert partner.get("phone_calls/call_0123456789abcdef").status_code == 404
