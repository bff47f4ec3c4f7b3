"""The envelopes of answers and errors (contract: "What the service does", 7; Errors)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
from starlette.responses import Response


@dataclass(frozen=True)
class FieldError:
    """One fault of a request; `field` is a dotted path, or None for the request as a whole."""

    field: str | None
    message: str


class Refusal(Exception):
    """A request that gets a general error."""

    def __init__(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.headers = headers

    def data(self) -> dict[str, Any] | None:
        """Return the envelope's fields beside the message."""
        return None


class Invalid(Refusal):
    """A request with invalid input: 400, with every offending field."""

    def __init__(self, errors: Sequence[FieldError]) -> None:
        super().__init__(400, errors[0].message)
        self.errors = errors

    def data(self) -> dict[str, Any]:
        """Return every offending field."""
        errors = [{"field": error.field, "message": error.message} for error in self.errors]
        return {"message": self.message, "errors": errors}


def encoded(data: object, message: str | None = None) -> bytes:
    """Return a payload in the success envelope."""
    return orjson.dumps({"success": True, "data": data, "message": message})


def success(data: object, *, status: int = 200, message: str | None = None) -> Response:
    """Return an answer with a payload in the success envelope."""
    return json_response(encoded(data, message), status)


def json_response(body: bytes, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return an answer whose JSON is ready."""
    return Response(body, status, headers, media_type="application/json")


def refusal(refused: Refusal) -> Response:
    """Return an error as its envelope."""
    body: dict[str, Any] = {"success": False, "message": refused.message}
    data = refused.data()
    content = orjson.dumps(body if data is None else body | {"data": data})
    return json_response(content, refused.status, refused.headers)
