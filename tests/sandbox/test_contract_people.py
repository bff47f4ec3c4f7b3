"""Contract: Client and patient; Clients and patients. "What the service does", 5: a request acts for one practice.

The Get endpoints. `test_sandbox_openapi_explored.py` compares records with the description, and
`tests/partner/test_against_sandbox.py` the description with the models of vetl.
"""

from collections.abc import Callable

import httpx
import pytest
from support.partner_requests import REQUESTS, booking, reach_out, send
from support.partner_side import Partner, Row, at_fault, made


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


CLIENT = PATIENT = "10000001"
"""The first client and patient of the first practice."""


def task(partner: Partner, **body: str) -> httpx.Response:
    return partner.post("staff_tasks", {"title": "t", **body})


@pytest.mark.parametrize(
    ("ask", "body", "fields"),
    [
        (send, {"recipient": {"client_id": CLIENT}}, ["recipient.client_id"]),
        (reach_out, {"client_id": CLIENT}, ["client_id"]),
        (task, {"client_id": CLIENT, "patient_id": PATIENT}, ["client_id", "patient_id"]),
    ],
)
def test_people_of_another_practice_are_unknown(
    partner: Partner, ask: Callable[..., httpx.Response], body: Row, fields: list[str]
) -> None:
    """The clients are in Phoenix, and texts may go out there too."""
    assert ask(partner, **body).status_code in (200, 201)
    partner.act_for("loc-002")
    assert at_fault(ask(partner, **body)) == fields


def test_slots_and_patients_of_another_practice_are_none(partner: Partner) -> None:
    theirs = partner.page("open_times")[0]["uuid"]
    assert partner.page("patients", client_id=CLIENT)
    partner.act_for("loc-002")
    assert partner.page("patients", client_id=CLIENT) == []
    client = next(iter(partner.page("clients", name="a")))
    ours = {"client_id": int(client["id"]), "patient_id": int(client["patients"][0]["id"])}
    assert at_fault(partner.post("appointments", {"slot_id": theirs, **ours})) == ["slot_id"]
    made(partner.post("appointments", booking(partner, **ours)))


PATHS = {name: name for name in ("phone_calls", "booking_sessions", "clients", "patients")}
PATHS["ai_outbound"] = REQUESTS


@pytest.mark.parametrize("name", PATHS)
def test_a_record_stands_directly_under_data_and_is_of_one_practice(partner: Partner, name: str) -> None:
    """The contract does not show the status of a record that is not there: here it is a 404."""
    record = partner.truth(name)[-2]
    path = f"{PATHS[name]}/{record['id']}"
    assert partner.get(path).json() == {"success": True, "data": record, "message": None}
    for unknown in ("x", "0123456789abcdef", "99999999999999999999"):
        assert partner.get(f"{PATHS[name]}/{unknown}").status_code == 404
    partner.act_for("loc-002")
    assert partner.get(path).status_code == 404
