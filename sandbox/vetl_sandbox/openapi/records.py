"""The resources of the contract as schemas, field by field from the lists of the platform."""

from collections.abc import Mapping
from typing import Final

from vetl_sandbox.contract import CHANNELS, USED_CHANNELS
from vetl_sandbox.messages.message import STATUSES
from vetl_sandbox.openapi.shapes import FLAG, INSTANT, INTEGER, TEXT, Schema, array, choice, nullable, record, ref
from vetl_sandbox.resources.registry import RESOURCES
from vetl_sandbox.resources.resource import Resource, has_integer_id
from vetl_sandbox.switches import Switches
from vetl_sandbox.world import vocabulary as v

NAMES: Final = {
    "phone_calls": "PhoneCall",
    "booking_sessions": "BookingSession",
    "appointments": "Appointment",
    "ai_outbound": "AiOutboundRequest",
    "staff_tasks": "StaffTask",
    "clients": "Client",
    "patients": "Patient",
}
"""The name of each list's record."""

_OPEN: Final = "The contract does not show the allowed values."
_SUPPRESSION: Final = "An open list; known are: " + ", ".join(v.SUPPRESSIONS.values)
_KNOWN: Final[Mapping[str, Mapping[str, Schema]]] = {
    "phone_calls": {
        "direction": choice(v.DIRECTIONS.values),
        "state": choice(v.CALL_STATES.values),
        "caller_type": choice(
            v.CALLER_TYPES.values,
            description="existing: had a visit before this call. new: matched, without. unknown: never matched.",
        ),
        "call_classification": nullable(choice(v.CLASSIFICATIONS.values)),
        "customer_sentiment": nullable(TEXT | {"description": _OPEN}),
        "outcome": nullable(choice(v.OUTCOMES.values)),
        "booked": FLAG | {"description": f"Whether the outcome is one of {', '.join(v.BOOKED_OUTCOMES)}"},
        "booking_intent": FLAG,
        "duration_seconds": nullable(INTEGER),
    },
    "booking_sessions": {
        "status": choice(v.SESSION_STATUSES.values, description="Derived when it is read."),
        "stage": nullable(TEXT | {"description": _OPEN}),
        "client_type": nullable(TEXT | {"description": _OPEN}),
    },
    "appointments": {
        "status": nullable(TEXT | {"description": f"Among others {', '.join(v.SETTABLE_STATUSES.values)}"})
    },
    "ai_outbound": {
        "channel": choice(v.CHANNELS.values),
        "purpose": choice(v.PURPOSES.values),
        "status": choice(v.REQUEST_STATUSES.values),
        "outcome": nullable(choice(v.REQUEST_OUTCOMES.values)),
        "suppression_reason": nullable(TEXT | {"description": _SUPPRESSION}),
    },
    "staff_tasks": {
        "task_type": choice(v.TASK_TYPES.values),
        "status": choice(v.TASK_STATUSES.values),
        "cancellation_allowed": nullable(FLAG),
    },
    "clients": {"patients": nullable(array(ref("Patient")))},
    "patients": {},
}
_ALWAYS: Final = ("id", "created_at")


def resource_schemas(switches: Switches) -> dict[str, Schema]:
    """Return the schema of every list's records, and of messages."""
    lists = {NAMES[name]: _schema(resource, switches) for name, resource in RESOURCES.items()}
    return lists | {"Message": _message()}


def _schema(resource: Resource, switches: Switches) -> Schema:
    schemas = _KNOWN[resource.name]
    return record({name: schemas.get(name) or _by_name(resource, name, switches) for name in resource.fields})


def _by_name(resource: Resource, name: str, switches: Switches) -> Schema:
    """Return the fields whose names give their type: ids, instants, or texts."""
    if name.endswith("_at") or name in ("booking_date", "end_date"):
        schema = INSTANT
    elif switches.integer_ids and has_integer_id(resource, name):
        schema = INTEGER
    else:
        schema = TEXT
    return schema if name in _ALWAYS else nullable(schema)


def _message() -> Schema:
    times = ("sent_at", "delivered_at", "read_at", "failed_at")
    return record(
        {
            "id": TEXT,
            "reference_id": nullable(TEXT | {"description": "The partner's; echoed everywhere."}),
            "status": choice(STATUSES, description="Moves forward only."),
            "status_reason": nullable(TEXT | {"description": "opted_out, blocked_number, or why it failed."}),
            "channel_requested": choice(CHANNELS),
            "channel_used": nullable(
                choice(USED_CHANNELS, description="With auto it is null until the carrier reports it.")
            ),
            "client_id": nullable(TEXT),
            "error_code": nullable(TEXT | {"description": "The carrier's."}),
            "error_message": nullable(TEXT),
            **{name: nullable(INSTANT) for name in times},
            "created_at": INSTANT,
        }
    )
