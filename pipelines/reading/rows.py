"""The key and the time of the last change of a row."""

from datetime import UTC, datetime
from json import dumps

from pipelines.core.pages import Row


def key_of(row: Row) -> str:
    """Return the id of a row, or the whole row as text if it has none, so that a certificate counts it."""
    identity = row.get("id")
    return dumps(row, sort_keys=True, default=str) if identity is None else str(identity)


_FIRST = datetime(1, 1, 8, tzinfo=UTC)
_LAST = datetime(9999, 12, 25, tzinfo=UTC)
"""A week from the ends of the calendar: a later or earlier time has no local time in some zone."""


def instant(value: object) -> datetime | None:
    """Return the UTC time that a text contains, or `None` if it is no time or too near to the calendar's ends."""
    try:
        at = datetime.fromisoformat(str(value))
        at = at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return at if _FIRST <= at <= _LAST else None


def updated_at(row: Row) -> datetime | None:
    """Return the time at which a row was last changed, if the row has a readable one."""
    return instant(row.get("updated_at"))
