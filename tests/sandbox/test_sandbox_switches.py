"""Every switch really changes the answers that a partner sees."""

import re
from datetime import datetime, timedelta
from typing import Any

import pytest
from support.partner_side import SIGN_IN, Partner, Query

from sandbox.switches import ListSwitches, Switches, UnknownSwitchError, patched

RANGED = {"booking_sessions": "booking_sessions", "appointments": "appointments"}
PATHS = RANGED | {"ai_outbound": "ai_outbound/requests", "staff_tasks": "staff_tasks"}
EARLY = {"start_date": "2025-01-01"}


def arguments(name: str, **others: Query) -> dict[str, Query]:
    return (EARLY if name in RANGED else {}) | others


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


def test_a_missing_or_foreign_practice_and_a_sign_in_may_get_other_statuses(partner: Partner) -> None:
    partner.http.headers["X-Client-Id"] = "loc-999"
    assert partner.get("staff_tasks").status_code == 403
    partner.platform.set(missing_practice_status=401, foreign_practice_status=404, sign_in_status=201)
    assert partner.get("staff_tasks").status_code == 404
    del partner.http.headers["X-Client-Id"]
    assert partner.get("staff_tasks").status_code == 401
    credentials = {name: getattr(partner.platform, name) for name in ("username", "password", "role")}
    assert partner.http.post(SIGN_IN, json=credentials).status_code == 201


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
@pytest.mark.parametrize("name", ["phone_calls", *PATHS])
def test_timestamps_come_in_their_switched_form(partner: Partner, name: str, form: str, pattern: str) -> None:
    before = {row["id"]: row for row in partner.truth(name)}
    partner.platform.set(timestamps=form)
    for row in partner.truth(name)[:50]:
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


@pytest.mark.parametrize("status", [404, 410, 501])
def test_appointments_may_be_withdrawn_and_nothing_else(partner: Partner, status: int) -> None:
    partner.platform.set(appointments_withdrawn=status)
    assert partner.get("appointments", **EARLY).status_code == status
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


def test_ids_may_be_integers(partner: Partner) -> None:
    partner.platform.set(integer_ids=True)
    assert all(isinstance(row["id"], int) for row in partner.page("appointments", **EARLY)["content"])
    calls = partner.page("phone_calls", direction="outbound")["content"]
    assert all(isinstance(call["client_id"], int) for call in calls)
    assert all(isinstance(call["id"], str) for call in calls)


@pytest.mark.parametrize(
    "patch", [{"x": 1}, {"staff_tasks": {"x": 1}}, {"staff_tasks": {"page_base": 2}}, {"timestamps": "?"}]
)
def test_there_are_no_other_switches(patch: dict[str, Any]) -> None:
    with pytest.raises(UnknownSwitchError):
        patched(Switches(), patch)


def test_a_patch_leaves_the_other_switches_alone() -> None:
    changed = patched(patched(Switches(), {"staff_tasks": {"page_base": 1}}), {"staff_tasks": {"default_size": 9}})
    assert changed.staff_tasks == ListSwitches(page_base=1, default_size=9)
    assert changed.appointments == Switches().appointments
