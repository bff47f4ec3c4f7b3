"""The world's own rows: whole on their pages, true to the contract, and alive."""

from datetime import timedelta

import pytest
from support.partner_side import Partner, Row
from support.rows_by_id import by_id


@pytest.mark.parametrize("name", ["appointments", "staff_tasks"])
def test_updated_at_moves_with_every_change(partner: Partner, name: str) -> None:
    partner.platform.advance(timedelta(hours=27))
    before = by_id(partner.truth(name))
    partner.platform.advance(timedelta(days=4))
    after = by_id(partner.truth(name))
    changed = [key for key in before if before[key] != after[key]]
    assert changed
    assert all(before[key]["updated_at"] < after[key]["updated_at"] for key in changed)


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


@pytest.mark.parametrize("name", ["phone_calls", "ai_outbound", "staff_tasks"])
def test_people_that_rows_mention_exist(partner: Partner, name: str) -> None:
    clients = {client["id"] for client in partner.truth("clients")}
    patients = {patient["id"]: patient for patient in partner.truth("patients")}
    for row in partner.truth(name):
        assert row["client_id"] is None or row["client_id"] in clients
        assert row["patient_id"] is None or patients[row["patient_id"]]["client_id"] == row["client_id"]


def test_rows_are_of_every_kind(partner: Partner) -> None:
    sessions, appointments = partner.truth("booking_sessions"), partner.truth("appointments")
    assert {None, "", "google"} <= {session["referral_source"] for session in sessions}
    assert len({session["stage"] for session in sessions} - {"started"}) > 2
    assert {row["id"] for row in appointments} - {row["appointment_id"] for row in sessions}
    assert None in {row["client_email"] for row in appointments}
    clients = partner.truth("clients")
    names = " ".join(client["name"] for client in clients)
    assert all(part in names for part in ("O'Neill", "Zoë", "Nuñez"))
    assert {"-" in client["remote_id"] for client in clients} == {True, False}


def test_appointments_move_are_kept_and_are_missed(partner: Partner) -> None:
    before = by_id(partner.truth("appointments"))
    partner.platform.advance(timedelta(days=20))
    after = by_id(partner.truth("appointments"))
    statuses = {row["status"] for row in after.values()}
    assert {"ACCEPTED", "CONFIRMED", "COMPLETED", "CANCELED", "NO_SHOW"} <= statuses
    assert any(before[key]["booking_date"] != after[key]["booking_date"] for key in before)
