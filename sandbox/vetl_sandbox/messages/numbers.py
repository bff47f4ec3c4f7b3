"""The behaviour of telephones: by their last two digits, so that a test can ask for every one.

The contract does not show which numbers do what. An even last digit means a handset that supports RCS.
"""

from typing import Final, Literal

Behaviour = Literal[
    "opted_out",
    "blocked",
    "undelivered",
    "rcs_fails",
    "never_read",
    "confirmation_lost",
    "not_handed_over",
    "notifications_disabled",
    "inactive",
    "replies_stop",
    "books",
    "pet_deceased",
    "stopped",
    "never_dispatched",
    "replies_once",
]

ENDINGS: Final[dict[str, Behaviour]] = {
    "00": "opted_out",  # replied STOP
    "01": "blocked",  # cannot receive texts, such as a landline
    "02": "undelivered",  # the carrier cannot deliver
    "04": "rcs_fails",  # an RCS attempt fails; as SMS it arrives
    "06": "never_read",
    "08": "confirmation_lost",  # the first create is a 502, although the message has been handed over
    "10": "not_handed_over",  # the first create is a 502, and nothing has been sent
    "20": "notifications_disabled",  # outreach from here on
    "21": "inactive",
    "22": "replies_stop",
    "23": "books",
    "24": "pet_deceased",
    "25": "stopped",
    "26": "never_dispatched",
    "27": "replies_once",  # an hour after the first text, then never again
}


def behaviour(phone: str) -> Behaviour | None:
    """Return the special behaviour of a number, if it has any."""
    return ENDINGS.get(phone[-2:])


def supports_rcs(phone: str) -> bool:
    """Return whether the handset shows RCS."""
    return int(phone[-1]) % 2 == 0
