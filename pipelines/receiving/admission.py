"""Whom the receiver believes: the signature decides, and nothing else does.

A delivery may be hours late (contract: the hourly reconciliation) and come from any address, so neither time
nor source counts against it. Sources are only remembered for signatures that were wrong.
"""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from pipelines.partner.webhooks import Channel, Delivery, Secret, Signing, may_speak_for, practice_of, read


class Refused(Exception):
    """Not genuine. The message says why, and holds nothing of the body."""

    status = 401


class WrongPractice(Refused):
    """Signed, but by a secret that may not speak for the practice in the body."""

    status = 403


@dataclass(frozen=True, slots=True)
class Trust:
    """The active secrets. `unsigned`: believe whom no secret could prove, for practices that have none."""

    secrets: tuple[Secret, ...]
    unsigned: bool = False

    def admit(self, channel: Channel, body: bytes, signing: Signing, given: str | None) -> tuple[str, Delivery]:
        """The practice that a delivery speaks for (empty where nobody tells), and the delivery.

        `signing` has seen all of the body, which is not even parsed before its signature is found good.

        Raises:
            Refused: it is not signed, not by an active secret, or (WrongPractice) by one of another practice.
        """
        if given is None:
            return self._unsigned(channel, body)
        signed_by = signing.signers(given)
        if not signed_by:
            raise Refused("the signature is not of an active secret")
        delivery = read(channel, body)
        if not may_speak_for(signed_by, delivery.practice_id):
            raise WrongPractice("signed for another practice")
        return practice_of(signed_by, delivery) or "", delivery

    def _unsigned(self, channel: Channel, body: bytes) -> tuple[str, Delivery]:
        if not self.unsigned:
            raise Refused("not signed")
        delivery = read(channel, body)
        if delivery.problem:
            raise Refused("neither signed nor understood")
        if any(item.practice_id in (None, delivery.practice_id) for item in self.secrets):
            raise Refused("not signed, though there is a secret for the practice")
        return delivery.practice_id or "", delivery


class Suspects:
    """Sources whose deliveries were refused, a bounded number of them, each for a minute."""

    def __init__(self, now: Callable[[], float], *, tolerated: int = 30, remembered: int = 4_096) -> None:
        self._now = now
        self._tolerated = tolerated
        self._remembered = remembered
        self._seen: OrderedDict[str, tuple[float, int]] = OrderedDict()

    def note(self, source: str) -> bool:
        """One more refusal. True: this source has had more of them than are tolerated in a minute."""
        since, count = self._seen.pop(source, (self._now(), 0))
        if self._now() - since >= 60:  # noqa: PLR2004 - a minute
            since, count = self._now(), 0
        self._seen[source] = (since, count + 1)
        while len(self._seen) > self._remembered:
            self._seen.popitem(last=False)
        return count + 1 > self._tolerated
