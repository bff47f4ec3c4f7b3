"""Free text, kept as the name of a template and filled in when it is shown."""

from typing import Final

import numpy as np
import polars as pl

from vetl_sandbox.world import vocabulary as v
from vetl_sandbox.world.dice import Dice
from vetl_sandbox.world.vocabulary import NONE, Codes

# {} is the pet, or "their pet" if it is unknown. Commas, quotes and line breaks break careless readers of CSV.
_CALL_SUMMARIES: Final = {
    "book": "Wanted to book a wellness exam for {}.",
    "book_soon": "Asked for the first free slot for {}, preferably before noon, and took it.",
    "move": "Needs to move {}'s appointment; \"any day but Friday\" works.",
    "vaccines": "Caller asked which vaccines {} is due for, and scheduled them.\nWill bring old records.",
    "refill": "Requested a refill for {} (apoquel, 16 mg), pick-up after 5 pm.",
    "refill_urgent": "{} is out of medication since yesterday; refill passed on to the pharmacy team.",
    "limping": "{} has been limping since the walk, no swelling; advised to come in if it gets worse.",
    "not_eating": "Says {} \"won't touch\" the new food.\r\nAsked whether to switch back.",
    "bill": "Question about last week's invoice for {}: $184.50, paid twice?",
    "records": "Asked to send {}'s records to a boarding kennel.",
    "emergency": "Possible chocolate ingestion, {} is restless; sent to the emergency line at once.",
    "hours": "Asked about opening hours over the holidays and whether {} can board.",
    "price": "Compared prices for {}'s dental cleaning; will call back.",
    "silent": "The caller hung up before {} could be discussed.",
    "long": "Long call about {}: diet, weight, the itch behind the left ear, and — after some thought —"
    ' a follow-up in two weeks; the owner said "thank you, thank you" and sounded relieved.',
}  # fmt: skip
CALL_SUMMARY_NAMES: Final = tuple(_CALL_SUMMARIES)
_SUMMARY: Final = v.Vocabulary(CALL_SUMMARY_NAMES)
_BY_SUBJECT: Final = {
    "scheduling": ("book", "book_soon", "move", "vaccines", "long"),
    "prescription_refill": ("refill", "refill_urgent"),
    "medical_question": ("limping", "not_eating", "long"),
    "billing": ("bill",),
    "records_request": ("records",),
    "emergency": ("emergency",),
    "price_shopping": ("price",),
}
_ELSE: Final = ("hours", "silent", "long")

TASK_TITLES: Final = {
    "refill": "Refill request for {}",
    "call_back": "Call back about {}",
    "call_back_now": "Call back about {} (second try)",
    "records": "Send {}'s records, please",
    "estimate": 'Estimate for "dental, with extractions": {}',
}
OUTREACH_CONTEXTS: Final = {
    "overdue": "{} is overdue for an annual exam, vaccines due.",
    "missed_call": 'We missed a call about {}; "please call me back".',
    "refill": "{}'s prescription runs out next week.",
    "follow_up": "How is {} after the surgery?\nReply here, any time.",
}  # fmt: skip


def pick_summaries(dice: Dice, end: Codes, subject: Codes, size: int) -> Codes:
    """Draw a summary that fits the subject; calls without a conversation have none."""
    talked = end == v.CALL_STATES["completed"]
    cases = [
        (subject == v.CLASSIFICATIONS[name], dict.fromkeys(summaries, 1.0))
        for name, summaries in _BY_SUBJECT.items()
    ]
    chosen = dice.pick_where(_SUMMARY, [*cases, (talked, dict.fromkeys(_ELSE, 1.0))], size)
    return np.where(talked, chosen, NONE).astype(np.uint8)


def call_summaries(codes: pl.Series, pets: pl.Series) -> pl.Series:
    """Return summaries of calls, each about a pet; null if there is no code."""
    return _filled(_CALL_SUMMARIES, codes, pets)


def task_titles(codes: pl.Series, pets: pl.Series) -> pl.Series:
    """Return titles of tasks, each about a pet."""
    return _filled(TASK_TITLES, codes, pets)


def outreach_contexts(codes: pl.Series, pets: pl.Series) -> pl.Series:
    """Return reasons for outreach, each about a pet; null if there is no code."""
    return _filled(OUTREACH_CONTEXTS, codes, pets)


def _filled(templates: dict[str, str], codes: pl.Series, pets: pl.Series) -> pl.Series:
    parts = [text.partition("{}") for text in templates.values()]
    sides = pl.DataFrame({"before": [part[0] for part in parts], "after": [part[2] for part in parts]})
    chosen = sides.select(pl.all().gather(codes.to_physical()))
    text = pl.concat_str("before", pets.fill_null("their pet").alias("pet"), "after")
    return chosen.select(text.alias("text"))["text"]
