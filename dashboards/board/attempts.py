"""How often a sender may try a password: guessing is slow for one sender, and delays nobody else."""

import time
from collections.abc import Callable
from ipaddress import IPv6Address, ip_address
from threading import Lock

_SECONDS_EACH = 1.0
_AT_ONCE = 5
_LONGEST_WAIT = 2.0
_MOST_SENDERS = 10_000


class Attempts:
    """Lets each sender try five passwords at once, and one a second after that."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._free_at: dict[str, float] = {}
        self._lock = Lock()

    def wait_for(self, sender: str) -> float | None:
        """Return the seconds that this attempt has to wait; `None` if it is refused, as many wait already."""
        now = self._now()
        with self._lock:
            if len(self._free_at) > _MOST_SENDERS:
                self._free_at = {name: free for name, free in self._free_at.items() if free > now}
            free_at = max(self._free_at.get(sender, now), now)
            wait = max(0.0, free_at - now - (_AT_ONCE - 1) * _SECONDS_EACH)
            if wait > _LONGEST_WAIT:
                return None
            self._free_at[sender] = free_at + _SECONDS_EACH
            return wait


def address_in(text: str) -> str | None:
    """Return the address of an entry of `X-Forwarded-For`, without the port of the connection; else `None`."""
    bracketed, _, _ = text.strip().removeprefix("[").partition("]")
    for address in (bracketed, bracketed.rpartition(":")[0]):
        try:
            return str(ip_address(address))
        except ValueError:
            continue
    return None


def network_of(address: str) -> str:
    """Return the address that is counted as one sender: one holder of IPv6 has a whole network of 64 bits."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    if not isinstance(parsed, IPv6Address):
        return address
    return str(parsed.ipv4_mapped) if parsed.ipv4_mapped else parsed.exploded[:19]
