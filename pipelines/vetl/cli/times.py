"""Format times for people, with the year, in the time zone of this machine, which each table names once."""

import re
from datetime import UTC, datetime, timedelta

WHOLE_DAYS = "phone_calls are certified by whole days of the practice's own time zone"
"""The note below a table with phone calls, because their midnights look odd in another time zone."""

_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400


def local(instant: datetime | str | None) -> str:
    """Return an instant as `2026-11-22 07:03`, a date as `2026-11-22`, and `None` as an empty text."""
    if not instant:
        return ""
    parsed = datetime.fromisoformat(instant) if isinstance(instant, str) else instant
    is_day = isinstance(instant, str) and "T" not in instant
    return f"{parsed:%Y-%m-%d}" if is_day else f"{parsed.astimezone():%Y-%m-%d %H:%M}"


def zone() -> str:
    """Return the name of this machine's time zone."""
    return datetime.now(UTC).astimezone().tzname() or "local time"


def ago(instant: datetime | str, now: datetime | None = None) -> str:
    """Return `just now`, `5 min ago`, `3 h ago` or `2 days ago`."""
    then = datetime.fromisoformat(instant) if isinstance(instant, str) else instant
    seconds = int(((now or datetime.now(UTC)) - then) / timedelta(seconds=1))
    if seconds < _MINUTE:
        return "just now"
    if seconds < _HOUR:
        return f"{seconds // _MINUTE} min ago"
    if seconds < _DAY:
        return f"{seconds // _HOUR} h ago"
    days = seconds // _DAY
    return f"{days} day{'s' if days > 1 else ''} ago"


_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)")


def in_words(line: str) -> str:
    """Return the line with each ISO 8601 instant in the form of `local`, followed by its age."""
    return _INSTANT.sub(lambda match: f"{local(match[0])} ({ago(match[0])})", line)
