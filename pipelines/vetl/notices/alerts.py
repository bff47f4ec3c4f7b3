"""Alerts about failed jobs: by webhook, by e-mail, or by channels of the user's own."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from vetl.notices.mail import send_mail, written
from vetl.notices.webhook import post_text
from vetl.settings.core_sections import AlertSettings


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
