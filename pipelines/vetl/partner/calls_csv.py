"""The columns of the phone-call CSV (contract: List phone calls), and a JSON record as one of its rows.

This module has the columns and single values; `store` parses whole pages column by column.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import Enum, auto
from typing import Any
from zoneinfo import ZoneInfo

from pydantic import ValidationError

from vetl.core.errors import BadRecord
from vetl.core.pages import Row
from vetl.partner.models import PhoneCall

Value = str | bool | int | datetime | None


class Cell(Enum):
    """How a column is written in the CSV."""

    MINUTE = auto()
    """Practice-local time, `YYYY-MM-DD HH:MM`."""
    TEXT = auto()
    """Text without a format."""
    LABEL = auto()
    """An enum value, humanised or raw. The contract humanises Intent, Sentiment and Outcome and does not say how
    Direction, Status and Caller Type are written. Both forms give the same value."""
    YES_NO = auto()
    """`Yes` or `No`."""
    DURATION = auto()
    """`m:ss`; the minutes may exceed 59."""


@dataclass(frozen=True, slots=True)
class CsvColumn:
    """One column: its name in the CSV, in `raw.phone_calls` and in the JSON record."""

    header: str
    raw: str
    json: str
    cell: Cell


COLUMNS = (
    CsvColumn("Date", "called_at_local", "created_at", Cell.MINUTE),
    CsvColumn("Practice", "practice", "practice_name", Cell.TEXT),
    CsvColumn("Direction", "direction", "direction", Cell.LABEL),
    CsvColumn("Status", "state", "state", Cell.LABEL),
    CsvColumn("Caller Type", "caller_type", "caller_type", Cell.LABEL),
    CsvColumn("Client", "client_name", "client_name", Cell.TEXT),
    CsvColumn("Patient", "patient_name", "patient_name", Cell.TEXT),
    CsvColumn("Phone Number", "phone_number", "phone_number", Cell.TEXT),
    CsvColumn("Intent", "call_classification", "call_classification", Cell.LABEL),
    CsvColumn("Booking Intent", "booking_intent", "booking_intent", Cell.YES_NO),
    CsvColumn("Summary", "summary", "summary", Cell.TEXT),
    CsvColumn("Sentiment", "customer_sentiment", "customer_sentiment", Cell.LABEL),
    CsvColumn("Outcome", "outcome", "outcome", Cell.LABEL),
    CsvColumn("Booked", "booked", "booked", Cell.YES_NO),
    CsvColumn("Duration", "duration_seconds", "duration_seconds", Cell.DURATION),
)
"""In the contract's order. A CSV is read by column name, in any order."""

DATE_FORMAT = "%Y-%m-%d %H:%M"
DURATION_PATTERN = r"^(?:([0-9]+):)?([0-9]+):([0-5][0-9])$"
"""Hours (if a server writes them), minutes, seconds."""
YES_NO = {"yes": True, "no": False}
"""The values by the lower-case cell."""
NO_VALUE = frozenset({"", "-", "n/a", "null"})
"""The lower-case cells that mean null in columns that are no text. The contract leaves null open."""


def unhumanise(label: str) -> str | None:
    """Return the enum value of a label, humanised or raw (contract: lowercase, replace spaces by underscores)."""
    word = label.strip().lower()
    return None if word in NO_VALUE else word.replace(" ", "_")


def render(record: Row, time_zone: ZoneInfo) -> dict[str, Value]:
    """Return the values that a JSON record would have as a row of the CSV, by raw column, to match the two.

    Empty text is null, because a CSV writes both alike. Times are cut to the practice-local minute. Raise
    `BadRecord` if the record does not fit its model; the message names the fields, not their values.
    """
    try:
        call = PhoneCall.model_validate(record)
    except ValidationError as error:
        fields = sorted({str(item["loc"][0]) for item in error.errors(include_input=False) if item["loc"]})
        raise BadRecord(f"phone call: unusable {', '.join(fields) or 'record'}") from None
    return {column.raw: _rendered(column, call, time_zone) for column in COLUMNS}


def _rendered(column: CsvColumn, call: PhoneCall, time_zone: ZoneInfo) -> Value:
    value: Any = getattr(call, column.json)
    if isinstance(value, datetime):
        try:
            return value.astimezone(time_zone).replace(tzinfo=None, second=0, microsecond=0)
        except OverflowError:
            return None
    if isinstance(value, str):
        return unhumanise(value) if column.cell is Cell.LABEL else value or None
    return value
