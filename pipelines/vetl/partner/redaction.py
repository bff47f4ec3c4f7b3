"""Reduce foreign text to one short line without secrets and personal data, for error messages."""

import re
from collections.abc import Iterable
from urllib.parse import parse_qsl, urlsplit

LINE_LENGTH = 200
HIDDEN = "***"

_EMAIL = re.compile(r"[^\s@<>\"]+@[^\s@<>\"]+")
_PHONE = re.compile(r"\+?(?!\d{4}-\d\d-\d\d)(?<![\d-])\(?\d(?:[\s().-]{0,2}\d){6,}")
_CREDENTIAL = re.compile(r"(?i)\b(bearer|basic|token|password|secret|api[_-]?key)\b[\s:=\"']+\S+")
_OPAQUE = re.compile(r"[\w+/=.~-]{24,}")


_PLAIN_VALUE = re.compile(
    r"\d{4}-\d\d-\d\d(?:T[\d:.]+(?:Z|[+-]\d\d:\d\d)?)?|\d{1,6}|csv|true|false|received|queued|in_progress|completed"
    r"|suppressed|failed|pending|canceled|active|abandoned|inbound|outbound"
)
_PERSON = re.compile(r"(?i)client|patient|name|mail|phone")


def loggable_query(target: str) -> str:
    """Return the query of an address for the log, with all values hidden but times, numbers and statuses."""
    # Names of parameters differ from server to server, so the value has to look harmless, too.
    pairs = parse_qsl(urlsplit(target).query, keep_blank_values=True)
    return "&".join(
        f"{name}={value if _PLAIN_VALUE.fullmatch(value) and not _PERSON.search(name) else HIDDEN}"
        for name, value in pairs
    )


def redact(text: object, secrets: Iterable[str] = ()) -> str:
    """Return `text` as one line of at most `LINE_LENGTH` characters, or an empty text if it is no text.

    The `secrets` are hidden in upper and lower case, and so are texts that look like a credential, an email
    address or a phone number, and every long opaque word.
    """
    if not isinstance(text, str):
        return ""
    for secret in sorted(filter(None, secrets), key=len, reverse=True):
        text = re.sub(re.escape(secret), HIDDEN, text, flags=re.IGNORECASE)
    line = " ".join("".join(c if c.isprintable() else " " for c in text[: 10 * LINE_LENGTH]).split())
    line = _CREDENTIAL.sub(rf"\1 {HIDDEN}", line)
    for pattern in (_EMAIL, _OPAQUE, _PHONE):
        line = pattern.sub(HIDDEN, line)
    return line if len(line) <= LINE_LENGTH else line[: LINE_LENGTH - 1] + "…"
