"""One webhook over HTTP: signed, tried up to three times, waiting between attempts by the platform's clock.

Contract: Authentication 7; Limits (10 s time-out, 3 attempts, waits of 2 s then 4 s).
"""

import hashlib
import hmac
import ssl
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Any, Final

import httpx
import orjson

from sandbox.agenda import Agenda
from sandbox.stamps import stamped
from sandbox.switches import Switches

WAITS: Final = (2, 4)
_ACKNOWLEDGED: Final = range(200, 300)
Payload = dict[str, Any]


@dataclass(frozen=True)
class Attempt:
    """One request that was sent: `status` is the answer's, None where there was none in time."""

    kind: str
    url: str
    number: int
    at: datetime
    status: int | None
    payload: Payload

    @property
    def acknowledged(self) -> bool:
        """Whether the receiver took it (2xx)."""
        return self.status in _ACKNOWLEDGED


@dataclass(frozen=True)
class Webhook:
    """What is to be told to whom. `timestamp` is added at each attempt: the time of sending."""

    kind: str
    url: str
    user_agent: str
    payload: Payload


@dataclass
class Deliveries:
    """Sends webhooks and keeps a log of all attempts."""

    agenda: Agenda
    now: Callable[[], datetime]
    switches: Callable[[], Switches]
    secret: str
    log: list[Attempt] = field(default_factory=list)

    def send(self, webhook: Webhook, then: Callable[[bool], None] = lambda _: None) -> None:
        """Deliver as soon as can be; `then` learns whether it was acknowledged in one of the attempts."""
        self.agenda.add(self.now(), lambda: self._attempt(webhook, 1, then))

    def _attempt(self, webhook: Webhook, number: int, then: Callable[[bool], None]) -> None:
        at = self.now()
        payload = stamped(webhook.payload | {"timestamp": at}, self.switches())
        status = self._post(webhook, orjson.dumps(payload))
        attempt = Attempt(webhook.kind, webhook.url, number, at, status, payload)
        self.log.append(attempt)
        if attempt.acknowledged or number > len(WAITS):
            then(attempt.acknowledged)
        else:
            self.agenda.after(WAITS[number - 1], lambda: self._attempt(webhook, number + 1, then))

    def _post(self, webhook: Webhook, body: bytes) -> int | None:
        switches = self.switches()
        headers = {"Content-Type": "application/json", "User-Agent": webhook.user_agent}
        if switches.signed_webhooks:
            headers["X-Webhook-Signature"] = signature(self.secret, body)
        try:
            with httpx.Client(
                timeout=switches.webhook_timeout_seconds,
                verify=_certificates(switches.webhook_certificates),
                trust_env=False,
            ) as client:
                return client.post(webhook.url, content=body, headers=headers).status_code
        except httpx.HTTPError:
            return None


def signature(secret: str, body: bytes) -> str:
    """The lowercase hex HMAC-SHA256 of the raw body."""
    return hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


@lru_cache(maxsize=4)
def _certificates(file: str | None) -> ssl.SSLContext:
    """Whom https targets may be certified by; reading the system's takes long, so it is done once."""
    return ssl.create_default_context(cafile=file)
