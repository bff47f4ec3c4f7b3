"""Which values of a source are words that everybody may see, and which may be a person's name or number."""

import re
import unicodedata

LONGEST = 40
"""Characters of a label; the contract's own have 30 at most."""

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
"""Columns of marts that hold values of a list of words, from whichever list of the contract."""

WORDS = frozenset(
    {
        *("referral_source", "referral_campaign", "referral_medium", "species", "breed"),
        *("practice_name", "notification_rule", "error_code"),
    }
)
"""Columns of marts whose words the source makes up."""

DERIVED = frozenset({"first_channel", "result", "reason", "unknown_value", "appointment_status", "wanted"})
"""Columns of `LABELS` that repeat a value of another mart, `result` and `reason` with a phrase before it."""

PHRASES = ("still active at ", "left at ", "task ")
"""What vetl writes before a stage or a status in `result` and `reason`."""

COMMON_WORDS = frozenset(
    {
        # What vetl itself writes.
        *("no outcome", "no status", "of no status", "an unknown stage", "online_booking"),
        *("call", "session", "outreach", "task", "message", "appointment", "other", "none", "unknown"),
        # Appointments, sessions and sentiments: the contract shows few of their words.
        *(
            "requested",
            "accepted",
            "delivery_failed",
            "blocked_number",
            "pending",
            "scheduled",
            "booked",
            "checked_in",
            "arrived",
            "completed",
            "kept",
            "no_show",
            "noshow",
        ),
        *("canceled", "cancelled", "declined", "rejected", "rescheduled", "open", "closed", "expired"),
        *("new", "existing", "returning", "started", "confirmed", "positive", "neutral", "negative", "mixed"),
        # Where bookings come from.
        *("google", "bing", "yahoo", "facebook", "instagram", "tiktok", "youtube", "yelp", "nextdoor"),
        *("website", "web", "direct", "organic", "paid", "cpc", "ppc", "social", "referral", "email", "e-mail"),
        *("newsletter", "sms", "text", "phone", "walk-in", "walk_in", "walk in", "friend", "ads", "search"),
        # Animals.
        *("canine", "feline", "dog", "cat", "avian", "bird", "rabbit", "reptile", "equine", "horse", "ferret"),
        *("exotic", "small mammal", "mixed breed", "domestic shorthair", "domestic longhair"),
    }
)
"""Words, in lower case, that are published however few rows hold them."""

PUBLISHABLE = r"[\p{L}\p{M}\p{N}][\p{L}\p{M}\p{N} _&/+,.'()-]{0,59}"
"""A full match of DuckDB: a value that may be learnt as a word is short and holds no sign of an address."""

MOST_DIGITS = 6
"""Digits of a value that may be learnt: a year or an error code has fewer, a telephone number has more."""

CODE = r"[0-9]{1,6}"
"""A full match of DuckDB: an error code of a carrier."""

SENTENCE = 5
"""Words of a value that is read as a sentence: one name in it is enough to mask it."""


def tokens(text: str) -> list[str]:
    """Return the words of a text in one spelling: without case, accents and signs, wide letters made narrow."""
    plain = unicodedata.normalize("NFKD", text).casefold()
    return re.findall(r"[^\W_]+", "".join(sign for sign in plain if not unicodedata.combining(sign)))
