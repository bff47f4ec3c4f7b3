"""Alerts about failed jobs: by webhook, by e-mail, or by channels of the user's own.

Each cause is sent once, again after `repeat_hours`, and once more when it is over.
"""

import time
from collections.abc import Callable, Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass, replace

from vetl.notices.mail import send_mail, written
from vetl.notices.webhook import post_text
from vetl.settings.core_sections import AlertSettings

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
