"""What a client has asked so far."""

from dataclasses import dataclass


@dataclass(slots=True)
class Counters:
    """HTTP requests sent, and how many of them repeated an earlier one, met a 429, or signed in."""

    requests: int = 0
    retries: int = 0
    limited: int = 0
    sign_ins: int = 0
