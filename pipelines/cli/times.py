"""Times as a person reads them: short, in this machine's zone, which is named once beside them."""

from datetime import UTC, datetime, timedelta

_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400


def local(instant: datetime | str | None, now: datetime | None = None) -> str:
    """`11-22 07:03`, with the year where it is not this one; a day (a date) without a time, nothing as nothing."""
    if not instant:
        return ""
    read = datetime.fromisoformat(instant) if isinstance(instant, str) else instant
    is_day = isinstance(instant, str) and "T" not in instant
    here = read if is_day else read.astimezone()
    year = "" if here.year == (now or datetime.now(UTC)).astimezone().year else f"{here.year}-"
    return f"{year}{here:%m-%d}" if is_day else f"{year}{here:%m-%d %H:%M}"


def zone() -> str:
    """The name of this machine's zone."""
    return datetime.now(UTC).astimezone().tzname() or "local time"


def ago(instant: datetime | str, now: datetime | None = None) -> str:
    """`just now`, `5 min ago`, `3 h ago`, `2 days ago`."""
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
