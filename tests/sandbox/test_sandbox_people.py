"""The world's clients and patients."""

import pytest
from support.partner_side import Partner


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
