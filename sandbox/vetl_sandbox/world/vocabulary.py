"""The enums of the contract as small codes, so that ten million rows fit into memory."""

from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

Codes = NDArray[np.uint8]

NONE = 255
"""The code of a missing value."""


@dataclass(frozen=True)
class Vocabulary:
    """The values of one column; a value's code is its place in the list."""

    values: tuple[str, ...]
    dtype: pl.Enum = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "dtype", pl.Enum(self.values))

    def __getitem__(self, value: str) -> int:
        return self.values.index(value)

    def typed(self, column: str) -> pl.Expr:
        """Return a column of codes as one of values."""
        return known(column, NONE).cast(pl.UInt8).cat.to(self.dtype)


def known(column: str, missing: int) -> pl.Expr:
    """Return a column with nulls for the number that stands for a missing value."""
    return pl.when(pl.col(column) != missing).then(pl.col(column)).alias(column)


def _words(text: str) -> Vocabulary:
    return Vocabulary(tuple(text.split()))


DIRECTIONS = _words("inbound outbound")
CALL_STATES = _words("pending queued ringing in_progress completed failed no_answer busy voicemail canceled")
CALLER_TYPES = _words("existing new unknown")
CLASSIFICATIONS = _words(
    "scheduling prescription_refill medical_question billing records_request emergency callback"
    " general_inquiry price_shopping other"
)
OUTCOMES = _words(
    "appointment_booked appointment_rescheduled appointment_confirmed appointment_canceled callback_requested"
    " declined do_not_call no_answer voicemail forwarded transferred quick_abandoned abandoned"
    " abandoned_after_transfer dropped transfer_completed transfer_no_human transfer_caller_abandoned"
    " task_created resolved"
)
BOOKED_OUTCOMES = OUTCOMES.values[:3]
"""Outcomes that make a call `booked` (contract: Phone call record)."""

SENTIMENTS = _words("positive neutral negative mixed very_negative")

SESSION_STATUSES = _words("active completed abandoned")
STAGES = _words("started client_details pet_details reason_selected slot_selected confirmed")
CLIENT_TYPES = _words("new existing")
SOURCES = Vocabulary(("google", "facebook", "website", "instagram", "newsletter", "Nextdoor", ""))
CAMPAIGNS = Vocabulary(("spring_wellness", "dental-month", "Puppy & kitten, first visit", "win_back", ""))
MEDIUMS = Vocabulary(("cpc", "organic", "email", "social", "referral", ""))

SETTABLE_STATUSES = _words("REQUESTED ACCEPTED CONFIRMED")
"""Statuses that a partner may set (contract: Create an appointment)."""
APPOINTMENT_STATUSES = _words("REQUESTED ACCEPTED CONFIRMED COMPLETED CANCELED NO_SHOW")

CHANNELS = _words("sms voice")
PURPOSES = _words("scheduling callback_followup refill general")
REQUEST_STATUSES = _words("received queued in_progress completed suppressed failed")
REQUEST_OUTCOMES = _words("booked opted_out no_response undeliverable")
SUPPRESSIONS = _words(
    "recent_contact active_conversation sms_opted_out voice_not_supported notifications_disabled"
    " client_inactive recent_or_upcoming_appointment pet_deceased stopped"
)

REMINDER_STATUSES = _words("incomplete partially_completed completed deleted")

TASK_TYPES = _words("task rx_refill")
TASK_STATUSES = _words("pending completed canceled")
