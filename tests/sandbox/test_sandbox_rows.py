"""The world's own rows: whole on their pages, true to the contract, and alive."""

from datetime import datetime, timedelta

import pytest
from support.partner_side import Partner, Row
from support.rows_by_id import by_id

ALL = {"start_date": "2025-01-01"}
LISTS = {
    "phone_calls": ("phone_calls", {}),
    "booking_sessions": ("booking_sessions", ALL),
    "appointments": ("appointments", ALL),
    "staff_tasks": ("staff_tasks", {}),
}


def instant(text: str) -> datetime:
    return datetime.fromisoformat(text)


@pytest.mark.parametrize("name", LISTS)
def test_the_pages_together_are_the_truth(partner: Partner, name: str) -> None:
    path, query = LISTS[name]
    assert by_id(partner.everything(path, **query)) == by_id(partner.truth(name))


@pytest.mark.parametrize("name", ["appointments", "staff_tasks"])
def test_updated_at_moves_with_every_change(partner: Partner, name: str) -> None:
    partner.platform.advance(timedelta(hours=27))
    before = by_id(partner.truth(name))
    partner.platform.advance(timedelta(days=4))
    after = by_id(partner.truth(name))
    changed = [key for key in before if before[key] != after[key]]
    assert changed
    assert all(before[key]["updated_at"] < after[key]["updated_at"] for key in changed)


def test_a_range_without_start_is_a_400(partner: Partner) -> None:
    assert partner.fields_at_fault("booking_sessions") == ["start_date"]


def test_a_bound_that_is_no_time_is_a_400(partner: Partner) -> None:
    assert partner.fields_at_fault("booking_sessions", start_date="soon", end_date="later") == [
        "start_date",
        "end_date",
    ]


def test_an_offset_in_a_bound_counts(partner: Partner) -> None:
    start = sorted(row["updated_at"] for row in partner.truth("booking_sessions"))[-5]
    elsewhere = instant(start).astimezone(partner.platform.practices[2].zone).isoformat()
    assert len(partner.everything("booking_sessions", start_date=elsewhere)) == 5


def test_an_unknown_status_is_a_400(partner: Partner) -> None:
    assert partner.fields_at_fault("booking_sessions", status="asleep", **ALL) == ["status"]


def test_completed_means_that_there_is_an_appointment(partner: Partner) -> None:
    appointments = by_id(partner.truth("appointments"))
    for session in partner.truth("booking_sessions"):
        assert (session["status"] == "completed") == (session["appointment_id"] is not None)
        if session["appointment_id"]:
            appointment = appointments[session["appointment_id"]]
            assert appointment["created_at"] >= session["created_at"]
            assert appointment["referral_source"] == session["referral_source"]


def test_an_active_session_expires_without_its_updated_at_moving(partner: Partner) -> None:
    partner.platform.advance(timedelta(hours=1))
    active = partner.platform.insert("loc-001", "booking_sessions", {"stage": "started"})
    before = partner.page(f"booking_sessions/{active}")
    partner.platform.advance(timedelta(minutes=31))
    after = partner.page(f"booking_sessions/{active}")
    assert (before["status"], after["status"]) == ("active", "abandoned")
    assert before["updated_at"] == after["updated_at"]


def test_drawn_sessions_expire_too(partner: Partner) -> None:
    """The test writes nothing: a session of the world itself goes from active to abandoned."""
    seen: dict[str, Row] = {}
    for _ in range(200):
        partner.platform.advance(timedelta(minutes=10))
        for session in partner.everything("booking_sessions", start_date="2026-01-15T17:00:00Z"):
            earlier = seen.setdefault(session["id"], session)
            if earlier["status"] == "active" and session["status"] == "abandoned":
                assert earlier["updated_at"] <= session["updated_at"]
                return
            seen[session["id"]] = session
    pytest.fail("no session expired in a day and a half")


def test_some_sessions_complete_hours_after_they_began(partner: Partner) -> None:
    late = [
        session
        for session in partner.truth("booking_sessions")
        if session["appointment_id"]
        and instant(session["last_activity_at"]) - instant(session["created_at"]) > timedelta(hours=1)
    ]
    assert late


def test_sources_are_missing_empty_and_given(partner: Partner) -> None:
    sources = {session["referral_source"] for session in partner.truth("booking_sessions")}
    assert {None, "", "google"} <= sources


def test_there_are_several_stages(partner: Partner) -> None:
    stages = {session["stage"] for session in partner.truth("booking_sessions")}
    assert "started" in stages
    assert len(stages) > 3


def test_appointments_move_are_kept_and_are_missed(partner: Partner) -> None:
    partner.platform.advance(timedelta(days=20))
    statuses = {row["status"] for row in partner.truth("appointments")}
    assert {"ACCEPTED", "CONFIRMED", "COMPLETED", "CANCELED", "NO_SHOW"} <= statuses


def test_some_appointments_are_rescheduled(partner: Partner) -> None:
    before = by_id(partner.truth("appointments"))
    partner.platform.advance(timedelta(days=10))
    after = by_id(partner.truth("appointments"))
    assert any(before[key]["booking_date"] != after[key]["booking_date"] for key in before)


def test_not_every_appointment_comes_from_a_session(partner: Partner) -> None:
    from_sessions = {session["appointment_id"] for session in partner.truth("booking_sessions")}
    assert {row["id"] for row in partner.truth("appointments")} - from_sessions


def test_there_is_no_get_by_id(partner: Partner) -> None:
    row = partner.truth("appointments")[0]
    assert partner.get(f"appointments/{row['id']}").status_code == 404


def test_some_clients_have_no_email(partner: Partner) -> None:
    assert None in {row["client_email"] for row in partner.truth("appointments")}


def test_some_tasks_are_taken_up_again_and_finalized_again(partner: Partner) -> None:
    reopened: set[str] = set()
    finalized_again: set[str] = set()
    before = by_id(partner.truth("staff_tasks"))
    for _ in range(40):
        partner.platform.advance(timedelta(hours=6))
        now = by_id(partner.truth("staff_tasks"))
        for key, task in before.items():
            if task["status"] != "pending" and now[key]["status"] == "pending":
                reopened.add(key)
            if key in reopened and task["status"] == "pending" and now[key]["status"] != "pending":
                finalized_again.add(key)
        before = now
    assert reopened
    assert finalized_again


def test_a_final_task_may_be_edited_without_any_total_moving(partner: Partner) -> None:
    practices = [practice.id for practice in partner.platform.practices]
    before = by_id([row for practice in practices for row in partner.platform.truth(practice, "staff_tasks")])
    partner.platform.advance(timedelta(days=8))
    after = by_id([row for practice in practices for row in partner.platform.truth(practice, "staff_tasks")])
    assert any(
        before[key]["status"] == after[key]["status"] != "pending"
        and before[key]["finalized_at"] == after[key]["finalized_at"]
        and before[key]["updated_at"] != after[key]["updated_at"]
        for key in before
    )


@pytest.mark.parametrize("path", ["clients/1", "clients/x", "patients/99999999999999999999"])
def test_unknown_people_are_not_found(partner: Partner, path: str) -> None:
    assert partner.get(path).status_code == 404


@pytest.mark.parametrize("name", ["phone_calls", "ai_outbound", "staff_tasks"])
def test_people_that_rows_mention_exist(partner: Partner, name: str) -> None:
    clients = {client["id"] for client in partner.truth("clients")}
    patients = {patient["id"]: patient for patient in partner.truth("patients")}
    for row in partner.truth(name):
        assert row["client_id"] is None or row["client_id"] in clients
        assert row["patient_id"] is None or patients[row["patient_id"]]["client_id"] == row["client_id"]


def test_names_have_accents_and_apostrophes(partner: Partner) -> None:
    names = " ".join(client["name"] for client in partner.truth("clients"))
    assert all(part in names for part in ("O'Neill", "Zoë", "Nuñez"))


def test_a_clients_remote_id_may_lack_the_servers_suffix(partner: Partner) -> None:
    suffixed = [("-" in client["remote_id"]) for client in partner.truth("clients")]
    assert any(suffixed)
    assert not all(suffixed)
