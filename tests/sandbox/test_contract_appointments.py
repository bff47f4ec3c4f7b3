"""Contract: Appointment; List appointments; Create an appointment."""

import pytest
from support.partner_requests import booking
from support.partner_side import Partner, Row, at_fault, made


def test_a_new_appointment_takes_the_time_of_its_slot_and_is_listed(partner: Partner) -> None:
    """Its id is an integer in the create response and a string in the list."""
    slot = partner.page("open_times")[0]
    visit = made(partner.post("appointments", booking(partner)))
    assert isinstance(visit["id"], int)
    assert (visit["booking_date"], visit["end_date"]) == (slot["start"], slot["end"])
    rows = partner.everything("appointments", start_date="2025-01-01")
    assert visit | {"id": str(visit["id"])} in rows
    assert all(row["remote_client_id"] and row["remote_patient_id"] for row in rows)


def named_client(partner: Partner) -> tuple[Row, Row]:
    """Return a client with a unique name and without a server's id, and the fields that name the client."""
    client = next(
        row
        for row in partner.truth("clients")
        if row["email"] and row["name"].count(" ") == 1 and "-" not in row["remote_id"]
    )
    first, last = client["name"].split()
    return client, {"first_name": first, "last_name": last}


@pytest.mark.parametrize("by", ["client_id", "client_remote_id", "phone", "email"])
def test_a_client_is_identified_by_one_of_two_ids_or_by_name_and_more(partner: Partner, by: str) -> None:
    client, name = named_client(partner)
    who = {
        "client_id": {"client_id": int(client["id"])},
        "client_remote_id": {"client_remote_id": client["remote_id"]},
        "phone": {**name, "phone": client["phone"]},
        "email": {**name, "email": client["email"]},
    }
    body = booking(partner, client_id=None, patient_id=int(client["patients"][0]["id"])) | who[by]
    assert made(partner.post("appointments", body))["client_phone"] == client["phone"]


def test_a_name_alone_identifies_nobody(partner: Partner) -> None:
    _, name = named_client(partner)
    assert at_fault(partner.post("appointments", booking(partner, client_id=None, **name))) == [None]


def test_a_patient_is_identified_by_either_id(partner: Partner) -> None:
    """The remote id comes from an appointment of the same patient."""
    patient = partner.truth("clients")[0]["patients"][0]
    first = made(partner.post("appointments", booking(partner)))
    body = booking(partner, patient_id=None, patient_remote_id=first["remote_patient_id"])
    again = made(partner.post("appointments", body))
    assert first["patient_name"] == again["patient_name"] == patient["name"]


@pytest.mark.parametrize(
    ("accepts", "given", "status"),
    [
        (True, None, "ACCEPTED"),
        (False, None, "REQUESTED"),
        (True, "REQUESTED", "REQUESTED"),
        (False, "ACCEPTED", "ACCEPTED"),
        (False, "CONFIRMED", "CONFIRMED"),
    ],
)
def test_the_status_can_be_given_and_else_the_auto_accept_setting_decides(
    partner: Partner, *, accepts: bool, given: str | None, status: str
) -> None:
    partner.platform.set(auto_accept=accepts)
    assert made(partner.post("appointments", booking(partner, status=given)))["status"] == status
