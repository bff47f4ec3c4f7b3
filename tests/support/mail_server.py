"""A mail server on this machine: with or without TLS, with or without a sign-in, and one that refuses."""

import ssl
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, Envelope, Session
from support.processes import free_port


@dataclass(slots=True)
class Mailbox:
    """The messages that a server took. While `refuses` is set, it takes none."""

    port: int = 0
    refuses: bool = False
    messages: list[EmailMessage] = field(default_factory=list[EmailMessage])
    encrypted: list[bool] = field(default_factory=list[bool])

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: ARG002, N802 - aiosmtpd's
        if self.refuses:
            return "451 try again later"
        message = message_from_bytes(envelope.original_content or b"", policy=default)
        assert isinstance(message, EmailMessage)
        self.messages.append(message)
        assert server.transport
        self.encrypted.append(server.transport.get_extra_info("ssl_object") is not None)
        return "250 OK"


@contextmanager
def mail_server(tls: ssl.SSLContext | None = None, **more: Any) -> Generator[Mailbox]:
    mailbox = Mailbox()
    mailbox.port = free_port()
    controller = Controller(mailbox, hostname="127.0.0.1", port=mailbox.port, tls_context=tls, **more)
    controller.start()
    try:
        yield mailbox
    finally:
        controller.stop(no_assert=True)
