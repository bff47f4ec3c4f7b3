"""Contract: Phone call record; List phone calls (JSON); Get a phone call."""

from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from support.partner_side import Partner, Row

FIELDS = {
    "id", "created_at", "practice_name", "direction", "state", "caller_type", "client_id", "remote_client_id",
    "client_name", "patient_id", "remote_patient_id", "patient_name", "phone_number", "call_classification",
    "summary", "customer_sentiment", "outcome", "booked", "booking_intent", "duration_seconds",
}  # fmt: skip
BOOKED = {"appointment_booked", "appointment_rescheduled", "appointment_confirmed"}


def local_day(call: Row, zone: str) -> date:
    return datetime.fromisoformat(call["created_at"]).astimezone(ZoneInfo(zone)).date()


def test_the_envelope_is_the_contracts(partner: Partner) -> None:
    body = partner.get("phone_calls").json()
    assert list(body) == ["success", "data", "message"]
    assert body["message"] is None
    assert list(body["data"]) == ["page", "per_page", "total_pages", "total_count", "content"]


def test_a_record_has_the_contracts_fields_and_no_others(partner: Partner) -> None:
    assert set(partner.page("phone_calls")["content"][0]) == FIELDS


def test_pages_hold_fifty_by_default(partner: Partner) -> None:
    page = partner.page("phone_calls")
    assert (page["page"], page["per_page"], len(page["content"])) == (0, 50, 50)


def test_total_pages_follow_from_total_count(partner: Partner) -> None:
    page = partner.page("phone_calls", per_page=7)
    assert page["total_pages"] == -(-page["total_count"] // 7)


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


def test_days_are_whole_days_of_the_practice_and_both_ends_count(partner: Partner) -> None:
    zone = partner.platform.practices[0].time_zone
    first, last = date(2025, 11, 1), date(2025, 11, 3)
    read = partner.everything("phone_calls", start_date=str(first), end_date=str(last))
    wanted = [call for call in partner.truth("phone_calls") if first <= local_day(call, zone) <= last]
    assert {call["id"] for call in read} == {call["id"] for call in wanted}
    assert {local_day(call, zone) for call in read} == {first, first + timedelta(days=1), last}


def test_one_bound_alone_is_enough(partner: Partner) -> None:
    total = partner.page("phone_calls")["total_count"]
    before = partner.page("phone_calls", end_date="2025-12-01")["total_count"]
    after = partner.page("phone_calls", start_date="2025-12-02")["total_count"]
    assert before + after == total


@pytest.mark.parametrize("value", ["2025-1-5", "05/01/2025", "2025-01-05T00:00:00Z", "2025-02-30", "yesterday"])
def test_a_date_in_another_format_is_a_400(partner: Partner, value: str) -> None:
    assert partner.fields_at_fault("phone_calls", start_date=value) == ["start_date"]


@pytest.mark.parametrize("name", ["direction", "state", "call_classification"])
def test_an_unknown_enum_value_is_a_400_instead_of_matching_nothing(partner: Partner, name: str) -> None:
    assert partner.fields_at_fault("phone_calls", **{name: "sideways"}) == [name]


def test_every_offending_parameter_is_listed(partner: Partner) -> None:
    faults = partner.fields_at_fault("phone_calls", start_date="x", direction="y", page="z")
    assert set(faults) == {"start_date", "direction", "page"}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("direction", "outbound"),
        ("state", "completed"),
        ("call_classification", "emergency"),
        ("outcome", "resolved"),
    ],
)
def test_a_filter_lets_through_exactly_the_rows_with_its_value(partner: Partner, name: str, value: str) -> None:
    read = partner.everything("phone_calls", **{name: value})
    assert {call["id"] for call in read} == {
        call["id"] for call in partner.truth("phone_calls") if call[name] == value
    }


def test_repeated_outcomes_match_any(partner: Partner) -> None:
    wanted = ["declined", "forwarded"]
    read = partner.everything("phone_calls", **{"outcome[]": wanted})
    assert {call["outcome"] for call in read} == set(wanted)


def test_an_unknown_outcome_matches_nothing(partner: Partner) -> None:
    """Only direction, state and classification are promised a 400."""
    assert partner.page("phone_calls", outcome="sold")["total_count"] == 0


@pytest.mark.parametrize("wanted", [True, False])
def test_the_boolean_filter_divides_the_calls(partner: Partner, *, wanted: bool) -> None:
    read = partner.everything("phone_calls", booking_intent=str(wanted).lower())
    assert {call["booking_intent"] for call in read} == {wanted}
    assert len(read) == sum(call["booking_intent"] is wanted for call in partner.truth("phone_calls"))


def test_the_client_filter_gets_the_calls_of_one_client(partner: Partner) -> None:
    client_id = next(call["client_id"] for call in partner.truth("phone_calls") if call["client_id"])
    read = partner.everything("phone_calls", client_id=client_id)
    assert {call["client_id"] for call in read} == {client_id}


def test_booked_follows_from_the_outcome(partner: Partner) -> None:
    assert all(call["booked"] == (call["outcome"] in BOOKED) for call in partner.truth("phone_calls"))


def test_booking_intent_holds_for_scheduling_calls_and_booked_ones(partner: Partner) -> None:
    calls = partner.truth("phone_calls")
    assert all(
        call["booking_intent"] for call in calls if call["booked"] or call["call_classification"] == "scheduling"
    )
    by_tool_alone = [
        call
        for call in calls
        if call["booking_intent"] and not call["booked"] and call["call_classification"] != "scheduling"
    ]
    assert by_tool_alone


def test_unknown_callers_have_no_client(partner: Partner) -> None:
    calls = partner.truth("phone_calls")
    assert all((call["client_id"] is None) == (call["caller_type"] == "unknown") for call in calls)
    assert {call["caller_type"] for call in calls} == {"existing", "new", "unknown"}


def test_remote_client_ids_are_qualified_with_the_server_id(partner: Partner) -> None:
    call = next(call for call in partner.truth("phone_calls") if call["client_id"])
    assert call["remote_client_id"].endswith(f"-{partner.platform.practices[0].server_id}")


def test_a_call_is_got_directly_under_data(partner: Partner) -> None:
    call = partner.truth("phone_calls")[5]
    body = partner.get(f"phone_calls/{call['id']}").json()
    assert body == {"success": True, "data": call, "message": None}


def test_an_unknown_call_is_not_found(partner: Partner) -> None:
    assert partner.get("phone_calls/call_0123456789abcdef").status_code == 404
