"""Accept or refuse deliveries by their signature alone.

A delivery may be hours late (contract: the hourly reconciliation) and may come from any address, so neither its
time nor its source matters. The receiver remembers a source only if its signature was wrong.
"""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from vetl.partner.webhooks import (
    Channel,
    Delivery,
    Secret,
    Signing,
    may_speak_for,
    parse_delivery,
    practice_of,
)


class Refused(Exception):
    """The delivery is not genuine; the message is the reason and contains nothing of the body."""

    status = 401


class WrongPractice(Refused):
    """The secret of the signature belongs to another practice than the one in the body."""

    status = 403


@dataclass(frozen=True, slots=True)
class Trust:
    """The active secrets; `unsigned` accepts deliveries without a signature for practices without a secret."""

    secrets: tuple[Secret, ...]
    unsigned: bool = False

    def admit(
        self, channel: Channel, body: bytes, signing: Signing, signature: str | None
    ) -> tuple[str, Delivery]:
        """Return the practice of a delivery, empty if it is unknown, and the delivery.

        `signing` has hashed the whole body. The body is not parsed before its signature is verified.

        Raises:
            Refused: the delivery is not signed, or not by an active secret.
            WrongPractice: the secret of another practice signed it.
        """
        if signature is None:
            return self._unsigned(channel, body)
        signed_by = signing.signers(signature)
        if not signed_by:
            raise Refused("the signature is not of an active secret")
        delivery = parse_delivery(channel, body)
        if not may_speak_for(signed_by, delivery.practice_id):
            raise WrongPractice("signed for another practice")
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


class Suspects:
    """Sources of refused deliveries: a bounded number of them, each for a minute."""

    def __init__(self, now: Callable[[], float], *, tolerated: int = 30, remembered: int = 4_096) -> None:
        self._now = now
        self._tolerated = tolerated
        self._remembered = remembered
        self._seen: OrderedDict[str, tuple[float, int]] = OrderedDict()

    def note(self, source: str) -> bool:
        """Count a refusal; return whether this source has more refusals in a minute than are tolerated."""
        since, count = self._seen.pop(source, (self._now(), 0))
        if self._now() - since >= 60:  # noqa: PLR2004 - a minute
            since, count = self._now(), 0
        self._seen[source] = (since, count + 1)
        while len(self._seen) > self._remembered:
            self._seen.popitem(last=False)
        return count + 1 > self._tolerated
