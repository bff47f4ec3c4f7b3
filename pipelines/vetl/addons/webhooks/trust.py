"""Accept or refuse deliveries by their signature alone, with the secrets that are active now.

A delivery may be hours late (contract: the hourly reconciliation) and may come from any address, so neither its
time nor its source matters.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import structlog

from vetl.core.errors import ConfigurationError
from vetl.partner.webhooks import Channel, Delivery, Secret, Signing, may_speak_for, parse_delivery, practice_of


class Refused(Exception):
    """The delivery is not genuine; the message is the reason and contains nothing of the body."""

    def __init__(self, reason: str, status: int = 401) -> None:
        super().__init__(reason)
        self.status = status


@dataclass(frozen=True, slots=True)
class Trust:
    """The active secrets; `unsigned` accepts deliveries without a signature for practices without a secret."""

    secrets: tuple[Secret, ...]
    unsigned: bool = False

    def admit(
        self, channel: Channel, body: bytes, signing: Signing, signature: str | None
    ) -> tuple[str, Delivery]:
        """Return the practice of a delivery, empty if it is unknown, and the delivery.

        `signing` has hashed the whole body. The body is not parsed before its signature is verified. Raise
        `Refused` if the delivery is not signed, not by an active secret, or by that of another practice.
        """
        if signature is None:
            return self._unsigned(channel, body)
        signed_by = signing.signers(signature)
        if not signed_by:
            raise Refused("the signature is not of an active secret")
        delivery = parse_delivery(channel, body)
        if not may_speak_for(signed_by, delivery.practice_id):
            raise Refused("signed for another practice", 403)
        return practice_of(signed_by, delivery) or "", delivery

    def _unsigned(self, channel: Channel, body: bytes) -> tuple[str, Delivery]:
        if not self.unsigned:
            raise Refused("not signed")
        delivery = parse_delivery(channel, body)
        if delivery.problem:
            raise Refused("neither signed nor understood")
        if any(item.practice_id in (None, delivery.practice_id) for item in self.secrets):
            raise Refused("not signed, though there is a secret for the practice")
        return delivery.practice_id or "", delivery


_log = structlog.stdlib.get_logger("vetl.webhooks")


class Rotation:
    """The secrets now; if changed settings cannot be read or have no secret, a line is logged and they stay."""

    def __init__(self, read: Callable[[], Trust], files: Sequence[Path]) -> None:
        self._read, self._files = read, files
        self._seen = [*map(_stamp, files)]
        self._trust = read()

    def __call__(self) -> Trust:
        """Return the secrets as they are saved now."""
        if (stamps := [*map(_stamp, self._files)]) != self._seen:
            self._seen = stamps
            self._read_again()
        return self._trust

    def _read_again(self) -> None:
        try:
            self._trust = self._read()
        except ConfigurationError as error:
            _log.error("secrets_not_read", cause=str(error))
        else:
            _log.info("secrets_read", active=len(self._trust.secrets))


def _stamp(file: Path) -> tuple[int, int, int] | None:
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns
