"""Creating appointments, and the open times to obtain a slot from (contract: Create an appointment).

The contract shows no path for open times: this path is the sandbox's own.
"""

from datetime import date, timedelta
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from vetl_sandbox.platform import Platform
from vetl_sandbox.resources.resource import Record
from vetl_sandbox.server.auth import json_object, platform_of, practice_of
from vetl_sandbox.server.body import Body
from vetl_sandbox.server.envelopes import success
from vetl_sandbox.server.query import Query
from vetl_sandbox.slots import Slot, open_slots, slot_of
from vetl_sandbox.stamps import stamp
from vetl_sandbox.world import vocabulary as v
from vetl_sandbox.world.practices import Practice

_STATUSES: Final = v.SETTABLE_STATUSES.values
_MOST_DAYS: Final = 31


async def open_times(request: Request) -> Response:
    """Return the slots on local days, `start_date` to `end_date`; without dates, of today and six more days."""
    platform, practice = platform_of(request), practice_of(request)
    query = Query(request.query_params)
    first = query.day("start_date") or platform.now().astimezone(practice.zone).date()
    last = query.day("end_date") or min(first + timedelta(days=6), date.max - timedelta(days=1))
    if not timedelta(0) <= last - first <= timedelta(days=_MOST_DAYS):
        query.fault("end_date", f"end_date must be 0 to {_MOST_DAYS} days after start_date")
    query.finish(refuse_unknown=platform.switches.unknown_parameters == "refused")
    with platform.lock:
        slots = open_slots(practice, first, last, platform.now())
        free = [slot for slot in slots if slot.uuid not in platform.desk.taken_slots]
    form = platform.switches.timestamps
    times = [
        {
            "uuid": slot.uuid,
            "start": stamp(slot.start, form, practice.zone),
            "end": stamp(slot.end, form, practice.zone),
        }
        for slot in free
    ]
    return success(times)


async def create_appointment(request: Request) -> Response:
    """Create an appointment in a slot; the client and the patient are found in one of the contract's ways."""
    platform, practice = platform_of(request), practice_of(request)
    body = Body(await json_object(request))
    with platform.lock:
        slot = _slot(body, platform, practice)
        client, patient = _client(body, platform, practice), _patient(body, platform, practice)
        body.text("note")
        status = body.choice("status", _STATUSES)
        if client is not None and patient is not None and str(patient["client_id"]) != str(client["id"]):
            field = "patient_id" if body.has("patient_id") else "patient_remote_id"
            body.fault(field, "Not this client's patient")
        body.finish()
        assert slot is not None
        assert client is not None
        assert patient is not None
        row_id = platform.desk.create_appointment(practice, slot, client, patient, status)
        made = platform.table(practice.id, "appointments").rendered(row_id, platform.now(), platform.switches)
    return success(made | {"id": int(row_id)}, status=201)


def _slot(body: Body, platform: Platform, practice: Practice) -> Slot | None:
    slot_id = body.text("slot_id", required=True)
    if slot_id is None:
        return None
    slot = slot_of(practice, slot_id)
    if slot is None:
        body.fault("slot_id", "slot_id must be the uuid of a slot of this practice")
    elif slot.uuid in platform.desk.taken_slots or slot.start <= platform.now():
        body.fault("slot_id", "This slot is no longer open")
    return slot


def _client(body: Body, platform: Platform, practice: Practice) -> Record | None:
    directory = platform.directory(practice.id)
    number, remote = body.integer("client_id"), body.text("client_remote_id")
    first, last = body.text("first_name"), body.text("last_name")
    phone, email = body.text("phone"), body.text("email")
    if number is not None:
        return _found(body, "client_id", directory.client(str(number)))
    if body.has("client_id"):
        return None
    if remote is not None:
        return _found(body, "client_remote_id", directory.client_with_remote_id(remote))
    if first is None or last is None or (phone is None and email is None):
        body.fault(
            None, "Identify the client by client_id, client_remote_id, or first_name, last_name and phone or email"
        )
        return None
    named = directory.clients_named(first, last, phone, email)
    return _found(body, "first_name", named[0] if len(named) == 1 else None)


def _patient(body: Body, platform: Platform, practice: Practice) -> Record | None:
    directory = platform.directory(practice.id)
    number, remote = body.integer("patient_id"), body.text("patient_remote_id")
    if number is not None:
        return _found(body, "patient_id", directory.patient(str(number)))
    if body.has("patient_id"):
        return None
    if remote is not None:
        return _found(body, "patient_remote_id", directory.patient_with_remote_id(remote))
    body.fault(None, "Identify the patient by patient_id or patient_remote_id")
    return None


def _found(body: Body, field: str, record: Record | None) -> Record | None:
    if record is None:
        body.fault(field, f"No {'patient' if field.startswith('patient') else 'client'} is found by this")
    return record
