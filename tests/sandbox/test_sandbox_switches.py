"""Every switch really changes the answers that a partner sees."""

import re
from datetime import datetime, timedelta
from typing import Any

import pytest
from support.partner_side import SIGN_IN, Partner, Query, Row

from sandbox.switches import ListSwitches, Switches, UnknownSwitchError, patched

RANGED = {"booking_sessions": "booking_sessions", "appointments": "appointments"}
PATHS = RANGED | {"ai_outbound": "ai_outbound/requests", "staff_tasks": "staff_tasks"}
EARLY = {"start_date": "2025-01-01"}


def arguments(name: str, **others: Query) -> dict[str, Query]:
    return (EARLY if name in RANGED else {}) | others


@pytest.mark.parametrize(("name", "path"), PATHS.items())
def test_page_and_size_go_by_their_switched_names(partner: Partner, name: str, path: str) -> None:
    partner.platform.set(**{name: {"page": "pageNumber", "per_page": "limit"}})
    page = partner.page(path, **arguments(name, pageNumber=1, limit=3, page=7, per_page=9))
    assert (page["page"], page["per_page"], len(page["content"])) == (1, 3, 3)


@pytest.mark.parametrize(("name", "path"), RANGED.items())
def test_bounds_go_by_their_switched_names(partner: Partner, name: str, path: str) -> None:
    partner.platform.set(**{name: {"start": "updated_from", "end": "updated_to"}})
    assert partner.fields_at_fault(path, start_date="2026-01-01") == ["updated_from"]
    assert partner.page(path, updated_from="2025-01-01", updated_to="2025-01-02")["total_count"] == 0


def test_the_status_goes_by_its_switched_name(partner: Partner) -> None:
    partner.platform.set(staff_tasks={"status": "state"})
    whole = partner.page("staff_tasks")["total_count"]
    assert partner.page("staff_tasks", status="pending")["total_count"] == whole
    assert partner.page("staff_tasks", state="pending")["total_count"] < whole


@pytest.mark.parametrize(("name", "path"), PATHS.items())
def test_pages_may_count_from_one(partner: Partner, name: str, path: str) -> None:
    first = partner.page(path, **arguments(name, per_page=5))["content"]
    partner.platform.set(**{name: {"page_base": 1}})
    page = partner.page(path, **arguments(name, per_page=5, page=1))
    assert page["content"] == first
    assert page["page"] == 1
    assert partner.fields_at_fault(path, **arguments(name, page=0)) == ["page"]


@pytest.mark.parametrize("newest_first", [True, False])
@pytest.mark.parametrize("field", ["created", "updated"])
@pytest.mark.parametrize("name", ["booking_sessions", "appointments", "staff_tasks"])
def test_lists_come_in_their_switched_order_and_size(
    partner: Partner, name: str, field: str, *, newest_first: bool
) -> None:
    partner.platform.set(**{name: {"order": f"{field}_{'desc' if newest_first else 'asc'}", "default_size": 20}})
    assert partner.page(name, **arguments(name))["per_page"] == 20
    values = [row[f"{field}_at"] for row in partner.everything(name, **arguments(name))]
    assert values == sorted(values, reverse=newest_first)


def test_calls_come_in_their_switched_order(partner: Partner) -> None:
    partner.platform.set(phone_calls={"order": "created_asc"})
    values = [row["created_at"] for row in partner.page("phone_calls")["content"]]
    assert values == sorted(values)


def test_unordered_is_a_fixed_order_without_meaning(partner: Partner) -> None:
    partner.platform.set(staff_tasks={"order": "unordered"})
    read = partner.everything("staff_tasks")
    for key in ("created_at", "updated_at", "id"):
        values = [row[key] for row in read]
        assert values not in (sorted(values), sorted(values, reverse=True))
    assert read == partner.everything("staff_tasks")
    assert len({row["id"] for row in read}) == len(partner.truth("staff_tasks"))


@pytest.mark.parametrize(("name", "path"), (PATHS | {"phone_calls": "phone_calls"}).items())
def test_an_over_large_page_is_made_smaller_or_refused(partner: Partner, name: str, path: str) -> None:
    assert partner.page(path, **arguments(name, per_page=101))["per_page"] == 100
    partner.platform.set(**{name: {"over_large": "refuse"}})
    assert partner.fields_at_fault(path, **arguments(name, per_page=101)) == ["per_page"]


@pytest.mark.parametrize(("bounds", "kept"), [("[]", 3), ("[)", 2), ("(]", 2), ("()", 1)])
@pytest.mark.parametrize("name", RANGED)
def test_bounds_are_inclusive_or_not(partner: Partner, name: str, bounds: str, kept: int | None) -> None:
    stamps = sorted({row["updated_at"] for row in partner.truth(name)})[20:23]
    partner.platform.set(**{name: {"bounds": bounds}})
    read = partner.everything(name, start_date=stamps[0], end_date=stamps[-1])
    assert {row["updated_at"] for row in read} <= set(stamps)
    assert len({row["updated_at"] for row in read}) == kept


@pytest.mark.parametrize("name", RANGED)
def test_the_time_of_day_of_a_bound_may_not_count(partner: Partner, name: str) -> None:
    partner.platform.set(**{name: {"granularity": "day"}})
    read = partner.everything(name, start_date="2025-12-10T15:00:00Z", end_date="2025-12-11T03:00:00Z")
    assert {row["updated_at"][:10] for row in read} == {"2025-12-10", "2025-12-11"}
    wanted = [row for row in partner.truth(name) if row["updated_at"][:10] in ("2025-12-10", "2025-12-11")]
    assert len(read) == len(wanted)


@pytest.mark.parametrize("name", RANGED)
def test_bounds_with_a_time_of_day_may_be_refused(partner: Partner, name: str) -> None:
    partner.platform.set(**{name: {"instants": "refused"}})
    assert partner.fields_at_fault(PATHS[name], start_date="2025-12-10T15:00:00Z") == ["start_date"]
    read = partner.everything(name, start_date="2025-12-10", end_date="2025-12-10")
    assert {row["updated_at"][:10] for row in read} == {"2025-12-10"}


@pytest.mark.parametrize("zone", ["UTC", "practice"])
def test_days_are_utc_days_or_the_practices(partner: Partner, zone: str) -> None:
    partner.platform.set(appointments={"day_zone": zone})
    read = partner.everything("appointments", start_date="2025-12-10", end_date="2025-12-10")
    shown = {"UTC": None, "practice": partner.platform.practices[0].zone}[zone]

    def day(row: Row) -> str:
        moment = datetime.fromisoformat(row["updated_at"])
        return str((moment.astimezone(shown) if shown else moment).date())

    assert {day(row) for row in read} == {"2025-12-10"}
    assert len(read) == sum(day(row) == "2025-12-10" for row in partner.truth("appointments"))


def test_a_time_without_offset_is_in_the_zone_of_days(partner: Partner) -> None:
    bounds = {"start_date": "2025-12-10T00:00:00", "end_date": "2025-12-10T23:59:59.999"}
    utc = partner.page("appointments", **bounds)["total_count"]
    day = partner.page("appointments", start_date="2025-12-10", end_date="2025-12-10")["total_count"]
    partner.platform.set(appointments={"day_zone": "practice"})
    assert utc == day
    assert (
        partner.page("appointments", **bounds)["total_count"]
        == partner.page("appointments", start_date="2025-12-10", end_date="2025-12-10")["total_count"]
    )


@pytest.mark.parametrize("name", RANGED)
def test_the_start_may_be_optional(partner: Partner, name: str) -> None:
    partner.platform.set(**{name: {"start_required": False}})
    assert partner.page(name)["total_count"] == len(partner.truth(name))


@pytest.mark.parametrize(("reaction", "kept"), [("nothing", 0), ("everything", None)])
@pytest.mark.parametrize("name", ["booking_sessions", "ai_outbound", "staff_tasks"])
def test_an_unknown_status_may_match_nothing_or_be_passed_over(
    partner: Partner, name: str, reaction: str, kept: int | None
) -> None:
    partner.platform.set(**{name: {"unknown_status": reaction}})
    total = partner.page(PATHS[name], **arguments(name, status="asleep"))["total_count"]
    assert total == (len(partner.truth(name)) if kept is None else kept)


@pytest.mark.parametrize("path", [*PATHS.values(), "phone_calls"])
def test_unknown_parameters_are_passed_over_or_refused(partner: Partner, path: str) -> None:
    early = EARLY if path in RANGED else {}
    assert partner.get(path, colour="red", **early).status_code == 200
    partner.platform.set(unknown_parameters="refused")
    assert partner.fields_at_fault(path, colour="red", **early) == ["colour"]
    assert partner.get(path, **early).status_code == 200


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
