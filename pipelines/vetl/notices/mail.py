"""Send mail by SMTP. Beyond this machine the connection is encrypted, or nothing is sent."""

import smtplib
import ssl
from collections.abc import Iterable
from email.message import EmailMessage
from email.utils import formatdate

from vetl.core.errors import NotDelivered
from vetl.core.text import is_this_machine
from vetl.settings.core_sections import AlertSettings

_SECONDS = 20
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
        with _connected(host, port, trusted) as server:
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


def _connected(host: str, port: int, context: ssl.SSLContext) -> smtplib.SMTP:
    if port == _TLS_FROM_THE_START:
        return smtplib.SMTP_SSL(host, port, timeout=_SECONDS, context=context)
    return smtplib.SMTP(host, port, timeout=_SECONDS)
