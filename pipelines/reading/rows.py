"""What a row tells of itself: its key, and when it was last changed."""

from datetime import UTC, datetime
from json import dumps

from pipelines.core.pages import Row


def key_of(row: Row) -> str:
    """The id of a row; a row without one counts as itself, so that the certificate still counts it."""
    identity = row.get("id")
    return dumps(row, sort_keys=True, default=str) if identity is None else str(identity)


_FIRST = datetime(1, 1, 8, tzinfo=UTC)
_LAST = datetime(9999, 12, 25, tzinfo=UTC)
"""A week from the ends of the calendar: what is nearer has no local time in some zone, and no day beside it."""


def instant(value: object) -> datetime | None:
    """Return a time that a row holds, in UTC; `None` if it cannot be read, or nothing can be reckoned from it."""
    try:
        at = datetime.fromisoformat(str(value))
        at = at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return at if _FIRST <= at <= _LAST else None


def updated_at(row: Row) -> datetime | None:
    """When the source says that a row was last changed, if it can be read."""
    return instant(row.get("updated_at"))
