"""Faults of the sender of webhooks, and requests that others send in its name."""

from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from vetl_sandbox.strikes import Rule, Strikes

Payload = dict[str, Any]
Kind = Literal[
    "lost",
    "late",
    "duplicate",
    "answer_lost",
    "replayed",
    "forged",
    "unsigned",
    "tampered",
    "wrong_practice",
]
KINDS: Final = get_args(Kind)
ANSWERS_LOST: Final = 2
FORGED: Final = "forged"
"""A word in every forged body, so that a test can search for it."""


@dataclass(frozen=True)
class WebhookFault(Rule):
    """One rule: which webhooks go wrong, how, and how often. Each webhook meets at most one, and comes once.

    Attributes:
        kind: `lost` (never sent: a status is skipped), `late` (sent `wait_seconds` later, and what follows does
            not wait for it: out of order), `duplicate` (sent `copies` times more after the answer, each time
            with a fresh `timestamp`), `answer_lost` (the receiver has it, but its first two answers come too
            late for the sender, which tries again after 2 s and 4 s), `replayed` (somebody sends the very same
            bytes and signature again `wait_seconds` later); and before the true webhook, which comes as ever:
            `forged` (another content, signed with another secret), `unsigned` (another content, no signature),
            `tampered` (another content under the true body's signature), `wrong_practice` (another practice in
            the body, signed with this practice's secret).
        path: A pattern of `messages`, `ai_outbound`, `service_reminders`.
        share: The part of matching webhooks that it hits.
        most: Hits in all; None for no end.
        wait_seconds: By the platform's clock.
        copies: For `duplicate` and `replayed`.
        practice_id: For `wrong_practice`: the one in the body; by default another practice of the platform.
    """

    kind: Kind
    wait_seconds: float = 30
    copies: int = 1
    practice_id: str | None = None


class WebhookFaults(Strikes[WebhookFault]):
    """The faults in force; `strike` gets the kind of webhook and its running number."""


UNRELIABLE: Final = (
    WebhookFault("lost", path="messages", share=0.05),
    WebhookFault("late", share=0.1, wait_seconds=120),
    WebhookFault("duplicate", share=0.1),
    WebhookFault("answer_lost", share=0.1),
    WebhookFault("replayed", share=0.1, wait_seconds=3600),
)
HOSTILE: Final = (
    WebhookFault("forged", share=0.2),
    WebhookFault("unsigned", share=0.2),
    WebhookFault("tampered", share=0.2),
    WebhookFault("replayed", share=0.2, wait_seconds=3600),
)
PRESETS: Final = {"none": (), "unreliable": UNRELIABLE, "hostile": HOSTILE}

_WORST: Final[dict[str, Payload]] = {
    "messages": {"status": "failed", "event": "message.failed", "event_id": "evt_forged", "error_message": FORGED},
    "ai_outbound": {
        "status": "failed",
        "event": "ai_outbound.failed",
        "outcome": None,
        "outcome_detail": None,
        "error_message": FORGED,
    },
    "service_reminders": {"group_status": "deleted", "notification_rule_name": FORGED},
}


def forged(kind: str, payload: Payload) -> Payload:
    """Return a body about the same message, request or reminder with the worst possible content."""
    return payload | _WORST[kind]


def of_practice(kind: str, payload: Payload, practice_id: str) -> Payload:
    """Return a body that says it comes from another practice."""
    return payload | {"practice_id" if kind == "service_reminders" else "clinic_id": practice_id}
