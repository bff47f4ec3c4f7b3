"""Headers: what those of an answer say (times, waits, counts, encodings), and our name. Nothing here raises."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from importlib.metadata import PackageNotFoundError, version

Headers = Mapping[str, str]
"""Header names in lower case, as HTTP compares them without regard to case."""

_SECONDS = re.compile(r"\d+(?:\.\d+)?", re.ASCII)
_COUNT = re.compile(r"\d{1,18}", re.ASCII)
_CHARSET = re.compile(r"""charset\s*=\s*["']?([\w.:-]+)""", re.ASCII | re.IGNORECASE)


def user_agent() -> str:
    """How vetl introduces itself."""
    try:
        return f"vetl/{version('vetl')}"
    except PackageNotFoundError:
        return "vetl"  # run from a checkout that is not installed


def http_date(value: str | None) -> datetime | None:
    """An HTTP date as an aware UTC time; `None` where it is missing or malformed."""
    if not value:
        return None
    try:
        moment = parsedate_to_datetime(value)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


def retry_after(value: str | None, server_time: datetime) -> float | None:
    """The seconds that `Retry-After` asks for, from a number or from a date on the server's clock."""
    text = (value or "").strip()
    if _SECONDS.fullmatch(text):
        return float(text)
    moment = http_date(text)
    return max(0.0, (moment - server_time).total_seconds()) if moment else None


def count(value: object) -> int | None:
    """A count or page number from a header or from JSON, where it may come as text; else `None`."""
    if isinstance(value, bool):
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int):
        return value if 0 <= value < 10**18 else None
    text = value.strip() if isinstance(value, str) else ""
    return int(text) if _COUNT.fullmatch(text) else None


def media_type(headers: Headers) -> str:
    """The bare content type in lower case, empty where there is none."""
    return headers.get("content-type", "").partition(";")[0].strip().lower()


def charset(headers: Headers) -> str:
    """The declared character set in lower case, `utf-8` where none is."""
    match = _CHARSET.search(headers.get("content-type", ""))
    return match[1].lower() if match else "utf-8"
