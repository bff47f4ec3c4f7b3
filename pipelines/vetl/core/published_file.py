"""The schemas of the published file: `marts`, which answer questions, and `meta`, vetl's own tables about them.

Also the classes of personal data in the marts, the treatments of their columns, and the rules for masking keys and
passwords: those that somebody who tries simple ones can guess are refused. At the end are the words of the source
that everybody may see, unlike names and numbers of persons.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal, get_args

MARTS = "marts"
META = "meta"
SCHEMAS = (MARTS, META)

DIGESTS = "digests"
"""The table that publishing writes; no model of dbt makes it."""

OWN = frozenset({"catalogue", "metrics", "practice_days", "proof", "report_revisions", "unknown_values", DIGESTS})
"""The tables of `meta`; a test compares them with the dbt project."""


def schema_of(table: str) -> str:
    """Return the schema of a published table."""
    return META if table in OWN else MARTS


PersonalClass = Literal["name", "contact", "text"]
"""Names of clients and patients; telephone numbers and e-mail addresses; spoken and written sentences."""

Treatment = Literal["null", "hash", "clear"]
"""Null; a hash by the masking key, or null if there is no key; the value itself."""

Treatments = Mapping[str, Mapping[str, Treatment]]
"""The treatment of each personal column, by mart and column."""

JOINED: Mapping[str, str] = {
    **dict.fromkeys(("clients.name", "phone_calls.client_name"), "client_name"),
    **dict.fromkeys(("patients.name", "phone_calls.patient_name", "appointments.patient_name"), "patient_name"),
    **dict.fromkeys(("clients.email", "appointments.client_email"), "email"),
    **dict.fromkeys(
        (
            "clients.phone",
            "phone_calls.phone_number",
            "outreach_requests.contact_number",
            "call_back_list.phone_number",
            "appointments.client_phone",
        ),
        "phone_number",
    ),
}
"""Columns whose hashes agree within a practice if their values agree. Every other column has its own hashes."""


@dataclass(frozen=True, slots=True)
class SharedWords:
    """The rule of columns of words: a value is shown if so many people share it, or if it is one of `words`."""

    fewest_people: int = 5
    words: tuple[str, ...] = field(default=(), repr=False)


CLASSES: tuple[PersonalClass, ...] = get_args(PersonalClass)

FAKE_NUMBER = "+999"
"""The first digits of the pseudonym of a telephone number; no country has this code."""


KEY_CHARACTERS = 32
"""Characters of a masking key: 128 bits, if they are hexadecimal digits drawn at random."""

_KEY_DIFFERENT = 8

_MOST_REPEATED = 16
"""Characters of the longest text whose repetition `is_varied` detects."""


def is_varied(text: str) -> bool:
    """Return whether a text is neither one character, nor a repeated short text, nor a run of neighbours."""
    for length in range(1, min(_MOST_REPEATED, len(text) // 2) + 1):
        if (text[:length] * (len(text) // length + 1))[: len(text)] == text:
            return False
    steps = {ord(second) - ord(first) for first, second in pairwise(text)}
    return len(text) <= 1 or not steps <= {-1, 0, 1}


def is_weak_key(key: str) -> bool:
    """Return whether somebody who tries keys can find the values behind hashes by this key."""
    return len(key) < KEY_CHARACTERS or len(set(key)) < _KEY_DIFFERENT or not is_varied(key)


SOURCE_WORDS = frozenset({
    "direction", "state", "caller_type", "call_classification", "customer_sentiment", "outcome", "status",
    "stage", "client_type", "channel", "purpose", "suppression_reason", "task_type", "task_status",
    "status_reason", "channel_requested", "channel_used", "event", "group_status", "result", "reason",
    "unknown_value", "appointment_status", "wanted", "referral_source", "referral_campaign",
    "referral_medium", "species", "breed", "practice_name", "notification_rule", "error_code", "part",
})  # fmt: skip
"""Columns of marts with words of the source: of its enums, and words that it chooses freely."""

OWN_WORDS = frozenset({
    ("acts", "state"), ("booking_request_contacts", "channel"), ("first_responses_daily", "channel"),
    ("headlines", "direction"), ("call_back_list", "channel"), ("unbooked_requests", "channel"),
    ("recalls", "state"),
})  # fmt: skip
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
