"""One webhook over HTTP: signed, tried up to three times; the waits go by the platform's clock.

Contract: Authentication 7; Limits (10 s time-out, 3 attempts, waits of 2 s then 4 s).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from vetl_sandbox.agenda import Agenda, Work
from vetl_sandbox.stamps import stamped
from vetl_sandbox.switches import Switches
from vetl_sandbox.webhooks.faults import (
    ANSWERS_LOST,
    Kind,
    Payload,
    WebhookFault,
    WebhookFaults,
    forged,
    of_practice,
)
from vetl_sandbox.webhooks.posting import Letter, letter, post

WAITS: Final = (2, 4)
_ACKNOWLEDGED: Final = range(200, 300)
_NOBODY: Final = "loc-999"
_ANOTHER_SECRET: Final = "whsec_forged"  # noqa: S105 - nobody's
Then = Callable[[bool], None]


@dataclass(frozen=True)
class Attempt:
    """One request that was sent: `status` is the answer's, None if none came in time.

    `fault`: its fault, see `WebhookFault`; None if it had none.
    """

    kind: str
    url: str
    number: int
    at: datetime
    status: int | None
    payload: Payload
    fault: Kind | None = None

    @property
    def acknowledged(self) -> bool:
        """Whether the receiver took it (2xx)."""
        return self.status in _ACKNOWLEDGED


@dataclass(frozen=True)
class Webhook:
    """A payload and its receiver. `timestamp` is added at each attempt: the time of sending."""

    kind: str
    url: str
    user_agent: str
    practice_id: str
    payload: Payload


@dataclass
class Deliveries:
    """Sends webhooks and keeps a log of all attempts.

    `practices` are the ids of all practices; `secret` signs for those without one of their own
    (`webhook_secrets`).
    """

    agenda: Agenda
    now: Callable[[], datetime]
    switches: Callable[[], Switches]
    secret: str
    practices: Sequence[str]
    faults: WebhookFaults
    log: list[Attempt] = field(default_factory=list)
    _count: int = 0

    def send(self, webhook: Webhook, then: Then = lambda _: None) -> None:
        """Deliver as soon as possible; call `then` with whether an attempt was acknowledged."""
        self._count += 1
        fault = self.faults.strike(webhook.kind, f"{webhook.kind} {self._count}")
        if fault is None or fault.kind == "answer_lost":
            self._begin(webhook, then, fault)
        elif fault.kind == "lost":
            then(True)
        elif fault.kind == "late":
            self.agenda.after(fault.wait_seconds, lambda: self._begin(webhook, lambda _: None, fault))
            then(True)
        elif fault.kind == "duplicate":
            self._begin(webhook, lambda taken: self._duplicated(webhook, then, fault, taken=taken))
        elif fault.kind == "replayed":
            self._begin(webhook, then, fault)
        else:
            self._forge(webhook, then, fault)

    def _begin(self, webhook: Webhook, then: Then, fault: WebhookFault | None = None) -> None:
        self.agenda.add(self.now(), lambda: self._attempt(webhook, 1, then, fault))

    def _attempt(self, webhook: Webhook, number: int, then: Then, fault: WebhookFault | None) -> None:
        sent = self._letter(webhook, self._stamped(webhook.payload))

        def answered(attempt: Attempt) -> None:
            if not attempt.acknowledged and number <= len(WAITS):
                self.agenda.after(WAITS[number - 1], lambda: self._attempt(webhook, number + 1, then, fault))
                return
            then(attempt.acknowledged)
            if fault is not None and fault.kind == "replayed":
                for after in _copies(fault):
                    self.agenda.after(after, lambda: self._send(webhook.kind, sent, fault="replayed"))

        kind = None if fault is None or fault.kind == "replayed" else fault.kind
        self._send(webhook.kind, sent, answered, number, kind)

    def _duplicated(self, webhook: Webhook, then: Then, fault: WebhookFault, *, taken: bool) -> None:
        then(taken)
        for after in _copies(fault):
            self.agenda.after(after, lambda: self._attempt(webhook, 1, lambda _: None, fault))

    def _forge(self, webhook: Webhook, then: Then, fault: WebhookFault) -> None:
        """Send, once and just before the true webhook, a request that the platform itself would not send."""
        true = self._stamped(webhook.payload)
        if fault.kind == "wrong_practice":
            other = fault.practice_id or next((p for p in self.practices if p != webhook.practice_id), _NOBODY)
            sent = self._letter(webhook, of_practice(webhook.kind, true, other))
        elif fault.kind == "tampered":
            sent = self._letter(webhook, true).with_content(forged(webhook.kind, true))
        else:
            secret = _ANOTHER_SECRET if fault.kind == "forged" else None
            sent = letter(webhook.url, webhook.user_agent, forged(webhook.kind, true), secret)

        def answered(_: Attempt) -> None:
            self._begin(webhook, then)

        self.agenda.add(self.now(), lambda: self._send(webhook.kind, sent, answered, fault=fault.kind))

    def _send(
        self,
        kind: str,
        sent: Letter,
        answered: Callable[[Attempt], None] = lambda _: None,
        number: int = 1,
        fault: Kind | None = None,
    ) -> None:
        """Post in a thread; log the attempt and call `answered` when the answer is there, or too late."""
        at = self.now()

        def landed(status: int | None) -> None:
            lost = fault == "answer_lost" and number <= ANSWERS_LOST
            attempt = Attempt(kind, sent.url, number, at, None if lost else status, sent.payload, fault)
            self.log.append(attempt)
            answered(attempt)

        def errand() -> Work:
            status = post(sent)
            return lambda: landed(status)

        self.agenda.send_out(errand)

    def _letter(self, webhook: Webhook, payload: Payload) -> Letter:
        secret = self.switches().webhook_secrets.get(webhook.practice_id, self.secret)
        return letter(webhook.url, webhook.user_agent, payload, secret)

    def _stamped(self, payload: Payload) -> Payload:
        return stamped(payload | {"timestamp": self.now()}, self.switches())


def _copies(fault: WebhookFault) -> list[float]:
    """Return after how many seconds each copy comes."""
    return [fault.wait_seconds * (place + 1) for place in range(fault.copies)]
