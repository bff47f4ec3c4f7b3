"""Contract: Clients and patients."""

import pytest
from support.partner_side import Partner


def test_clients_are_a_plain_array_with_their_patients(partner: Partner) -> None:
    clients = partner.page("clients", name="Smith")
    assert isinstance(clients, list)
    assert set(clients[0]) == {"id", "name", "email", "phone", "patients", "remote_id"}
    assert set(clients[0]["patients"][0]) == {"id", "name", "client_id", "species", "breed"}
    assert {patient["client_id"] for patient in clients[0]["patients"]} == {clients[0]["id"]}


def test_clients_want_at_least_one_criterion(partner: Partner) -> None:
    assert partner.fields_at_fault("clients") == [None]


def test_at_most_a_hundred_clients_are_returned(partner: Partner) -> None:
    assert len(partner.page("clients", name="a")) == 100


@pytest.mark.parametrize("field", ["name", "email", "phone"])
def test_clients_are_found_by_each_criterion(partner: Partner, field: str) -> None:
    known = next(client for client in partner.truth("clients") if client[field])
    assert known in partner.page("clients", **{field: known[field]})


def test_criteria_must_all_hold(partner: Partner) -> None:
    known = partner.truth("clients")[0]
    assert partner.page("clients", phone=known["phone"], name="Nobody") == []


def test_a_client_is_got_by_id(partner: Partner) -> None:
    known = partner.truth("clients")[7]
    assert partner.page(f"clients/{known['id']}") == known


def test_patients_want_a_client(partner: Partner) -> None:
    assert partner.fields_at_fault("patients") == ["client_id"]


def test_patients_are_those_of_one_client(partner: Partner) -> None:
    known = next(client for client in partner.truth("clients") if len(client["patients"]) > 1)
    assert partner.page("patients", client_id=known["id"]) == known["patients"]
    first = known["patients"][0]
    assert first in partner.page("patients", client_id=known["id"], name=first["name"].upper())


def test_a_patient_is_got_by_id(partner: Partner) -> None:
    known = partner.truth("patients")[3]
    assert partner.page(f"patients/{known['id']}") == known


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
