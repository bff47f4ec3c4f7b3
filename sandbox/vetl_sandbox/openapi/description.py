"""The whole description, for the switches of the moment."""

from typing import Any, Final

from vetl_sandbox.contract import ROOT, SIGN_IN
from vetl_sandbox.openapi.answers import answer, error_schemas, errors
from vetl_sandbox.openapi.bodies import body_schemas
from vetl_sandbox.openapi.events import event_schemas, webhooks
from vetl_sandbox.openapi.operations import Operation, created_appointment, operation, paths
from vetl_sandbox.openapi.records import resource_schemas
from vetl_sandbox.openapi.shapes import TEXT, record
from vetl_sandbox.resources.registry import RESOURCES
from vetl_sandbox.switches import Switches

Description = dict[str, Any]
_ABOUT: Final = (
    "The partner interface of a veterinary practice platform, as this sandbox shows it. Every request acts for "
    "one practice, named by X-Client-Id. Points that the contract leaves open are shown as they are switched now: "
    "parameters, orders and statuses change with /_control/switches."
)
_PRACTICE: Final = {
    "name": "X-Client-Id",
    "in": "header",
    "required": True,
    "schema": TEXT | {"minLength": 1},
    "description": "The practice's location id",
}
_SECTIONS: Final = {
    "sign-in": "Sign-in",
    "messages": "Messages",
    **{resource.path.split("/")[0]: resource.section for resource in RESOURCES.values()},
    "open_times": RESOURCES["appointments"].section,
}


def describe(switches: Switches) -> Description:
    """Return an OpenAPI 3.1 description of everything that a partner may do."""
    records = resource_schemas(switches)
    resources = {
        f"{ROOT}{path}": {"parameters": [_PRACTICE]}
        | {method: _sorted(path, definition) for method, definition in of.items()}
        for path, of in paths(switches).items()
    }
    return {
        "openapi": "3.1.0",
        "info": {"title": "Partner interface", "version": "1.0.0", "description": _ABOUT},
        "tags": [{"name": name} for name in dict.fromkeys(_SECTIONS.values())],
        "security": [{"bearer": []}],
        "paths": {SIGN_IN: {"post": _sign_in(switches)}, **resources},
        "webhooks": webhooks(),
        "components": {
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
            "schemas": {
                **body_schemas(switches),
                **records,
                "CreatedAppointment": created_appointment(records["Appointment"]),
                **event_schemas(records["Message"], records["AiOutboundRequest"]),
                **error_schemas(),
            },
        },
    }


def _sorted(path: str, definition: Operation) -> Operation:
    return {"tags": [_SECTIONS[path.split("/")[1]]]} | definition


def _sign_in(switches: Switches) -> Operation:
    token = answer("A token, good for a while", record({"token": TEXT}))
    answers = {str(switches.sign_in_status): token, **errors(switches, acts_for_practice=False)}
    definition = operation(
        "signIn", "Sign in", answers, body="SignIn", says="Send the token as Authorization: Bearer."
    )
    return _sorted("/sign-in", definition) | {"security": []}
