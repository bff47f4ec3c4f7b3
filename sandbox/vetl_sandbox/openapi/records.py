"""The resources of the contract as schemas, field by field from the lists of the platform."""

from typing import Final

from vetl_sandbox.contract import CHANNELS, USED_CHANNELS
from vetl_sandbox.messages.message import STATUSES
from vetl_sandbox.openapi.shapes import INSTANT, INTEGER, TEXT, Schema, choice, nullable, record
from vetl_sandbox.resources.registry import RESOURCES
from vetl_sandbox.resources.resource import Resource, has_integer_id
from vetl_sandbox.switches import Switches

_ALWAYS: Final = ("id", "created_at")


def resource_schemas(switches: Switches) -> dict[str, Schema]:
    """Return the schema of every list's records, and of messages."""
    lists = {resource.record: _schema(resource, switches) for resource in RESOURCES.values()}
    return lists | {"Message": _message()}


def _schema(resource: Resource, switches: Switches) -> Schema:
    return record(
        {name: resource.schemas.get(name) or _by_name(resource, name, switches) for name in resource.fields}
    )


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
