"""Whether these credentials have ever been accepted, from one process to the next.

A refusal of credentials that never worked is final: to repeat it could lock the account. One of credentials that
worked is the platform's bad moment more often than a change of password.
"""

import hashlib
import hmac
import json
from contextlib import suppress
from pathlib import Path
from secrets import token_hex

from pipelines.drafts import replace_text
from pipelines.partner.account import Account

_COST = {"n": 2**14, "r": 8, "p": 1, "maxmem": 2**26}
"""About 50 ms and 16 MiB a guess, for whoever gets hold of the file."""


class AcceptedCredentials:
    """Remembers the last credentials that were accepted: in memory, and in `path` as a salted, slow hash.

    The file is a help: without it, or where it cannot be written, only this process remembers.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._here = False

    def knows(self, account: Account) -> bool:
        """Whether they were accepted before, by this process or an earlier one."""
        return self._here or self._in_file(account)

    def remember(self, account: Account) -> None:
        """They were accepted now."""
        if self._here:
            return
        if self._path is not None and not self._in_file(account):
            with suppress(OSError):
                _write(self._path, account)
        self._here = True

    def _in_file(self, account: Account) -> bool:
        try:
            kept = json.loads(self._path.read_text("utf-8")) if self._path else {}
            return hmac.compare_digest(kept["hash"], _hash(account, kept["salt"]))
        except (OSError, ValueError, KeyError, TypeError):
            return False


def _hash(account: Account, salt: str) -> str:
    text = [account.base_url, account.username, account.password.get_secret_value(), account.role]
    return hashlib.scrypt(json.dumps(text).encode(), salt=bytes.fromhex(salt), **_COST).hex()


def _write(path: Path, account: Account) -> None:
    salt = token_hex(16)
    replace_text(path, json.dumps({"salt": salt, "hash": _hash(account, salt)}))
