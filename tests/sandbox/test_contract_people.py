"""Contract: Client and patient; Clients and patients."""

from support.contract_breaks import GONE, accepts, answers, asks, rows, shows
from support.partner_side import Partner, Row
from support.rules import broken_as, broken_by, rule

RECORD, ENDPOINTS = "Resources / Client and patient", "Endpoints / Clients and patients"


def found(partner: Partner, path: str, **query: str) -> list[Row]:
    rows = partner.page(path, **query)
    assert isinstance(rows, list)
    return rows


def with_pets(partner: Partner, number: int = 2) -> Row:
    return next(client for client in found(partner, "clients", name="a") if len(client["patients"]) >= number)


@rule(RECORD, says="client")
@broken_by(shows("clients", remote_id=7))
def test_the_fields_of_a_client_are_texts(partner: Partner) -> None:
    client = with_pets(partner)
    texts = {name: value for name, value in client.items() if name != "patients" and value is not None}
    assert all(isinstance(value, str) for value in texts.values())


@rule(RECORD, says="patient")
@broken_by(shows("clients", patients=[{"id": 4}] * 2))
def test_the_fields_of_a_patient_are_texts(partner: Partner) -> None:
    for patient in with_pets(partner)["patients"]:
        assert all(isinstance(value, str) for value in patient.values())


@rule(RECORD, says="all patients; client_id")
@broken_by(shows("patients", client_id="0"))
def test_a_client_holds_its_own_patients(partner: Partner) -> None:
    for client in found(partner, "clients", name="Smith"):
        assert {patient["client_id"] for patient in client["patients"]} == {client["id"]}
        assert client["patients"] == found(partner, "patients", client_id=client["id"])


@rule("Errors", says="Clients list")
@rule(ENDPOINTS, says="at least one is required")
@broken_by(accepts())
def test_clients_want_at_least_one_criterion(partner: Partner) -> None:
    assert partner.fields_at_fault("clients") == [None]


@rule("Limits", says="100 clients")
@broken_by(rows("clients", lambda content: [*content, *content]))
def test_at_most_a_hundred_clients_are_returned(partner: Partner) -> None:
    assert len(found(partner, "clients", name="a")) == 100


@rule(ENDPOINTS, says="name", field="name")
@rule(ENDPOINTS, says="email", field="email")
@rule(ENDPOINTS, says="phone", field="phone")
@broken_as(lambda field: rows("clients", lambda content: [*content, {**content[0], field: "x"}]))
def test_clients_are_found_by_each_criterion(partner: Partner, field: str) -> None:
    sought = next(client for client in found(partner, "clients", name="a") if client["email"] and client["phone"])
    read = found(partner, "clients", **{field: sought[field]})
    assert sought in read
    assert {client[field] for client in read} == {sought[field]}


@rule(ENDPOINTS, says="all of them")
@broken_by(asks("clients", name=GONE))
def test_criteria_hold_together(partner: Partner) -> None:
    sought = found(partner, "clients", name="a")[0]
    assert found(partner, "clients", phone=sought["phone"], name="Nobody") == []


@rule(ENDPOINTS, says="plain array: patients", path="patients")
@rule(ENDPOINTS, says="plain array: clients", path="clients")
@broken_by(answers("*", lambda data: {"content": data}))
def test_data_is_a_plain_array(partner: Partner, path: str) -> None:
    query = {"clients": {"name": "a"}, "patients": {"client_id": "10000001"}}[path]
    rows = partner.page(path, **query)
    assert isinstance(rows, list)
    assert rows


@rule(ENDPOINTS, says="client_id is required")
@broken_by(accepts())
def test_patients_want_a_client(partner: Partner) -> None:
    assert partner.fields_at_fault("patients") == ["client_id"]


@rule(ENDPOINTS, says="patients of one client")
@broken_by(rows("patients", lambda content: content[1:]))
def test_patients_are_those_of_one_client(partner: Partner) -> None:
    client = with_pets(partner)
    assert found(partner, "patients", client_id=client["id"]) == client["patients"]


@rule(ENDPOINTS, says="patients by name")
@broken_by(asks("patients", name=GONE))
def test_patients_may_be_filtered_by_name(partner: Partner) -> None:
    client = with_pets(partner)
    names = {patient["name"] for patient in client["patients"]}
    assert len(names) > 1
    for name in names:
        read = found(partner, "patients", client_id=client["id"], name=name)
        assert read == [patient for patient in client["patients"] if patient["name"] == name]
