"""Sign-in, bearer tokens and the practice header (contract: Sign-in; Authentication)."""

import orjson
from starlette.requests import Request
from starlette.responses import Response

from vetl_sandbox.platform import Platform
from vetl_sandbox.server.envelopes import FieldError, Invalid, Refusal, success
from vetl_sandbox.world.practices import Practice

_CREDENTIALS = ("username", "password", "role")


def platform_of(request: Request) -> Platform:
    """Return the platform behind a request."""
    return request.app.state.platform


async def sign_in(request: Request) -> Response:
    """Return a new token for the partner; every token stays good until it expires."""
    platform = platform_of(request)
    body = await json_object(request)
    texts = [value for name in _CREDENTIALS if isinstance(value := body.get(name), str) and value]
    if len(texts) < len(_CREDENTIALS):
        missing = [name for name in _CREDENTIALS if body.get(name) not in texts]
        raise Invalid([FieldError(name, f"{name} is required and must be a string") for name in missing])
    if not platform.credentials.match(*texts):
        raise Refusal(401, "Invalid username, password or role")
    if platform.refuses_sign_in():
        raise Refusal(200, "Invalid username, password or role")
    return success({"token": platform.issue_token()}, status=platform.switches.sign_in_status)


async def json_object(request: Request) -> dict[str, object]:
    """Return the body of a request that must be a JSON object."""
    try:
        body = orjson.loads(await request.body())
    except orjson.JSONDecodeError:
        body = None
    if not isinstance(body, dict):
        raise Invalid([FieldError(None, "The body must be a JSON object")])
    return body


def practice_of(request: Request) -> Practice:
    """Return the practice that an authorised request acts for.

    Raises:
        Refusal: 401 without a good token; the switched status without a practice; 403 for a foreign practice.
    """
    platform = platform_of(request)
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not platform.takes_token(token.strip()):
        raise Refusal(401, "Unauthorized")
    practice_id = request.headers.get("x-client-id")
    if not practice_id:
        raise Refusal(platform.switches.missing_practice_status, "The X-Client-Id header is required")
    practice = platform.world.practices.get(practice_id)
    if practice is None or practice.has_left(platform.now()):
        raise Refusal(403, "This practice is not yours to act for")
    return practice
