"""Post a text to an incoming webhook: `{"text": ...}` as Slack and Mattermost take it, a card for Teams."""

import json
import re
import urllib.error
import urllib.request
from html import escape
from typing import Any
from urllib.parse import urlsplit

from vetl.core.errors import NotDelivered

_SECONDS = 10
_MENTION = re.compile(r"@(?=channel|here|everyone|all)", re.IGNORECASE)
_TEAMS = (".logic.azure.com", ".powerplatform.com", ".webhook.office.com")


def post_text(address: str, text: str) -> None:
    """Post a text; the address is a secret and appears in no error."""
    body = json.dumps(payload(address, text)).encode()
    host = urlsplit(address).hostname
    try:
        request = urllib.request.Request(  # noqa: S310 - the operator's own address
            address, body, {"Content-Type": "application/json"}, method="POST"
        )
        with urllib.request.urlopen(request, timeout=_SECONDS):  # noqa: S310
            pass
    except urllib.error.HTTPError as error:
        raise NotDelivered(f"{host}: the webhook refuses the message ({error.code})") from None
    except (OSError, ValueError) as error:
        raise NotDelivered(f"{host}: the webhook cannot be reached: {type(error).__name__}") from None


def payload(address: str, text: str) -> dict[str, Any]:
    """Return the body for an address: an adaptive card for the hosts of Teams, else `{"text": ...}`.

    Names come from outside: none becomes a mention of everybody, or a link under other words. Slack and Mattermost
    take `&`, `<` and `>` as entities, and both they and Teams know Markdown's links.
    """
    text = _MENTION.sub("@\u200b", text).replace("](", "] (")
    if not (urlsplit(address).hostname or "").endswith(_TEAMS):
        return {"text": escape(text, quote=False)}
    blocks = [{"type": "TextBlock", "text": line, "wrap": True} for line in text.splitlines() if line.strip()]
    card = {"type": "AdaptiveCard", "version": "1.4", "body": blocks}
    return {
        "type": "message",
        "attachments": [{"contentType": "application/vnd.microsoft.card.adaptive", "content": card}],
    }
