"""Every endpoint of the contract: its parameters, its answers, and the operations that follow on an answer."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from vetl_sandbox.contract import MOST_CLIENTS
from vetl_sandbox.openapi import parameters as p
from vetl_sandbox.openapi.answers import Answer, answer, csv_page, errors, page_of
from vetl_sandbox.openapi.shapes import INSTANT, INTEGER, TEXT, Schema, array, record, ref
from vetl_sandbox.resources.registry import RESOURCES
from vetl_sandbox.switches import Switches

Operation = dict[str, Any]
_OWN: Final = "The contract does not show this endpoint: path and shape are the sandbox's own."
_PATHS: Final = {name: f"/{resource.path}" for name, resource in RESOURCES.items()}

_AFTERWARDS: Final[dict[str, Any]] = {"parameters": {}}
"""A link to a list that has the new record; it passes no value on."""


def operation(
    name: str,
    summary: str,
    answers: Mapping[str, Answer],
    *,
    takes: Sequence[p.Parameter] = (),
    body: str | None = None,
    says: str = "",
) -> Operation:
    """Return one method of one path; `name` is its id, and its first word in capitals is its subject."""
    definition: Operation = {"operationId": name, "summary": summary}
    if says:
        definition["description"] = says
    if takes:
        definition["parameters"] = list(takes)
    if body is not None:
        definition["requestBody"] = {"required": True, "content": {"application/json": {"schema": ref(body)}}}
    return definition | {"responses": dict(answers)}


def link(operation_id: str, pointer: str = "/data/id", into: str = "id") -> dict[str, Any]:
    """Return a link from an answer: a value of its body is a parameter of another operation."""
    return {"operationId": operation_id, "parameters": {into: f"$response.body#{pointer}"}}


def paths(switches: Switches) -> dict[str, dict[str, Operation]]:
    """Return all paths below the interface's root."""
    described = {
        "/messages": {"post": _create_message(switches)},
        "/messages/{id}": {
            "get": operation(
                "getMessage",
                "Get a message",
                {"200": answer("The message", ref("Message")), **errors(switches, 404)},
                takes=[p.in_path("The service's message id, or the partner's reference_id")],
            )
        },
        "/open_times": {"get": _open_times(switches)},
        **_reads(switches),
    }
    for (name, method), definition in _acts(switches).items():
        described.setdefault(name, {})[method] = definition
    return described


def _reads(switches: Switches) -> dict[str, dict[str, Operation]]:
    """Return the reads of every list: its rows, and a record by its id."""
    own = {"phone_calls": _calls, "clients": _clients, "patients": _patients}
    return {
        _PATHS[name]: {"get": own[name](switches) if name in own else _list(name, switches)} for name in RESOURCES
    } | {
        f"{_PATHS[name]}/{{id}}": {"get": _get(name, switches)}
        for name, resource in RESOURCES.items()
        if resource.has_get
    }


def _acts(switches: Switches) -> dict[tuple[str, str], Operation]:
    """Return what a partner may create, change and delete on a list, by path and method."""
    task = f"{_PATHS['staff_tasks']}/{{id}}"
    return {
        (_PATHS["ai_outbound"], "post"): _create_outreach(switches),
        (_PATHS["appointments"], "post"): _create_appointment(switches),
        (_PATHS["staff_tasks"], "post"): _create_task(switches),
        (task, "put"): _update_task(switches),
        (task, "delete"): _delete_task(switches),
    }


def _list(name: str, switches: Switches) -> Operation:
    resource = RESOURCES[name]
    what = resource.record
    page = answer("One page", page_of(what, total_pages=resource.has_total_pages))
    if resource.has_get:
        page["links"] = {f"Get{what}": link(f"get{what}", "/data/content/0/id")}
    gone = switches.appointments_withdrawn if name == "appointments" else None
    says = "Proposed: its behaviour, shape and availability may change." if name == "appointments" else ""
    return operation(
        f"list{what}s",
        f"List {name.replace('_', ' ')}",
        {"200": page, **errors(switches, *([] if gone is None else [gone]))},
        takes=p.list_parameters(name, switches),
        says=f"{says} Withdrawn with {gone}." if gone else says,
    )


def _get(name: str, switches: Switches) -> Operation:
    what, second = RESOURCES[name].record, RESOURCES[name].second_id
    says = "Its id" if second is None else f"Its id or {second[0]}"
    answers = {"200": answer("The record", ref(what)), **errors(switches, 404)}
    return operation(f"get{what}", "Get one by its id", answers, takes=[p.in_path(says)])


def _calls(switches: Switches) -> Operation:
    page = csv_page() | {"links": {"GetPhoneCall": link("getPhoneCall", "/data/content/0/id")}}
    takes = p.call_parameters(switches)
    return operation("listPhoneCalls", "List phone calls", {"200": page, **errors(switches)}, takes=takes)


def _clients(switches: Switches) -> Operation:
    clients = answer(f"At most {MOST_CLIENTS} clients", array(ref("Client"), most=MOST_CLIENTS))
    clients["links"] = {
        "GetClient": link("getClient", "/data/0/id"),
        "ListPatients": link("listPatients", "/data/0/id", "client_id"),
    }
    takes = p.client_parameters()
    return operation("listClients", "Look up clients", {"200": clients, **errors(switches)}, takes=takes)


def _patients(switches: Switches) -> Operation:
    patients = answer("The client's patients", array(ref("Patient")))
    patients["links"] = {"GetPatient": link("getPatient", "/data/0/id")}
    takes = p.patient_parameters()
    return operation(
        "listPatients", "List a client's patients", {"200": patients, **errors(switches)}, takes=takes
    )


def _create_message(switches: Switches) -> Operation:
    sent, ok = answer("Sent", ref("Message")), answer("Suppressed, or the reference's message", ref("Message"))
    for made in (sent, ok):
        made["links"] = {"GetMessage": link("getMessage")}
    return operation(
        "createMessage",
        "Send a message",
        {"201": sent, "200": ok, **errors(switches, 429, 502)},
        body="NewMessage",
        says="Within 8am to 9pm of the practice, at most 120 a minute. Opt-out is no error: 200, suppressed.",
    )


def _create_outreach(switches: Switches) -> Operation:
    accepted = answer("Accepted", ref("AiOutboundRequest"))
    ok = answer("Suppressed at intake, or the request that the partner's id has", ref("AiOutboundRequest"))
    for made in (accepted, ok):
        made["links"] = {"GetAiOutboundRequest": link("getAiOutboundRequest")}
    made = {"201": accepted, "200": ok, **errors(switches)}
    return operation("createAiOutboundRequest", "Contact a client", made, body="NewAiOutboundRequest", says=_OWN)


def _open_times(switches: Switches) -> Operation:
    slot = record({"uuid": TEXT, "start": INSTANT, "end": INSTANT})
    slots = answer("Free slots", array(slot))
    booked = {"operationId": "createAppointment", "requestBody": {"slot_id": "$response.body#/data/0/uuid"}}
    slots["links"] = {"CreateAppointment": booked}
    takes = p.day_parameters()
    return operation("listOpenTimes", "Find a slot", {"200": slots, **errors(switches)}, takes=takes, says=_OWN)


def _create_appointment(switches: Switches) -> Operation:
    booked = answer("Booked", ref("CreatedAppointment"))
    booked["links"] = {"ListAppointments": _AFTERWARDS | {"operationId": "listAppointments"}}
    made = {"201": booked, **errors(switches)}
    return operation("createAppointment", "Book an appointment", made, body="NewAppointment")


def _create_task(switches: Switches) -> Operation:
    made = answer("Created, pending", ref("StaffTask"))
    made["links"] = {name: link(name) for name in ("updateStaffTask", "deleteStaffTask")}
    made["links"]["listStaffTasks"] = _AFTERWARDS | {"operationId": "listStaffTasks"}
    answers = {"201": made, **errors(switches)}
    return operation("createStaffTask", "Create a staff task", answers, body="NewStaffTask")


def _update_task(switches: Switches) -> Operation:
    changed = answer("The task as it is now", ref("StaffTask"))
    changed["links"] = {"deleteStaffTask": link("deleteStaffTask"), "updateStaffTask": link("updateStaffTask")}
    says = "completed and canceled set finalized_at; pending clears it."
    answers = {"200": changed, **errors(switches, 404)}
    takes = [p.in_path("The task")]
    return operation("updateStaffTask", "Change a task", answers, takes=takes, body="StaffTaskChanges", says=says)


def _delete_task(switches: Switches) -> Operation:
    nothing: Schema = record({})
    answers = {"200": answer("Canceled", nothing), **errors(switches, 404)}
    says = "A soft delete: canceled, with finalized_at; the record is kept."
    return operation("deleteStaffTask", "Delete a task", answers, takes=[p.in_path("The task")], says=says)


def created_appointment(appointment: Schema) -> Schema:
    """Return the answer to a booking: its id is an integer, whatever the list shows (contract: Appointment)."""
    return appointment | {"properties": appointment["properties"] | {"id": INTEGER}}
