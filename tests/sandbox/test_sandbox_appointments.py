"""The world's appointments."""

from collections.abc import Iterable
from datetime import timedelta

from support.partner_side import Partner, Row

ALL = {"start_date": "2025-01-01"}


def by_id(rows: Iterable[Row]) -> dict[str, Row]:
    return {row["id"]: row for row in rows}


def test_the_pages_together_are_the_truth(partner: Partner) -> None:
    assert by_id(partner.everything("appointments", **ALL)) == by_id(partner.truth("appointments"))


def test_updated_at_moves_with_every_change(partner: Partner) -> None:
    before = by_id(partner.truth("appointments"))
    partner.platform.advance(timedelta(days=3))
    after = by_id(partner.truth("appointments"))
    changed = [key for key in before if before[key] != after[key]]
    assert changed
    assert all(before[key]["updated_at"] < after[key]["updated_at"] for key in changed)


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
