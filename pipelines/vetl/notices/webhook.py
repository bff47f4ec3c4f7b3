"""Post a text to an incoming webhook: `{"text": ...}` as Slack and Mattermost take it, a card for Teams.

For PagerDuty the text is an event. Its address has the key of the integration:
`https://events.pagerduty.com/v2/enqueue?routing_key=...`.
"""

import json
import re
import urllib.error
import urllib.request
from html import escape
from typing import Any
from urllib.parse import parse_qs, urlsplit

from vetl.core.errors import NotDelivered

_SECONDS = 10
_MENTION = re.compile(r"@(?=channel|here|everyone|all)", re.IGNORECASE)
_PAGERDUTY = "events.pagerduty.com", "events.eu.pagerduty.com"
_TEAMS = (".logic.azure.com", ".powerplatform.com", ".webhook.office.com")


def post_text(address: str, text: str, *, about: str = "", is_over: bool = False) -> None:
    """Post a text; the address is a secret and appears in no error.

    Texts `about` the same thing are one incident of PagerDuty, until the thing `is_over`.
    """
    body = json.dumps(payload(address, text, about=about, is_over=is_over)).encode()
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


def payload(address: str, text: str, *, about: str = "", is_over: bool = False) -> dict[str, Any]:
    """Return the body for an address: an adaptive card for the hosts of Teams, else `{"text": ...}`.

    Names come from outside: none becomes a mention of everybody, or a link under other words. Slack and Mattermost
    take `&`, `<` and `>` as entities, and both they and Teams know Markdown's links.
    """
    host = urlsplit(address).hostname or ""
    if host.endswith(_PAGERDUTY):
        return _event(address, text, about=about, is_over=is_over)
    text = _MENTION.sub("@\u200b", text).replace("](", "] (")
    if not host.endswith(_TEAMS):
        return {"text": escape(text, quote=False)}
    blocks = [{"type": "TextBlock", "text": line, "wrap": True} for line in text.splitlines() if line.strip()]
    card = {"type": "AdaptiveCard", "version": "1.4", "body": blocks}
    return {
        "type": "message",
        "attachments": [{"contentType": "application/vnd.microsoft.card.adaptive", "content": card}],
    }


def _event(address: str, text: str, *, about: str, is_over: bool) -> dict[str, Any]:
    """Return an event of PagerDuty's Events API, version 2; a text about nothing is an incident of its own."""
    first, _, rest = text.partition("\n")
    key = {"dedup_key": f"vetl {about}"} if about else {}
    return {
        "routing_key": parse_qs(urlsplit(address).query).get("routing_key", [""])[0],
        "event_action": "resolve" if is_over else "trigger",
        **key,
        "payload": {
            "summary": first[:1024],
            "source": "vetl",
            "severity": "error",
            "custom_details": {"text": rest},
        },
    }
