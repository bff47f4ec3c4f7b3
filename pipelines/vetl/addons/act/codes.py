"""The marks by which a task of vetl is found again: a code in its description, and its reference time.

A code follows from the practice, the kind and one contact of a booking request. So a task is recognised without
the ledger, and also after two episodes turn out to be one: the merged episode has the contact of the code.
"""

import hashlib
import re
from base64 import b32encode
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

_CODE = re.compile(r"\[vetl ([A-Z2-7]{12})\]")


def code_of(practice_id: str, kind: str, contact: str) -> str:
    """Return the code of a booking request that began with this contact, such as `call:c-1`."""
    digest = hashlib.sha256(f"{practice_id}\n{kind}\n{contact}".encode()).digest()
    return b32encode(digest)[:12].decode()


def codes_of(practice_id: str, kind: str, contacts: Iterable[str]) -> set[str]:
    """Return the codes that a task about any of these contacts may have."""
    return {code_of(practice_id, kind, contact) for contact in contacts}


def marked(description: str, code: str) -> str:
    """Return the description with the line that holds the code."""
    return f"{description}\n[vetl {code}]"


def codes_in(*texts: str | None) -> list[str]:
    """Return the codes in these texts of a task, in their order."""
    return [code for text in texts if text for code in _CODE.findall(text)]


def reference_time(last_at: datetime, code: str) -> datetime:
    """Return the minute of the last contact, with seconds that follow from the code.

    Servers keep times to the second at least, and several booking requests may have one minute.
    """
    seconds = int.from_bytes(hashlib.sha256(code.encode()).digest()[:4]) % 60
    return last_at.astimezone(UTC).replace(second=0, microsecond=0) + timedelta(seconds=seconds)


def share_of(practice_id: str, kind: str, contact: str) -> float:
    """Return a stable number from 0 to below 1 for a booking request, by which it is in the holdout or not."""
    digest = hashlib.sha256(f"holdout\n{practice_id}\n{kind}\n{contact}".encode()).digest()
    return int.from_bytes(digest[:8]) / 2**64
