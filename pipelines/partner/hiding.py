"""Text of others, made fit for an error message: one short line without secrets or personal data."""

import re
from collections.abc import Iterable

LONGEST = 200
HIDDEN = "***"

_EMAIL = re.compile(r"[^\s@<>\"]+@[^\s@<>\"]+")
_PHONE = re.compile(r"\+?(?!\d{4}-\d\d-\d\d)(?<![\d-])\(?\d(?:[\s().-]{0,2}\d){6,}")
_CREDENTIAL = re.compile(r"(?i)\b(bearer|basic|token|password|secret|api[_-]?key)\b[\s:=\"']+\S+")
_OPAQUE = re.compile(r"[\w+/=.~-]{24,}")


def fit_to_show(text: object, secrets: Iterable[str] = ()) -> str:
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
