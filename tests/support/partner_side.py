"""A partner's side of the interface, as simple as possible: a client for tests of the sandbox."""

import re
import ssl
from datetime import timedelta
from typing import Any, Final

import httpx
from vetl_sandbox import Handle

ROOT = "/services/core/open_api/v1"
SIGN_IN = "/services/user/v1/auth/sign-in"

# Plain HTTP on this machine: reading the system's certificates would take longer than most tests.
_NO_CERTIFICATES = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)

Query = str | int | list[str] | None
Row = dict[str, Any]


class Partner:
    """A client that signs in once and sends requests for one practice."""

    def __init__(self, platform: Handle, practice_id: str = "loc-001") -> None:
        self.platform = platform
        self.http = httpx.Client(base_url=platform.base_url, verify=_NO_CERTIFICATES)
        self.practice_id = practice_id
        self.sign_in()

    def sign_in(self) -> None:
        credentials = {name: getattr(self.platform, name) for name in ("username", "password", "role")}
        token = self.http.post(SIGN_IN, json=credentials).json()["data"]["token"]
        self.http.headers.update({"Authorization": f"Bearer {token}", "X-Client-Id": self.practice_id})

    def get(self, path: str, **query: Query) -> httpx.Response:
        return self.http.get(f"{ROOT}/{path}", params=query)

    def post(self, path: str, body: Any) -> httpx.Response:
        return self.http.post(f"{ROOT}/{path}", json=body)

    def put(self, path: str, body: Any) -> httpx.Response:
        return self.http.put(f"{ROOT}/{path}", json=body)

    def delete(self, path: str) -> httpx.Response:
        return self.http.delete(f"{ROOT}/{path}")

    def act_for(self, practice_id: str) -> None:
        self.practice_id = self.http.headers["X-Client-Id"] = practice_id

    def later(self, **duration: float) -> None:
        """Advance the clock: `later(hours=3)`."""
        self.platform.advance(timedelta(**duration))

    def page(self, path: str, **query: Query) -> Any:
        answer = self.get(path, **query)
        assert answer.status_code == 200, answer.text
        return answer.json()["data"]

    def everything(self, path: str, **query: Query) -> list[Row]:
        """Return all pages of a list whose pages count from zero."""
        rows: list[Row] = []
        while True:
            page = self.page(path, per_page=100, page=len(rows) // 100, **query)
            rows += page["content"]
            assert len(rows) <= page["total_count"], "more rows than the list says that it has"
            if len(page["content"]) < 100:
                return rows

    def truth(self, name: str) -> list[Row]:
        return self.platform.truth(self.practice_id, name)


def at_fault(answer: httpx.Response) -> list[str | None]:
    """Return the fields that a validation error names (contract: Errors)."""
    assert answer.status_code == 400, answer.text
    body = answer.json()
    errors = body["data"]["errors"]
    assert all(set(error) == {"field", "message"} and isinstance(error["message"], str) for error in errors)
    first = errors[0]["message"]
    assert body == {"success": False, "message": first, "data": {"message": first, "errors": errors}}
    return [error["field"] for error in errors]


def made(answer: httpx.Response, *statuses: int) -> Row:
    """Return the created record of an answer with one of some statuses: 200 or 201 by default."""
    assert answer.status_code in (statuses or (200, 201)), answer.text
    return answer.json()["data"]


ISO: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")


def by_id(rows: list[Row]) -> dict[str, Row]:
    """Return rows by their ids, and fail if an id occurs twice."""
    indexed = {row["id"]: row for row in rows}
    assert len(indexed) == len(rows)
    return indexed
