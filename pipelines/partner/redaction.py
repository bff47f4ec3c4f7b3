"""Text of others, made fit for an error message: one short line without secrets or personal data."""

import re
from collections.abc import Iterable
from urllib.parse import parse_qsl, urlsplit

LONGEST = 200
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


def shown_query(target: str) -> str:
    """The query of an address for the log. Only times, numbers and statuses are shown of what it asks for.

    Names of parameters differ from server to server, so the value has to look harmless as well.
    """
    pairs = parse_qsl(urlsplit(target).query, keep_blank_values=True)
    return "&".join(
        f"{name}={value if _PLAIN_VALUE.fullmatch(value) and not _PERSON.search(name) else HIDDEN}"
        for name, value in pairs
    )


def redact(text: object, secrets: Iterable[str] = ()) -> str:
    """`text` on one line of at most `LONGEST` characters, or nothing where it is no text.

    Hidden are the `secrets` in any case of letters, whatever looks like a credential, an email address, a
    phone number, and every long opaque word.
    """
    if not isinstance(text, str):
        return ""
    for secret in sorted(filter(None, secrets), key=len, reverse=True):
        text = re.sub(re.escape(secret), HIDDEN, text, flags=re.IGNORECASE)
    line = " ".join("".join(c if c.isprintable() else " " for c in text[: 10 * LONGEST]).split())
    line = _CREDENTIAL.sub(rf"\1 {HIDDEN}", line)
    for pattern in (_EMAIL, _OPAQUE, _PHONE):
        line = pattern.sub(HIDDEN, line)
    return line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"
