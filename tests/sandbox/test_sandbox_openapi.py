"""`/openapi.json` describes the real interface, for every setting of the switches.

docs/sandbox.md compared with the code: every switch with its default, every fault, every path of control.
"""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from jsonschema import Draft202012Validator
from starlette.routing import Mount, Route
from support.hook_receiver import Receiver
from support.partner_side import ROOT, Partner
from vetl_sandbox.openapi.records import NAMES

OTHERWISE: dict[str, Any] = {
    "timestamps": "practice",
    "integer_ids": True,
    "created_status": 200,
    "sign_in_status": 201,
    "missing_practice_status": 401,
    "foreign_practice_status": 404,
    "appointments_withdrawn": 410,
}


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


@pytest.mark.parametrize("switched", [{}, OTHERWISE], ids=["by default", "otherwise"])
@pytest.mark.parametrize("name", NAMES)
def test_every_record_fits_its_schema(partner: Partner, name: str, switched: dict[str, Any]) -> None:
    partner.platform.set(**switched)
    record = validator(described(partner), NAMES[name])
    rows = partner.truth(name)
    for row in rows[:: len(rows) // 50]:
        record.validate(row)
    for wrong in (rows[0] | {"unknown": 1}, {field: value for field, value in rows[0].items() if field != "id"}):
        with pytest.raises(jsonschema.ValidationError):
            record.validate(wrong)


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


def test_the_first_page_lists_the_content(partner: Partner) -> None:
    page = partner.http.get("/").text
    for practice in partner.platform.practices:
        assert practice.id in page
        assert f"{len(partner.platform.truth(practice.id, 'phone_calls')):,}" in page
    for path in ("/openapi.json", "/vetl.toml", "/_control/clock"):
        assert f'href="{path}"' in page
    for path in [part.split('"')[0] for part in page.split('href="/')[1:]]:
        assert partner.http.get("/" + path.replace("&amp;", "&")).status_code == 200


PAGE = (Path(__file__).parents[2] / "docs" / "sandbox.md").read_text()


def rows(head: str) -> list[list[str]]:
    """Return the cells of all tables with this head."""
    cells: list[list[str]] = []
    for part in PAGE.split(head)[1:]:
        lines = part.splitlines()[2:]
        end = next((place for place, line in enumerate(lines) if not line.startswith("|")), len(lines))
        cells += [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[:end]]
    return cells
