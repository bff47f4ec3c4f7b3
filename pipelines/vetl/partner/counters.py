"""Counts of the requests that a client has sent."""

from dataclasses import dataclass, fields


@dataclass(slots=True)
class Counters:
    """HTTP requests sent, and how many of them repeated an earlier one, got a 429, or signed in.

    `bytes` is the size of their answers, decompressed.
    """

    requests: int = 0
    retries: int = 0
    limited: int = 0
    sign_ins: int = 0
    bytes: int = 0

    def __add__(self, other: "Counters") -> "Counters":
        return Counters(*(getattr(self, item.name) + getattr(other, item.name) for item in fields(self)))
