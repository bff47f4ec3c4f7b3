"""A partner's side of the interface, as plain as it gets: what the sandbox is tried with."""

import ssl
from typing import Any

import httpx

from sandbox import Handle

ROOT = "/services/core/open_api/v1"
SIGN_IN = "/services/user/v1/auth/sign-in"

# Plain HTTP on this machine: reading the system's certificates would take longer than most tests.
_NO_CERTIFICATES = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)

Query = str | int | list[str] | None
Row = dict[str, Any]


class Partner:
    """Signs in once and asks for one practice."""

    def __init__(self, platform: Handle, practice_id: str = "loc-001") -> None:
        self.platform = platform
        self.http = httpx.Client(base_url=platform.base_url, verify=_NO_CERTIFICATES)
        self.practice_id = practice_id
        self.sign_in()

    def sign_in(self) -> None:
        credentials = {
            "username": self.platform.username,
            "password": self.platform.password,
            "role": self.platform.role,
        }
        token = self.http.post(SIGN_IN, json=credentials).json()["data"]["token"]
        self.http.headers.update({"Authorization": f"Bearer {token}", "X-Client-Id": self.practice_id})

    def get(self, path: str, **query: Query) -> httpx.Response:
        return self.http.get(f"{ROOT}/{path}", params=query)

    def page(self, path: str, **query: Query) -> Any:
        answer = self.get(path, **query)
        assert answer.status_code == 200, answer.text
        return answer.json()["data"]

    def everything(self, path: str, **query: Query) -> list[Row]:
        """All pages of a list whose pages count from zero."""
        rows: list[Row] = []
        while True:
            page = self.page(path, per_page=100, page=len(rows) // 100, **query)
            rows += page["content"]
            if len(page["content"]) < 100:
                return rows

    def truth(self, name: str) -> list[Row]:
        return self.platform.truth(self.practice_id, name)

    def fields_at_fault(self, path: str, **query: Query) -> list[str | None]:
        """The fields that a validation error names."""
        answer = self.get(path, **query)
        assert answer.status_code == 400
        body = answer.json()
        assert body["success"] is False
        assert body["message"] == body["data"]["message"] == body["data"]["errors"][0]["message"]
        return [error["field"] for error in body["data"]["errors"]]
