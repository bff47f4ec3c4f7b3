"""`/openapi.json` describes every route and every webhook; `test_sandbox_openapi_explored.py` has the answers."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import jsonschema
from jsonschema import Draft202012Validator
from starlette.routing import Mount, Route
from support.hook_receiver import Receiver
from support.partner_side import ROOT, Partner


def described(partner: Partner) -> dict[str, Any]:
    return partner.http.get("/openapi.json").json()


def validator(description: dict[str, Any], name: str) -> Draft202012Validator:
    """Return a validator for one of the description's schemas, formats of date and time included."""
    schema = {"$ref": f"#/components/schemas/{name}", "components": description["components"]}
    return Draft202012Validator(schema, format_checker=jsonschema.FormatChecker())


def operations(description: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, of in description["paths"].items():
        yield from ((method, path, operation) for method, operation in of.items() if method != "parameters")


def test_every_route_is_described_and_no_other(partner: Partner) -> None:
    (mount,) = (route for route in partner.platform.app.routes if isinstance(route, Mount) and route.path == ROOT)
    routes = {
        (method, ROOT + route.path)
        for route in mount.routes
        if isinstance(route, Route)
        for method in route.methods or ()
        if method != "HEAD"
    }
    there = {(method.upper(), path) for method, path, _ in operations(described(partner))}
    assert there == routes | {("POST", "/services/user/v1/auth/sign-in")}


def test_webhooks_fit_their_schemas(partner: Partner, receiver: Receiver) -> None:
    partner.platform.set(webhooks_to=receiver.url)
    message = {"recipient": {"phone_number": "+12125550138"}, "fallback_text": "Hi"}
    partner.http.post(f"{ROOT}/messages", json=message)
    partner.http.post(f"{ROOT}/ai_outbound/requests", json={"contact_number": "+12125550122"})
    partner.platform.advance(timedelta(days=1))
    description = described(partner)
    schemas = {"messages": "MessageEvent", "ai_outbound": "AiOutboundEvent"}
    schemas["service_reminders"] = "ServiceReminderEvent"
    assert {hook["post"]["operationId"] for hook in description["webhooks"].values()} == set(schemas.values())
    seen = {got.path.rsplit("/", 1)[1] for got in receiver.got}
    assert seen == set(schemas)
    for got in receiver.got:
        validator(description, schemas[got.path.rsplit("/", 1)[1]]).validate(got.body)
