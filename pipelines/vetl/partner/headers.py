"""Read times, waits, counts and encodings from the headers of an answer. No function here raises an error."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from importlib.metadata import PackageNotFoundError, version

Headers = Mapping[str, str]
"""Header names in lower case, because HTTP ignores their case."""

_SECONDS = re.compile(r"\d+(?:\.\d+)?", re.ASCII)
_COUNT = re.compile(r"\d{1,18}", re.ASCII)
_CHARSET = re.compile(r"""charset\s*=\s*["']?([\w.:-]+)""", re.ASCII | re.IGNORECASE)


def user_agent() -> str:
    """Return the value of vetl's User-Agent header."""
    try:
        return f"vetl/{version('vetl-warehouse')}"
    except PackageNotFoundError:
        return "vetl"  # run from a checkout that is not installed


def http_date(value: str | None) -> datetime | None:
    """Return an HTTP date as an aware UTC time, `None` if it is missing or malformed."""
    if not value:
        return None
    try:
        moment = parsedate_to_datetime(value)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


def retry_after(value: str | None, server_time: datetime) -> float | None:
    """Return the seconds that `Retry-After` asks for, from a number or from a date on the server's clock."""
    text = (value or "").strip()
    if _SECONDS.fullmatch(text):
        return float(text)
    moment = http_date(text)
    return max(0.0, (moment - server_time).total_seconds()) if moment else None


def count(value: object) -> int | None:
    """Return a count or page number from a header or from JSON, number or text; `None` if it is neither."""
    if isinstance(value, bool):
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int):
        return value if 0 <= value < 10**18 else None
    text = value.strip() if isinstance(value, str) else ""
    return int(text) if _COUNT.fullmatch(text) else None


def media_type(headers: Headers) -> str:
    """Return the content type in lower case without parameters, empty if there is none."""
    return headers.get("content-type", "").partition(";")[0].strip().lower()


def charset(headers: Headers) -> str:
    """Return the declared character set in lower case, `utf-8` if none is declared."""
    match = _CHARSET.search(headers.get("content-type", ""))
    return match[1].lower() if match else "utf-8"
