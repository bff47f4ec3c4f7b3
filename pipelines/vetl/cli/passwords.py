"""The users' passwords: one `name:hash` a line, in a file of its owner; Argon2 makes and checks the hashes.

The file is read at each sign-in, so a line that is removed ends that user's next sign-in without a restart.
"""

from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from vetl.store.drafts import replace_text

LEAST = 10
"""The fewest characters of a password."""

_hasher = PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1)
"""As OWASP recommends it: a fifth of the library's own cost, which 60 senders at once could not pay."""

_two_at_once = ThreadPoolExecutor(2)
"""Whoever asks, in the order of the questions: each hash needs its memory, and a thread keeps what it needed."""


def is_password_of(file: Path, name: str, password: str) -> bool:
    """Return whether the password is that of the user. An unknown user takes as long as a known one."""
    stored = _read_hashes(file).get(name)
    try:
        checked = _two_at_once.submit(_hasher.verify, stored or _nobodys(), password)
        return checked.result() and stored is not None
    except (VerificationError, InvalidHashError):
        return False


def set_password(file: Path, name: str, password: str) -> None:
    """Write a user's line, or replace it.

    Raise `OSError` if the file cannot be read or written, `ValueError` if the name cannot be in such a file,
    or the password is too short.
    """
    if not name or ":" in name or not name.isprintable() or name != name.strip():
        raise ValueError("a name is made of visible characters, without a colon")
    if len(password) < LEAST:
        raise ValueError(f"a password has at least {LEAST} characters")
    lines = {**_read_hashes(file), name: _hasher.hash(password)}
    file.parent.mkdir(parents=True, exist_ok=True)
    replace_text(file, "".join(f"{key}:{value}\n" for key, value in lines.items()))


def _read_hashes(file: Path) -> dict[str, str]:
    try:
        lines = file.read_text("utf-8").splitlines()
    except FileNotFoundError:
        return {}
    return dict(line.rsplit(":", 1) for line in lines if ":" in line)


@cache
def _nobodys() -> str:
    """Return the hash of a password that nobody has, for names that are not there."""
    return _hasher.hash("nobody")
