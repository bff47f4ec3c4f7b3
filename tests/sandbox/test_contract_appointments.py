"""Contract: Appointment; List appointments; Create an appointment."""

from datetime import datetime, timedelta

from support.booking import booking
from support.breaking import edited, replaced, switched
from support.partner_side import Partner, Row, at_fault, made
from support.rules import rule
from support.shapes import ENDS_EARLIER, ISO, by_id, without

ALL = {"start_date": "2025-01-01"}
RECORD = "Resources / Appointment"
LIST = "Endpoints / List appointments"
CREATE = "Endpoints / Create an appointment"
FIELDS = {
    "id", "remote_id", "remote_client_id", "remote_patient_id", "status", "booking_date", "end_date",
    "created_at", "updated_at", "referral_source", "referral_campaign", "referral_medium",
    "client_first_name", "client_last_name", "client_email", "client_phone", "client_type", "patient_name",
}  # fmt: skip


@rule(RECORD, without("remote_patient_id"), without("client_type"))
def test_an_appointment_has_its_fields(partner: Partner) -> None:
    assert set(partner.page("appointments", **ALL)["content"][0]) == FIELDS
    assert set(made(partner.post("appointments", booking(partner)))) == FIELDS


@rule(
    RECORD,
    edited("resources.appointments:render", '"end_date",', 'pl.lit("later").alias("end_date"),'),
    says="times",
)
def test_its_times_are_date_times(partner: Partner) -> None:
    for row in partner.page("appointments", **ALL)["content"]:
        assert all(ISO.fullmatch(row[name]) for name in ("booking_date", "end_date", "created_at", "updated_at"))


@rule(
    RECORD,
    edited("server.appointments:create_appointment", 'made | {"id": int(row_id)}', "made"),
    says="id, created",
)
def test_the_id_is_an_integer_in_the_create_response(partner: Partner) -> None:
    assert isinstance(made(partner.post("appointments", booking(partner)))["id"], int)


@rule(RECORD, switched(integer_ids=True), says="id, listed")
def test_the_id_is_a_string_in_the_list(partner: Partner) -> None:
    assert all(isinstance(row["id"], str) for row in partner.page("appointments", **ALL)["content"])


@rule(
    LIST,
    edited(
        "resources.appointments:render",
        'remote_client_id="client_remote_client_id"',
        "remote_client_id=pl.lit(None)",
    ),
    says="remote_client_id",
    name="remote_client_id",
)
@rule(
    LIST,
    edited(
        "resources.appointments:render",
        'remote_patient_id="patient_remote_patient_id"',
        "remote_patient_id=pl.lit(None)",
    ),
    says="remote_patient_id",
    name="remote_patient_id",
)
def test_each_row_has_its_remote_ids(partner: Partner, name: str) -> None:
    assert all(row[name] for row in partner.page("appointments", **ALL)["content"])


@rule(
    LIST,
    edited("server.query:updated_range", "if start is not None:", "if False:"),
    edited("server.query:updated_range", "if end is not None:", "if False:"),
    says="updated_at",
)
def test_the_range_goes_by_updated_at(partner: Partner) -> None:
    """Whether its bounds are inclusive is not shown: they lie between two rows here."""
    rows = sorted(partner.everything("appointments", **ALL), key=lambda row: row["updated_at"])
    half = timedelta(milliseconds=0.5)
    first, last = (datetime.fromisoformat(rows[place]["updated_at"]) for place in (100, 129))
    wanted = [row for row in rows if first <= datetime.fromisoformat(row["updated_at"]) <= last]
    bounds = {"start_date": (first - half).isoformat(), "end_date": (last + half).isoformat()}
    assert by_id(partner.everything("appointments", **bounds)) == by_id(wanted)


@rule(LIST, ENDS_EARLIER, says="end defaults to the current date")
def test_a_range_without_end_reaches_the_present(partner: Partner) -> None:
    visit = made(partner.post("appointments", booking(partner)))
    assert str(visit["id"]) in by_id(partner.everything("appointments", start_date="2026-01-14T00:00:00Z"))


@rule(
    CREATE,
    edited("desk:Desk.create_appointment", '"booking_date": slot.start', '"booking_date": ground.now()'),
    edited("desk:Desk.create_appointment", '"end_date": slot.end', '"end_date": slot.start'),
    says="slot_id",
)
def test_an_appointment_takes_the_time_of_its_slot(partner: Partner) -> None:
    slot = partner.page("open_times")[0]
    visit = made(partner.post("appointments", booking(partner)))
    assert (visit["booking_date"], visit["end_date"]) == (slot["start"], slot["end"])


ONLY_DRAWN = edited("server.lists:_list", "order, chosen)", 'order, chosen & pl.col("written").is_null())')


@rule(CREATE, ONLY_DRAWN, says="kept")
def test_a_new_appointment_is_listed(partner: Partner) -> None:
    visit = made(partner.post("appointments", booking(partner)))
    rows = partner.everything("appointments", start_date="2026-01-15T00:00:00Z")
    assert visit | {"id": str(visit["id"])} in rows


def by_name(partner: Partner, **more: str) -> Row:
    """A client who can be told by name, found by what else is given."""
    client = next(row for row in partner.truth("clients") if row["email"] and row["name"].count(" ") == 1)
    first, last = client["name"].split()
    given = {name: client[name] for name in more}
    patient = int(client["patients"][0]["id"])
    return booking(partner, client_id=None, first_name=first, last_name=last, patient_id=patient, **given)


@rule(
    CREATE,
    edited("server.appointments:_client", "directory.client(str(number))", "None"),
    says="client: client_id",
)
def test_a_client_is_identified_by_id(partner: Partner) -> None:
    client = partner.truth("clients")[0]
    visit = made(partner.post("appointments", booking(partner)))
    assert visit["client_phone"] == client["phone"]


@rule(
    CREATE,
    edited(
        "directory:Directory.client_with_remote_id",
        'pl.col("remote_id") == remote_id',
        'pl.col("name") == remote_id',
    ),
    says="client: client_remote_id",
)
def test_a_client_is_identified_by_remote_id(partner: Partner) -> None:
    client = next(row for row in partner.truth("clients") if "-" not in row["remote_id"])
    patient = int(client["patients"][0]["id"])
    body = booking(partner, client_id=None, client_remote_id=client["remote_id"], patient_id=patient)
    assert made(partner.post("appointments", body))["client_phone"] == client["phone"]


@rule(
    CREATE,
    edited("directory:Directory.clients_named", 'pl.col("phone") == phone', "False"),
    says="name and phone",
    by="phone",
)
@rule(
    CREATE,
    edited("directory:Directory.clients_named", '_same("email", email)', "False"),
    says="name and email",
    by="email",
)
def test_a_client_is_identified_by_name_and_more(partner: Partner, by: str) -> None:
    assert partner.post("appointments", by_name(partner, **{by: ""})).status_code in (200, 201)


@rule(
    CREATE,
    edited("server.appointments:_client", "(phone is None and email is None)", "False"),
    says="a name alone is not enough",
)
def test_a_name_alone_identifies_nobody(partner: Partner) -> None:
    assert at_fault(partner.post("appointments", by_name(partner))) == [None]


@rule(
    CREATE,
    edited("server.appointments:_patient", "directory.patient(str(number))", "None"),
    says="patient: patient_id",
)
def test_a_patient_is_identified_by_id(partner: Partner) -> None:
    patient = partner.truth("clients")[0]["patients"][0]
    assert made(partner.post("appointments", booking(partner)))["patient_name"] == patient["name"]


@rule(
    CREATE,
    edited("directory:Directory.patient_with_remote_id", 'pl.col("remote_patient_id") == remote_id', "False"),
    says="patient: patient_remote_id",
)
def test_a_patient_is_identified_by_remote_id(partner: Partner) -> None:
    """The remote id is told by an appointment of the same patient."""
    first = made(partner.post("appointments", booking(partner)))
    body = booking(partner, patient_id=None, patient_remote_id=first["remote_patient_id"])
    assert made(partner.post("appointments", body))["patient_name"] == first["patient_name"]


@rule(
    CREATE,
    edited("server.appointments:create_appointment", 'body.text("note")', 'body.integer("note")'),
    says="note",
)
def test_an_appointment_may_have_a_note(partner: Partner) -> None:
    assert partner.post("appointments", booking(partner, note="Nervous with cats")).status_code in (200, 201)


SETTABLE = "States / Phone call state and appointment status"


@rule(
    SETTABLE,
    replaced("server.appointments:_STATUSES", ("ACCEPTED", "CONFIRMED")),
    says="REQUESTED",
    status="REQUESTED",
)
@rule(
    SETTABLE,
    replaced("server.appointments:_STATUSES", ("REQUESTED", "CONFIRMED")),
    says="ACCEPTED",
    status="ACCEPTED",
)
@rule(SETTABLE, edited("desk:Desk.create_appointment", "status or (", "("), says="CONFIRMED", status="CONFIRMED")
def test_the_status_can_be_given(partner: Partner, status: str) -> None:
    assert made(partner.post("appointments", booking(partner, status=status)))["status"] == status


AUTO = edited("desk:Desk.create_appointment", "if ground.switches.auto_accept else", "if True else")
MANUAL = edited("desk:Desk.create_appointment", "if ground.switches.auto_accept else", "if False else")


@rule(CREATE, MANUAL, says="status: auto-accept", accepts=True, status="ACCEPTED")
@rule(CREATE, AUTO, says="status: no auto-accept", accepts=False, status="REQUESTED")
def test_else_the_auto_accept_setting_decides(partner: Partner, *, accepts: bool, status: str) -> None:
    partner.platform.set(auto_accept=accepts)
    assert made(partner.post("appointments", booking(partner)))["status"] == status


@rule(
    CREATE,
    edited("server.appointments:_slot", '"slot_id", required=True', '"slot_id"'),
    says="slot_id is required",
    body={"slot_id": None, "status": "x"},
    fields=["slot_id", "status"],
)
@rule(
    CREATE,
    edited("server.appointments:_slot", 'body.fault("slot_id", "slot_id must', 'body.fault(None, "slot_id must'),
    says="slot_id is a slot's uuid",
    body={"slot_id": "slot_0000000000000000", "status": "x"},
    fields=["slot_id", "status"],
)
@rule(
    CREATE,
    edited("server.body:Body.integer", "not isinstance(value, int)", "not isinstance(value, int | str)"),
    says="client_id is an integer",
    body={"client_id": "10000001"},
    fields=["client_id"],
)
@rule(
    CREATE,
    edited("server.body:Body.integer", "not isinstance(value, int)", "not isinstance(value, int | str)"),
    says="patient_id is an integer",
    body={"patient_id": "10000001"},
    fields=["patient_id"],
)
@rule(
    CREATE,
    edited("server.appointments:_client", 'None, "Identify', "'client_id', \"Identify"),
    says="one of the client's",
    body={"client_id": None},
    fields=[None],
)
@rule(
    CREATE,
    edited("server.appointments:_patient", 'None, "Identify', "'patient_id', \"Identify"),
    says="one of the patient's",
    body={"patient_id": None},
    fields=[None],
)
@rule(
    CREATE,
    edited("server.appointments:create_appointment", 'body.choice("status", _STATUSES)', 'body.text("status")'),
    says="status",
    body={"status": "COMPLETED"},
    fields=["status"],
)
def test_an_appointment_that_cannot_be_is_refused(partner: Partner, body: Row, fields: list[str | None]) -> None:
    assert at_fault(partner.post("appointments", booking(partner, **body))) == fields
