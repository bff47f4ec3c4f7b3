"""The key and the time of the last change of a row, and the part of it that a proof needs."""

from collections.abc import Iterable
from datetime import UTC, datetime
from hashlib import sha256
from json import dumps

from vetl.core.pages import Row


def key_of(row: Row) -> str:
    """Return the id of a row, or a digest of the row if it has none, so that a certificate counts it."""
    identity = row.get("id")
    if identity is not None:
        return str(identity)
    return sha256(dumps(row, sort_keys=True, default=str).encode()).hexdigest()


def keys_of(rows: Iterable[Row]) -> set[str]:
    """Return the distinct keys of rows."""
    # Nearly every id is text, which needs no call of a function: half the time for a million rows.
    return {identity if type(identity := row.get("id")) is str else key_of(row) for row in rows}


def evidence_of(row: Row) -> Row:
    """Return the key and the times of a row, as a row with the same key."""
    return {"id": key_of(row), **{name: value for name in _TIMES if isinstance(value := row.get(name), str)}}


_TIMES = ("created_at", "updated_at")
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
