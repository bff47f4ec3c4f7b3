"""The key and the time of the last change of a row, and the part of it that a proof needs."""

from datetime import UTC, datetime
from hashlib import sha256
from json import dumps

from vetl.core.pages import Row

LONGEST_KEY = 200
"""Characters from which on a digest stands for a key. A platform might send ids of megabytes."""


def key_of(row: Row) -> str:
    """Return the id of a row, or a digest of the row if it has none, so that a certificate counts it."""
    identity = row.get("id")
    return _short(dumps(row, sort_keys=True, default=str) if identity is None else str(identity))


def key_of_id(identity: str) -> str:
    """Return the key of a row with this id."""
    return _short(identity)


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_KEY else sha256(text.encode(errors="surrogatepass")).hexdigest()


def evidence_of(row: Row) -> Row:
    """Return the key and the times of a row, of bounded size, as a row with the same key."""
    times = {
        name: value for name in _TIMES if isinstance(value := row.get(name), str) and len(value) < LONGEST_KEY
    }
    return {"id": key_of(row), **times}


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
