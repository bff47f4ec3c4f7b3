"""Values where the contract lists which there are: another may be a new word, or a person's telephone number."""

import re

LONGEST = 40
"""Characters of a label; the contract's own have 30 at most."""

UNLIKE_A_LABEL = r"[@\x{FF20}\p{N}]"
"""For DuckDB: no label of the contract has a digit or an `@`."""

_UNLIKE_A_LABEL = re.compile(r"[@\uff20\s]")


def is_label(value: str) -> bool:
    """Whether it may be repeated in output, status and logs: short, one word, without digits and `@`."""
    unlike = _UNLIKE_A_LABEL.search(value) or any(character.isnumeric() for character in value)
    return len(value) <= LONGEST and not unlike


LABELS = frozenset(
    {
        *("direction", "state", "caller_type", "call_classification", "customer_sentiment", "outcome"),
        *("status", "stage", "client_type", "channel", "first_channel", "purpose", "suppression_reason"),
        *("task_type", "status_reason", "channel_requested", "channel_used", "event", "group_status"),
        *("result", "reason", "unknown_value", "appointment_status", "wanted"),
    }
)
"""Columns of marts that hold such values, whichever list they come from."""

WORDS = frozenset(
    {
        *("referral_source", "referral_campaign", "referral_medium", "species", "breed"),
        *("practice_name", "notification_rule", "error_code"),
    }
)
"""Columns of marts whose words the source makes up, digits among them."""
