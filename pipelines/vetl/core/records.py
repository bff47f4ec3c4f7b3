"""Building blocks of the record models of the lists.

A model declares the columns of a raw table. Every field but the id is nullable, because the interface marks few
fields as required, and a row must be stored even if a field is missing. Unknown fields and unknown enum values are
accepted; `KnownValues` names the values of the contract, so that a new value is reported.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict


@dataclass(frozen=True, slots=True)
class KnownValues:
    """The values of an enum that the contract lists; other values are stored and reported."""

    values: tuple[str, ...]


def known(*values: str) -> KnownValues:
    """Return the annotation with the values of an enum."""
    return KnownValues(values)


MOST_EXACT = 2.0**53
"""From here on different numbers of a JSON text are the same float; `1e400` and `Infinity` are no number."""


def is_exact(value: object) -> bool:
    """Return whether the text of a number is that number and no other; other values are what they are."""
    return not isinstance(value, float) or abs(value) < MOST_EXACT


def _as_text(value: object) -> object:
    """Return a number as a string."""
    # Ids and labels are strings, but in one answer of the contract an appointment's id is an integer.
    if isinstance(value, int | float) and not isinstance(value, bool):
        if not is_exact(value):
            raise ValueError("no exact number")
        return str(value)
    return value


def _as_utc(value: datetime) -> datetime:
    """Return a time in UTC; a time without an offset is in UTC already."""
    # The contract says ISO 8601 and names no zone.
    try:
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    except OverflowError:
        raise ValueError("beyond the calendar") from None


Text = Annotated[str, BeforeValidator(_as_text)]
Instant = Annotated[datetime, AfterValidator(_as_utc)]


class Record(BaseModel):
    """A row of one list; fields that are not in the contract are in `model_extra`."""

    model_config = ConfigDict(extra="allow", frozen=True)
