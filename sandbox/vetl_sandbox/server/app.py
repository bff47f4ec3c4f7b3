"""The routes of the platform."""

import sys
import traceback

import orjson
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route

from vetl_sandbox.contract import ROOT, SIGN_IN
from vetl_sandbox.openapi.description import describe
from vetl_sandbox.platform import Platform
from vetl_sandbox.resources.registry import RESOURCES
from vetl_sandbox.server import people
from vetl_sandbox.server.ai_outbound import create_request
from vetl_sandbox.server.appointments import create_appointment, open_times
from vetl_sandbox.server.auth import platform_of, sign_in
from vetl_sandbox.server.control import ROUTES as CONTROL_ROUTES
from vetl_sandbox.server.envelopes import Refusal, json_response, refusal
from vetl_sandbox.server.greeting import vetl_toml, welcome
from vetl_sandbox.server.lists import appointments, lister
from vetl_sandbox.server.messages import create_message, get_message
from vetl_sandbox.server.middleware import CONTROL, FaultInjector, Journal
from vetl_sandbox.server.phone_calls import phone_calls
from vetl_sandbox.server.records import getter
from vetl_sandbox.server.staff_tasks import create_task, delete_task, update_task

_OWN = {
    "phone_calls": phone_calls,
    "appointments": appointments,
    "clients": people.clients,
    "patients": people.patients,
}
"""The lists with a handler of their own."""


def build_app(platform: Platform) -> Starlette:
    """Return the platform as an ASGI application."""
    app = Starlette(
        routes=[
            Route("/", welcome),
            Route("/openapi.json", openapi_json),
            Route("/vetl.toml", vetl_toml),
            Route(SIGN_IN, sign_in, methods=["POST"]),
            Mount(ROOT, routes=_resource_routes()),
            Mount(CONTROL, routes=CONTROL_ROUTES),
        ],
        middleware=[Middleware(Journal), Middleware(FaultInjector)],
        exception_handlers={Refusal: _refused, HTTPException: _unknown, Exception: _broken},
    )
    app.state.platform = platform
    return app


async def openapi_json(request: Request) -> Response:
    """Return the interface as it is switched at the moment."""
    return json_response(orjson.dumps(describe(platform_of(request).switches)))


def _resource_routes() -> list[Route]:
    paths = {name: f"/{resource.path}" for name, resource in RESOURCES.items()}
    tasks, requests = paths["staff_tasks"], paths["ai_outbound"]
    return [
        Route("/messages", create_message, methods=["POST"]),
        Route("/messages/{id}", get_message),
        Route("/open_times", open_times),
        Route(paths["appointments"], create_appointment, methods=["POST"]),
        Route(requests, create_request, methods=["POST"]),
        Route(tasks, create_task, methods=["POST"]),
        Route(f"{tasks}/{{id}}", update_task, methods=["PUT"]),
        Route(f"{tasks}/{{id}}", delete_task, methods=["DELETE"]),
        *(Route(paths[name], _OWN.get(name) or lister(resource)) for name, resource in RESOURCES.items()),
        *(Route(f"{paths[name]}/{{id}}", getter(name)) for name in paths if RESOURCES[name].has_get),
    ]


async def _refused(request: Request, error: Exception) -> Response:  # noqa: ARG001 - the shape of handlers
    assert isinstance(error, Refusal)
    return refusal(error)


async def _unknown(request: Request, error: Exception) -> Response:  # noqa: ARG001 - the shape of handlers
    assert isinstance(error, HTTPException)
    return refusal(Refusal(error.status_code, error.detail, error.headers))


async def _broken(request: Request, error: Exception) -> Response:
    sys.stderr.write(f"sandbox: a defect in answering {request.url.path}\n")
    traceback.print_exception(error)
    return refusal(Refusal(500, "Internal server error"))
