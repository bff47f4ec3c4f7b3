"""Values of the source that everybody may see, unlike names and numbers of persons."""

import re

LABEL_LENGTH = 40
"""Most characters of a label; the longest of the contract has 30."""

_UNLIKE_A_LABEL = re.compile(r"[@\uff20\s]")


def is_label(value: str) -> bool:
    """Return whether output, status and logs may repeat a value: one short word without digits and `@`."""
    unlike = _UNLIKE_A_LABEL.search(value) or any(character.isnumeric() for character in value)
    return len(value) <= LABEL_LENGTH and not unlike


SOURCE_WORDS = frozenset(
    {
        "direction",
        "state",
        "caller_type",
        "call_classification",
        "customer_sentiment",
        "outcome",
        "status",
        "stage",
        "client_type",
        "channel",
        "purpose",
        "suppression_reason",
        "task_type",
        "task_status",
        "status_reason",
        "channel_requested",
        "channel_used",
        "event",
        "group_status",
        "result",
        "reason",
        "unknown_value",
        "appointment_status",
        "wanted",
        "referral_source",
        "referral_campaign",
        "referral_medium",
        "species",
        "breed",
        "practice_name",
        "notification_rule",
        "error_code",
        "part",
    }
)
"""Columns of marts with words of the source: of its enums, and words that it chooses freely."""

OWN_WORDS = frozenset(
    {
        ("acts", "state"),
        ("booking_request_contacts", "channel"),
        ("first_responses_daily", "channel"),
        ("headlines", "direction"),
        ("call_back_list", "channel"),
        ("unbooked_requests", "channel"),
        ("recalls", "state"),
    }
)
"""Columns of marts with such a name, but with words of vetl."""

DERIVED = frozenset({"result", "reason", "unknown_value", "appointment_status", "wanted", "part"})
"""Columns with words of another mart; `result` and `reason` have a phrase of vetl before the word."""


def has_source_words(mart: str, column: str) -> bool:
    """Return whether a column of a mart holds words of the source, which may name a person."""
    return column in SOURCE_WORDS and (mart, column) not in OWN_WORDS


PHRASES = ("still active at ", "left at ", "task ")
"""The phrases before a stage or a status in `result` and `reason`."""

COMMON_WORDS = frozenset(
    re.split(
        r",\s+",
        """no outcome, no status, of no status, an unknown stage, call, online, outreach, task,
    message, appointment, other, none, unknown, due, overdue, visit ahead, planned, holdout, asking, made,
    refused, canceling, left, requested, accepted, delivery_failed, blocked_number, pending, scheduled,
    booked, checked_in, arrived, completed, kept, no_show, noshow, canceled, cancelled, declined, rejected,
    rescheduled, open, closed, expired, new, existing, returning, started, confirmed, positive, neutral,
    negative, mixed, google, bing, yahoo, facebook, instagram, tiktok, youtube, yelp, nextdoor, website,
    web, direct, organic, paid, cpc, ppc, social, referral, email, e-mail, newsletter, sms, text, phone,
    walk-in, walk_in, walk in, friend, ads, search, canine, feline, dog, cat, avian, bird, rabbit, reptile,
    equine, horse, ferret, exotic, small mammal, mixed breed, domestic shorthair, domestic longhair""",
    )
)
"""Words in lower case that are published even if very few rows contain them."""

CODE = r"[0-9]{1,6}"
"""A full match in DuckDB: an error code of a carrier."""
