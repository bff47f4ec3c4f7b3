"""Contract: Client and patient; Clients and patients."""

import pytest
from support.partner_side import Partner, Row


def found(partner: Partner, path: str, **query: str) -> list[Row]:
    rows = partner.page(path, **query)
    assert isinstance(rows, list)
    return rows


@pytest.fixture
def client(partner: Partner) -> Row:
    """Return a client with an address and with pets of different names."""
    return next(
        client
        for client in found(partner, "clients", name="a")
        if client["email"] and client["phone"] and len({pet["name"] for pet in client["patients"]}) > 1
    )


def test_a_client_holds_its_own_patients(partner: Partner) -> None:
    for client in found(partner, "clients", name="Smith"):
        assert {patient["client_id"] for patient in client["patients"]} == {client["id"]}
        assert client["patients"] == found(partner, "patients", client_id=client["id"])


def test_lists_of_people_want_a_criterion(partner: Partner) -> None:
    assert partner.fields_at_fault("clients") == [None]
    assert partner.fields_at_fault("patients") == ["client_id"]


def test_at_most_a_hundred_clients_are_returned(partner: Partner) -> None:
    assert len(found(partner, "clients", name="a")) == 100


@pytest.mark.parametrize("field", ["name", "email", "phone"])
def test_clients_are_found_by_each_criterion(partner: Partner, client: Row, field: str) -> None:
    """Criteria hold together."""
    read = found(partner, "clients", **{field: client[field]})
    assert client in read
    assert {one[field] for one in read} == {client[field]}
    other = "phone" if field == "name" else "name"
    assert found(partner, "clients", **{field: client[field], other: "Nobody"}) == []


def test_patients_may_be_filtered_by_name(partner: Partner, client: Row) -> None:
    for name in {patient["name"] for patient in client["patients"]}:
        read = found(partner, "patients", client_id=client["id"], name=name)
        assert read == [patient for patient in client["patients"] if patient["name"] == name]
