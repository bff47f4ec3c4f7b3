"""Every switch really changes the answers that a partner sees."""

import re
from datetime import datetime, timedelta

import pytest
from support.partner_side import Partner
from support.rows_by_id import by_id

EARLY = {"start_date": "2025-01-01"}


def test_unordered_is_a_fixed_order_without_meaning(partner: Partner) -> None:
    partner.platform.set(staff_tasks={"order": "unordered"})
    read = partner.everything("staff_tasks")
    for key in ("created_at", "updated_at", "id"):
        values = [row[key] for row in read]
        assert values not in (sorted(values), sorted(values, reverse=True))
    assert read == partner.everything("staff_tasks")
    assert len({row["id"] for row in read}) == len(partner.truth("staff_tasks"))


def test_the_calls_own_filters_go_by_their_switched_names(partner: Partner) -> None:
    partner.platform.set(booking_intent_parameter="wants_booking", client_parameter="client")
    client_id = next(call["client_id"] for call in partner.truth("phone_calls") if call["client_id"])
    assert all(call["booking_intent"] for call in partner.page("phone_calls", wants_booking="true")["content"])
    assert {call["client_id"] for call in partner.page("phone_calls", client=client_id)["content"]} == {client_id}
    whole = partner.page("phone_calls")["total_count"]
    assert partner.page("phone_calls", booking_intent="true", client_id=client_id)["total_count"] == whole


def test_a_token_ends_with_its_lifetime_by_the_platforms_clock(partner: Partner) -> None:
    partner.platform.set(token_lifetime_seconds=60)
    partner.sign_in()
    partner.platform.advance(timedelta(seconds=59))
    assert partner.get("staff_tasks").status_code == 200
    partner.platform.advance(timedelta(seconds=1))
    assert partner.get("staff_tasks").status_code == 401


@pytest.mark.parametrize(
    ("form", "pattern"),
    [
        ("milliseconds", r"\.\d{3}Z$"),
        ("seconds", r"T\d\d:\d\d:\d\dZ$"),
        ("microseconds", r"\.\d{6}Z$"),
        ("offset", r"\.\d{3}\+00:00$"),
        ("practice", r"\.\d{3}-0[45]:00$"),
    ],
)
def test_timestamps_come_in_their_switched_form(partner: Partner, form: str, pattern: str) -> None:
    before = by_id(partner.truth("staff_tasks"))
    partner.platform.set(timestamps=form)
    for row in partner.truth("staff_tasks")[:50]:
        assert re.search(pattern, row["created_at"])
        switched, usual = (
            datetime.fromisoformat(text) for text in (row["created_at"], before[row["id"]]["created_at"])
        )
        assert abs(switched - usual) < timedelta(seconds=1)


def test_sessions_expire_after_their_switched_time(partner: Partner) -> None:
    active = partner.page("booking_sessions", status="active", **EARLY)["total_count"]
    partner.platform.set(session_expiry_minutes=24 * 60)
    assert partner.page("booking_sessions", status="active", **EARLY)["total_count"] > active
    partner.platform.set(session_expiry_minutes=0)
    assert partner.page("booking_sessions", status="active", **EARLY)["total_count"] == 0


def test_appointments_may_be_withdrawn_and_nothing_else(partner: Partner) -> None:
    partner.platform.set(appointments_withdrawn=410)
    assert partner.get("appointments", **EARLY).status_code == 410
    assert partner.get("booking_sessions", **EARLY).status_code == 200


def test_the_csv_may_have_other_labels_and_line_ends(partner: Partner) -> None:
    query = {"format": "csv", "state": "no_answer", "per_page": 1}
    usual = partner.get("phone_calls", **query).text
    partner.platform.set(csv_labels="humanized", csv_newline="\r\n")
    other = partner.get("phone_calls", **query).text
    assert ",no_answer," in usual
    assert ",No answer," in other
    assert ",no_answer," not in other
    assert ",Duration\r\n" in other
