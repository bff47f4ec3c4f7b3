"""Messages as a partner sends them."""

from typing import Any

import httpx
from support.partner_side import Partner, Row, made

PHONE = "+12125550139"
"""An ordinary number, of a handset without RCS."""
RCS_PHONE = "+12125550138"


URL = "https://example.com/a.png"
REPLY = {"type": "reply", "text": "Yes"}
CARD = {"title": "A card"}


def to(ending: str) -> Row:
    """Return a recipient who behaves as these digits say (`sandbox.messages.numbers`)."""
    return {"phone_number": f"+121255501{ending}"}


def send(partner: Partner, **fields: Any) -> httpx.Response:
    """Create a message; None leaves a field out."""
    body = {"recipient": {"phone_number": PHONE}, "fallback_text": "Hello", **fields}
    return partner.post("messages", {name: value for name, value in body.items() if value is not None})


def changes_of(partner: Partner, **fields: Any) -> list[tuple[str, str | None]]:
    """Return status and channel of a message at each change in its first minutes."""
    message = made(send(partner, **fields))
    seen = [(message["status"], message["channel_used"])]
    for _ in range(60):
        partner.later(seconds=2)
        now = partner.page(f"messages/{message['id']}")
        if seen[-1] != (now["status"], now["channel_used"]):
            seen.append((now["status"], now["channel_used"]))
    return seen


def card(**fields: Any) -> Row:
    return {"type": "card", "card": {**CARD, **fields}}


def carousel(cards: int) -> Row:
    return {"type": "carousel", "cards": [CARD] * cards}


def chips(*buttons: Row) -> Row:
    return {"type": "text", "suggestions": list(buttons)}
