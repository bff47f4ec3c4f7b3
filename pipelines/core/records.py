"""What the record model of a list is made of.

A model says which columns a raw table has. Everything is nullable but the id: the interface marks few fields
as required, and a missing one must never cost a row. Unknown fields and unknown enum values pass; `KnownValues`
only names the values that the contract lists, so that a new one can be reported.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict


@dataclass(frozen=True, slots=True)
class KnownValues:
    """The values of an enum that the contract lists; others are kept and reported."""

    values: tuple[str, ...]


def known(*values: str) -> KnownValues:
    """The annotation that names an enum's values."""
    return KnownValues(values)


def _as_text(value: object) -> object:
    """Ids and labels are strings, whatever the JSON says: an appointment's id is an integer in one answer."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return value


def _as_utc(value: datetime) -> datetime:
    """A time without an offset is read as UTC: the contract says ISO 8601 and names no zone."""
    try:
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    except OverflowError:
        raise ValueError("beyond the calendar") from None


Text = Annotated[str, BeforeValidator(_as_text)]
Instant = Annotated[datetime, AfterValidator(_as_utc)]


class Record(BaseModel):
    """A row of one list. Fields that the contract does not know stay in `model_extra`."""

    model_config = ConfigDict(extra="allow", frozen=True)
