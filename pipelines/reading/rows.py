"""What a row tells of itself: its key, and when it was last changed."""

from datetime import UTC, datetime
from json import dumps

from pipelines.core.pages import Row


def key_of(row: Row) -> str:
    """The id of a row; a row without one counts as itself, so that the certificate still counts it."""
    identity = row.get("id")
    return dumps(row, sort_keys=True, default=str) if identity is None else str(identity)


def instant(value: object) -> datetime | None:
    """A time as a row tells it, in UTC; `None` where it cannot be read."""
    try:
        at = datetime.fromisoformat(str(value))
        return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def updated_at(row: Row) -> datetime | None:
    """When the source says that a row was last changed, if it can be read."""
    return instant(row.get("updated_at"))
