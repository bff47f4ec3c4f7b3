"""Contract: "What the service does", 5: a request acts for one practice, and for nobody of another practice."""

from collections.abc import Callable

import httpx
from support.booking import booking
from support.contract_breaks import with_header
from support.message_requests import send
from support.outreach_requests import REQUESTS, reach_out
from support.partner_side import Partner, at_fault, made
from support.rules import broken_by, rule

EARLY = {"start_date": "2025-01-01"}
SERVICE = "What the service does"
CLIENT = PATIENT = "10000001"
"""The first client and patient of the first practice."""


def text_the_client(partner: Partner) -> httpx.Response:
    return send(partner, recipient={"client_id": CLIENT})


def contact_the_client(partner: Partner) -> httpx.Response:
    return reach_out(partner, client_id=CLIENT)


def task_about(partner: Partner, **people: str) -> httpx.Response:
    return partner.post("staff_tasks", {"title": "t", "description": "d", **people})


def task_about_the_client(partner: Partner) -> httpx.Response:
    return task_about(partner, client_id=CLIENT)


def task_about_the_patient(partner: Partner) -> httpx.Response:
    return task_about(partner, patient_id=PATIENT)


Ask = Callable[[Partner], httpx.Response]


@rule(SERVICE, says="5: message", ask=text_the_client, field="recipient.client_id")
@rule(SERVICE, says="5: outreach", ask=contact_the_client, field="client_id")
@rule(SERVICE, says="5: task, client", ask=task_about_the_client, field="client_id")
@rule(SERVICE, says="5: task, patient", ask=task_about_the_patient, field="patient_id")
@broken_by(with_header("x-client-id", "loc-001"))
def test_people_of_another_practice_are_unknown(partner: Partner, ask: Ask, field: str) -> None:
    """The clients are in Phoenix, and texts may go out there too."""
    assert ask(partner).status_code in (200, 201)
    partner.act_for("loc-002")
    assert at_fault(ask(partner)) == [field]


@rule(SERVICE, says="5: slot")
@broken_by(with_header("x-client-id", "loc-001"))
def test_a_slot_of_another_practice_is_none(partner: Partner) -> None:
    theirs = partner.page("open_times")[0]["uuid"]
    partner.act_for("loc-002")
    client = next(iter(partner.page("clients", name="a")))
    ours = {"client_id": int(client["id"]), "patient_id": int(client["patients"][0]["id"])}
    assert at_fault(partner.post("appointments", {"slot_id": theirs, **ours})) == ["slot_id"]
    made(partner.post("appointments", booking(partner, **ours)))


@rule(SERVICE, says="5: patients")
@broken_by(with_header("x-client-id", "loc-001"))
def test_the_patients_of_another_practices_client_are_none(partner: Partner) -> None:
    assert partner.page("patients", client_id=CLIENT)
    partner.act_for("loc-002")
    assert partner.page("patients", client_id=CLIENT) == []


@rule(SERVICE, says="5: partner_request_id")
@broken_by(with_header("x-client-id", "loc-001"))
def test_the_partners_id_is_of_one_practice(partner: Partner) -> None:
    theirs = made(reach_out(partner, partner_request_id="p-1"))
    partner.act_for("loc-002")
    assert partner.get(f"{REQUESTS}/p-1").status_code == 404
    ours = made(reach_out(partner, partner_request_id="p-1"), 201)
    assert ours["id"] != theirs["id"]
