"""Contract: Appointment; List appointments (proposed)."""

from collections.abc import Iterable
from datetime import timedelta

from support.partner_side import Partner, Row

ALL = {"start_date": "2025-01-01"}


def by_id(rows: Iterable[Row]) -> dict[str, Row]:
    return {row["id"]: row for row in rows}


def test_the_list_is_paged(partner: Partner) -> None:
    page = partner.page("appointments", **ALL)
    assert list(page) == ["page", "per_page", "total_pages", "total_count", "content"]


def test_a_record_has_the_contracts_fields_and_no_others(partner: Partner) -> None:
    assert set(partner.page("appointments", **ALL)["content"][0]) == {
        "id", "remote_id", "remote_client_id", "remote_patient_id", "status", "booking_date", "end_date",
        "created_at", "updated_at", "referral_source", "referral_campaign", "referral_medium",
        "client_first_name", "client_last_name", "client_email", "client_phone", "client_type", "patient_name",
    }  # fmt: skip


def test_ids_are_strings_in_the_list(partner: Partner) -> None:
    assert all(isinstance(row["id"], str) for row in partner.page("appointments", **ALL)["content"])


def test_the_pages_together_are_the_truth(partner: Partner) -> None:
    assert by_id(partner.everything("appointments", **ALL)) == by_id(partner.truth("appointments"))


def test_the_range_goes_by_updated_at(partner: Partner) -> None:
    rows = sorted(partner.truth("appointments"), key=lambda row: row["updated_at"])
    wanted = rows[100:130]
    read = partner.everything(
        "appointments", start_date=wanted[0]["updated_at"], end_date=wanted[-1]["updated_at"]
    )
    assert by_id(read) == by_id(wanted)


def test_a_page_holds_a_hundred_at_most(partner: Partner) -> None:
    assert partner.page("appointments", per_page=5000, **ALL)["per_page"] == 100


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
