"""Contract: What the service does, 5: a request acts for one practice, and for nobody of another one."""

from collections.abc import Callable

import httpx
from support.booking import booking
from support.breaking import Break, edited
from support.contacting import REQUESTS, reach_out
from support.partner_side import Partner, Row, at_fault, made
from support.rules import rule
from support.texting import send

EARLY = {"start_date": "2025-01-01"}
SERVICE = "What the service does"
CLIENT = PATIENT = "10000001"
"""The first client and patient of the first practice."""


def mixed(name: str) -> Break:
    """One practice's rows are shown to all, as far as one list goes."""
    everybodys = f'practice_id = "loc-001" if name == "{name}" else practice_id; key = practice_id, name'
    return edited("platform:Platform.table", "key = practice_id, name", everybodys)


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


@rule(SERVICE, mixed("clients"), says="5: message", ask=text_the_client, field="recipient.client_id")
@rule(SERVICE, mixed("clients"), says="5: outreach", ask=contact_the_client, field="client_id")
@rule(SERVICE, mixed("clients"), says="5: task, client", ask=task_about_the_client, field="client_id")
@rule(SERVICE, mixed("patients"), says="5: task, patient", ask=task_about_the_patient, field="patient_id")
def test_people_of_another_practice_are_unknown(partner: Partner, ask: Ask, field: str) -> None:
    """In Phoenix, where texts may go out too."""
    assert ask(partner).status_code in (200, 201)
    partner.act_for("loc-002")
    assert at_fault(ask(partner)) == [field]


ANY_SLOT = "next(filter(None, (slot_of(one, slot_id) for one in platform.world.practices.values())), None)"


@rule(SERVICE, edited("server.appointments:_slot", "slot_of(practice, slot_id)", ANY_SLOT), says="5: slot")
def test_a_slot_of_another_practice_is_none(partner: Partner) -> None:
    theirs = partner.page("open_times")[0]["uuid"]
    partner.act_for("loc-002")
    client = next(iter(partner.page("clients", name="a")))
    ours = {"client_id": int(client["id"]), "patient_id": int(client["patients"][0]["id"])}
    assert at_fault(partner.post("appointments", {"slot_id": theirs, **ours})) == ["slot_id"]
    made(partner.post("appointments", booking(partner, **ours)))


EVERYBODYS_PATIENTS = edited(
    "server.people:patients", 'table.of_client(client_id or "", snapshot)', "pl.lit(True)"
)


@rule(SERVICE, EVERYBODYS_PATIENTS, says="5: patients")
def test_the_patients_of_another_practices_client_are_none(partner: Partner) -> None:
    assert partner.page("patients", client_id=CLIENT)
    partner.act_for("loc-002")
    assert partner.page("patients", client_id=CLIENT) == []


@rule(SERVICE, mixed("ai_outbound"), says="5: partner_request_id")
def test_the_partners_id_is_of_one_practice(partner: Partner) -> None:
    theirs = made(reach_out(partner, partner_request_id="p-1"))
    partner.act_for("loc-002")
    assert partner.get(f"{REQUESTS}/p-1").status_code == 404
    ours = made(reach_out(partner, partner_request_id="p-1"), 201)
    assert ours["id"] != theirs["id"]


def ids(partner: Partner, path: str, query: Row) -> set[str]:
    data = partner.page(path, **query)
    rows = data if isinstance(data, list) else data["content"]
    assert rows
    return {row["id"] for row in rows}


@rule(SERVICE, mixed("phone_calls"), path="phone_calls", query={}, says="5: phone calls")
@rule(SERVICE, mixed("booking_sessions"), path="booking_sessions", query=EARLY, says="5: sessions")
@rule(SERVICE, mixed("appointments"), path="appointments", query=EARLY, says="5: appointments")
@rule(SERVICE, mixed("ai_outbound"), path="ai_outbound/requests", query={}, says="5: outreach")
@rule(SERVICE, mixed("staff_tasks"), path="staff_tasks", query={}, says="5: tasks")
@rule(SERVICE, mixed("clients"), path="clients", query={"name": "a"}, says="5: clients")
def test_a_list_holds_the_rows_of_one_practice(partner: Partner, path: str, query: Row) -> None:
    ours = ids(partner, path, query)
    partner.act_for("loc-002")
    assert ids(partner, path, query).isdisjoint(ours)


@rule(SERVICE, mixed("phone_calls"), path="phone_calls", name="phone_calls", says="5: a call")
@rule(
    SERVICE,
    mixed("booking_sessions"),
    path="booking_sessions",
    name="booking_sessions",
    says="5: a session",
)
@rule(
    SERVICE,
    mixed("ai_outbound"),
    path="ai_outbound/requests",
    name="ai_outbound",
    says="5: a request",
)
@rule(SERVICE, mixed("clients"), path="clients", name="clients", says="5: a client")
@rule(SERVICE, mixed("patients"), path="patients", name="patients", says="5: a patient")
def test_a_record_of_another_practice_is_not_there(partner: Partner, path: str, name: str) -> None:
    theirs = f"{path}/{partner.truth(name)[0]['id']}"
    assert partner.get(theirs).status_code == 200
    partner.act_for("loc-002")
    assert partner.get(theirs).status_code == 404


@rule(SERVICE, mixed("staff_tasks"), says="5: writing a task")
def test_a_task_of_another_practice_is_not_there(partner: Partner) -> None:
    theirs = f"staff_tasks/{partner.truth('staff_tasks')[0]['id']}"
    partner.act_for("loc-002")
    assert partner.put(theirs, {"title": "Ours"}).status_code == 404
    assert partner.delete(theirs).status_code == 404
