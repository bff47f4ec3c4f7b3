"""A record, kept between processes, that the platform has accepted these credentials.

If credentials never worked, their refusal is final, because another attempt could lock the account. If they worked
before, a short failure of the platform is more likely than a changed password.
"""

import hashlib
import hmac
import json
from contextlib import suppress
from pathlib import Path
from secrets import token_hex

from vetl.drafts import replace_text
from vetl.partner.account import Account

_COST = {"n": 2**14, "r": 8, "p": 1, "maxmem": 2**26}
"""A guess costs about 50 ms and 16 MiB, if somebody steals the file."""


class AcceptedCredentials:
    """Remembers the last credentials that were accepted: in memory, and in `path` as a salted, slow hash.

    Without the file, or if it cannot be written, only this process remembers.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._is_remembered = False

    def knows(self, account: Account) -> bool:
        """Return whether these credentials were accepted before, by this process or an earlier one."""
        return self._is_remembered or self._in_file(account)

    def remember(self, account: Account) -> None:
        """Note that the platform has accepted these credentials."""
        if self._is_remembered:
            return
        if self._path is not None and not self._in_file(account):
            with suppress(OSError):
                _write(self._path, account)
        self._is_remembered = True

    def _in_file(self, account: Account) -> bool:
        try:
            record = json.loads(self._path.read_text("utf-8")) if self._path else {}
            return hmac.compare_digest(record["hash"], _hash(account, record["salt"]))
        except (OSError, ValueError, KeyError, TypeError):
            return False


def _hash(account: Account, salt: str) -> str:
    text = [account.base_url, account.username, account.password.get_secret_value(), account.role]
    return hashlib.scrypt(json.dumps(text).encode(), salt=bytes.fromhex(salt), **_COST).hex()


def _write(path: Path, account: Account) -> None:
    salt = token_hex(16)
    replace_text(path, json.dumps({"salt": salt, "hash": _hash(account, salt)}))
