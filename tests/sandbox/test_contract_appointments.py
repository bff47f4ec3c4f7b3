"""Contract: Appointment; List appointments; Create an appointment."""

from support.booking import booking
from support.contract_breaks import accepts, hears, rows, shows, switched
from support.partner_side import Partner, Row, at_fault, made
from support.rules import broken_as, broken_by, rule

ALL = {"start_date": "2025-01-01"}
RECORD = "Resources / Appointment"
LIST = "Endpoints / List appointments"
CREATE = "Endpoints / Create an appointment"


@rule(RECORD, says="id, created")
@broken_by(shows("appointments", method="POST", id=lambda row: str(row["id"])))
def test_the_id_is_an_integer_in_the_create_response(partner: Partner) -> None:
    assert isinstance(made(partner.post("appointments", booking(partner)))["id"], int)


@rule(RECORD, says="id, listed")
@broken_by(switched(integer_ids=True))
def test_the_id_is_a_string_in_the_list(partner: Partner) -> None:
    assert all(isinstance(row["id"], str) for row in partner.page("appointments", **ALL)["content"])


@rule(LIST, says="remote_client_id", name="remote_client_id")
@rule(LIST, says="remote_patient_id", name="remote_patient_id")
@broken_as(lambda name: shows("appointments", **{name: None}))
def test_each_row_has_its_remote_ids(partner: Partner, name: str) -> None:
    assert all(row[name] for row in partner.page("appointments", **ALL)["content"])


@rule(CREATE, says="slot_id")
@broken_by(shows("appointments", method="POST", end_date=lambda row: row["booking_date"]))
def test_an_appointment_takes_the_time_of_its_slot(partner: Partner) -> None:
    slot = partner.page("open_times")[0]
    visit = made(partner.post("appointments", booking(partner)))
    assert (visit["booking_date"], visit["end_date"]) == (slot["start"], slot["end"])


@rule(CREATE, says="kept")
@broken_by(rows("appointments", lambda content: content[1:]))
def test_a_new_appointment_is_listed(partner: Partner) -> None:
    visit = made(partner.post("appointments", booking(partner)))
    rows = partner.everything("appointments", start_date="2026-01-15T00:00:00Z")
    assert visit | {"id": str(visit["id"])} in rows


def by_name(partner: Partner, **more: str) -> Row:
    """Return a client with a unique name, found with the other given values."""
    client = next(row for row in partner.truth("clients") if row["email"] and row["name"].count(" ") == 1)
    first, last = client["name"].split()
    given = {name: client[name] for name in more}
    patient = int(client["patients"][0]["id"])
    return booking(partner, client_id=None, first_name=first, last_name=last, patient_id=patient, **given)


@rule(CREATE, says="client: client_id")
@broken_by(shows("appointments", method="POST", client_phone=None))
def test_a_client_is_identified_by_id(partner: Partner) -> None:
    client = partner.truth("clients")[0]
    visit = made(partner.post("appointments", booking(partner)))
    assert visit["client_phone"] == client["phone"]


@rule(CREATE, says="client: client_remote_id")
@broken_by(shows("appointments", method="POST", client_phone=None))
def test_a_client_is_identified_by_remote_id(partner: Partner) -> None:
    client = next(row for row in partner.truth("clients") if "-" not in row["remote_id"])
    patient = int(client["patients"][0]["id"])
    body = booking(partner, client_id=None, client_remote_id=client["remote_id"], patient_id=patient)
    assert made(partner.post("appointments", body))["client_phone"] == client["phone"]


@rule(CREATE, says="name and phone", by="phone")
@rule(CREATE, says="name and email", by="email")
@broken_by(hears("appointments", first_name="Nobody"))
def test_a_client_is_identified_by_name_and_more(partner: Partner, by: str) -> None:
    assert partner.post("appointments", by_name(partner, **{by: ""})).status_code in (200, 201)


@rule(CREATE, says="a name alone is not enough")
@broken_by(accepts())
def test_a_name_alone_identifies_nobody(partner: Partner) -> None:
    assert at_fault(partner.post("appointments", by_name(partner))) == [None]


@rule(CREATE, says="patient: patient_id")
@broken_by(shows("appointments", method="POST", patient_name="Nobody"))
def test_a_patient_is_identified_by_id(partner: Partner) -> None:
    patient = partner.truth("clients")[0]["patients"][0]
    assert made(partner.post("appointments", booking(partner)))["patient_name"] == patient["name"]


@rule(CREATE, says="patient: patient_remote_id")
@broken_by(shows("appointments", method="POST", patient_name=lambda row: str(row["id"])))
def test_a_patient_is_identified_by_remote_id(partner: Partner) -> None:
    """The remote id comes from an appointment of the same patient."""
    first = made(partner.post("appointments", booking(partner)))
    body = booking(partner, patient_id=None, patient_remote_id=first["remote_patient_id"])
    assert made(partner.post("appointments", body))["patient_name"] == first["patient_name"]


@rule(CREATE, says="note")
@broken_by(hears("appointments", note=7))
def test_an_appointment_may_have_a_note(partner: Partner) -> None:
    assert partner.post("appointments", booking(partner, note="Nervous with cats")).status_code in (200, 201)


SETTABLE = "States / Phone call state and appointment status"


@rule(SETTABLE, says="REQUESTED", status="REQUESTED")
@rule(SETTABLE, says="ACCEPTED", status="ACCEPTED")
@rule(SETTABLE, says="CONFIRMED", status="CONFIRMED")
@broken_by(shows("appointments", method="POST", status="NO_SHOW"))
def test_the_status_can_be_given(partner: Partner, status: str) -> None:
    assert made(partner.post("appointments", booking(partner, status=status)))["status"] == status


@rule(CREATE, says="status: auto-accept", accepts=True, status="ACCEPTED")
@rule(CREATE, says="status: no auto-accept", accepts=False, status="REQUESTED")
@broken_by(shows("appointments", method="POST", status="CONFIRMED"))
def test_else_the_auto_accept_setting_decides(partner: Partner, *, accepts: bool, status: str) -> None:
    partner.platform.set(auto_accept=accepts)
    assert made(partner.post("appointments", booking(partner)))["status"] == status
