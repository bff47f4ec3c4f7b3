"""The HTTP request of a webhook."""

import hashlib
import hmac
import ssl
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final

import httpx
import orjson


@dataclass(frozen=True)
class Letter:
    """One request: its address, its body, the payload of the body, and its headers."""

    url: str
    headers: dict[str, str]
    body: bytes
    payload: dict[str, Any]

    def with_content(self, payload: dict[str, Any]) -> "Letter":
        """Return another content under the same headers."""
        return replace(self, body=orjson.dumps(payload), payload=payload)


_SECONDS: Final = 10


def letter(url: str, user_agent: str, payload: dict[str, Any], secret: str | None) -> Letter:
    """Return a payload as JSON, signed if there is a secret (contract: Events; Authentication 7)."""
    body = orjson.dumps(payload)
    headers = {"Content-Type": "application/json", "User-Agent": user_agent}
    if secret is not None:
        headers["X-Webhook-Signature"] = signature(secret, body)
    return Letter(url, headers, body, payload)


def post(sent: Letter) -> int | None:
    """Return the status of the answer; None if none comes in time, or no connection can be made."""
    try:
        with httpx.Client(timeout=_SECONDS, verify=_certificates(), trust_env=False) as client:
            return client.post(sent.url, content=sent.body, headers=sent.headers).status_code
    except (httpx.HTTPError, httpx.InvalidURL, OSError):
        return None


def signature(secret: str, body: bytes) -> str:
    """Return the lowercase hex HMAC-SHA256 of the raw body."""
    return hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


@cache
def _certificates() -> ssl.SSLContext:
    """Return the system's certificate authorities; reading them takes long, so it is done once."""
    return ssl.create_default_context()
