"""Notices to people: an alert about failed jobs, a text to an incoming webhook, a mail.

A webhook gets `{"text": ...}` as Slack and Mattermost take it, Teams a card, PagerDuty an event. The address of
PagerDuty has the key of the integration: `https://events.pagerduty.com/v2/enqueue?routing_key=...`.

Mail goes by SMTP. Beyond this machine the connection is encrypted, or nothing is sent.

Each cause of an alert is sent once, again after `repeat_hours`, and once more when it is over.
"""

import json
import re
import smtplib
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass, replace
from email.message import EmailMessage
from email.utils import formatdate
from functools import partial
from html import escape
from typing import Any
from urllib.parse import parse_qs, urlsplit

from vetl.core.errors import NotDelivered
from vetl.core.text import is_this_machine
from vetl.settings.core_sections import AlertSettings

_WEBHOOK_SECONDS = 10
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
        with urllib.request.urlopen(request, timeout=_WEBHOOK_SECONDS):  # noqa: S310
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


_MAIL_SECONDS = 20
_TLS_FROM_THE_START = 465


def written(subject: str, sender: str, to: Iterable[str]) -> EmailMessage:
    """Return a message with these headers. A header is one line, so a line feed in a name becomes a space."""
    message = EmailMessage()
    headers = {"Subject": subject, "From": sender, "To": ", ".join(to)}
    for name, value in headers.items():
        message[name] = " ".join(value.split())
    return message


def send_mail(settings: AlertSettings, message: EmailMessage) -> None:
    """Send a message through the mail server of `[alerts]`.

    On port 465 the connection begins with TLS, on others by STARTTLS. A server on this machine may do without.
    """
    host, port = settings.smtp_host, settings.smtp_port
    message["Date"] = formatdate()
    message["Auto-Submitted"] = "auto-generated"  # no server answers that somebody is on holiday
    trusted = ssl.create_default_context()
    try:
        connect = partial(smtplib.SMTP_SSL, context=trusted) if port == _TLS_FROM_THE_START else smtplib.SMTP
        with connect(host, port, timeout=_MAIL_SECONDS) as server:
            server.ehlo()
            if port != _TLS_FROM_THE_START and (server.has_extn("starttls") or not is_this_machine(host)):
                server.starttls(context=trusted)
                server.ehlo()
            if settings.smtp_username and settings.smtp_password:
                server.login(settings.smtp_username, settings.smtp_password.get_secret_value())
            refused = server.send_message(message)
    except smtplib.SMTPNotSupportedError:
        what = "takes no sign-in" if is_this_machine(host) else "offers no TLS"
        raise NotDelivered(f"{host}:{port}: the mail server {what}; nothing was sent") from None
    except smtplib.SMTPAuthenticationError:
        raise NotDelivered(f"{host}:{port}: the mail server refuses smtp_username and its password") from None
    except smtplib.SMTPResponseException as error:
        raise NotDelivered(f"{host}:{port}: the server did not take the message ({error.smtp_code})") from None
    except smtplib.SMTPRecipientsRefused:
        raise NotDelivered(f"{host}:{port}: the mail server refuses the recipients") from None
    except smtplib.SMTPException as error:
        raise NotDelivered(f"{host}:{port}: the mail server failed: {type(error).__name__}") from None
    except OSError as error:
        why = getattr(error, "verify_message", None) or error.strerror or type(error).__name__
        raise NotDelivered(f"{host}:{port}: no connection to the mail server: {why}") from None
    if refused:
        raise NotDelivered(f"{host}:{port}: the mail server refuses {len(refused)} of the recipients")


_MOST_LINES = 20


@dataclass(frozen=True, slots=True)
class Alert:
    """The message about one failed run, or about causes that are over; `is_well`: no cause is left."""

    job: str
    run_id: str
    failures: tuple[str, ...]
    is_over: bool = False
    is_well: bool = False

    @property
    def subject(self) -> str:
        """Return the first line."""
        return f"vetl: {self.job} is well again" if self.is_over else f"vetl: {self.job} failed"

    @property
    def text(self) -> str:
        """Return the whole message."""
        return "\n".join((self.subject, *(f"- {line}" for line in self.failures), f"Dagster run {self.run_id}"))


Channel = Callable[[Alert], None]
"""Sends an alert; raises an exception if it cannot."""


def channels(settings: AlertSettings) -> list[Channel]:
    """Return the channels that `[alerts]` configures."""
    configured: list[Channel] = []
    if settings.webhook:
        address = settings.webhook.get_secret_value()
        configured.append(lambda alert: post_text(address, alert.text, about=alert.job, is_over=alert.is_well))
    if settings.email_to:
        configured.append(lambda alert: mail(settings, alert))
    return configured


def mail(settings: AlertSettings, alert: Alert) -> None:
    """Send an alert by SMTP; beyond this machine over TLS."""
    message = written(alert.subject, settings.email_from, settings.email_to)
    message.set_content(alert.text)
    send_mail(settings, message)


def send(used: Sequence[Channel], alert: Alert) -> None:
    """Send through every channel, then raise the first exception, if any."""
    failures: list[Exception] = []
    for channel in used:
        try:
            channel(alert)
        except Exception as error:  # noqa: BLE001 - channels are anybody's code
            failures.append(error)
    if failures:
        raise failures[0]


def send_news(
    used: Sequence[Channel],
    alert: Alert,
    causes: AbstractSet[str],
    judged: AbstractSet[str] | None,
    before: Mapping[str, float],
    hours: float,
) -> dict[str, float] | None:
    """Send an alert if one of its causes is new or due again, and another if causes are over.

    `before` are the causes that were sent, by time; return those of now, or `None` if nothing is sent. A cause is
    over if it belongs to a step that the run has `judged`, or if no step is given.
    """
    now = time.time()
    over = {one for one in before.keys() - causes if judged is None or one.partition(": ")[0] in judged}
    is_due = any(now - before.get(cause, 0.0) > hours * 3600 for cause in causes)
    if is_due:
        send(used, alert)
    if over:
        lines = tuple(sorted(over))[:_MOST_LINES]
        send(used, replace(alert, failures=lines, is_over=True, is_well=not causes))
    kept = {cause: at for cause, at in before.items() if cause not in over}
    return kept | (dict.fromkeys(causes, now) if is_due else {}) if is_due or over else None
