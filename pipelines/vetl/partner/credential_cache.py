"""A record, kept between processes, that the platform has accepted these credentials.

If credentials never worked, their refusal is final, because another attempt could lock the account. If they worked
before, a short failure of the platform is more likely than a changed password.
"""

import hashlib
import hmac
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from secrets import token_hex
from typing import Any

from vetl.core.errors import VetlError
from vetl.partner.account import Account

_COST = {"n": 2**14, "r": 8, "p": 1, "maxmem": 2**26}
"""A guess costs about 50 ms and 16 MiB, if somebody steals the file."""


class AcceptedCredentials:
    """Remembers the last credentials that were accepted: in memory, and in a record as a salted, slow hash.

    `read` returns the record of earlier processes, `write` replaces it. Without them, or if they raise a
    `VetlError`, only this process remembers.
    """

    def __init__(
        self, read: Callable[[], Any] = lambda: None, write: Callable[[Mapping[str, str]], None] = lambda _: None
    ) -> None:
        self._read, self._write = read, write
        self._is_remembered = False

    def knows(self, account: Account) -> bool:
        """Return whether these credentials were accepted before, by this process or an earlier one."""
        return self._is_remembered or self._in_record(account)

    def remember(self, account: Account) -> None:
        """Note that the platform has accepted these credentials."""
        if self._is_remembered:
            return
        if not self._in_record(account):
            salt = token_hex(16)
            with suppress(VetlError):
                self._write({"salt": salt, "hash": _hash(account, salt)})
        self._is_remembered = True

    def _in_record(self, account: Account) -> bool:
        try:
            record = self._read()
            return hmac.compare_digest(record["hash"], _hash(account, record["salt"]))
        except (VetlError, ValueError, KeyError, TypeError):
            return False


def _hash(account: Account, salt: str) -> str:
    text = [account.base_url, account.username, account.password.get_secret_value(), account.role]
    return hashlib.scrypt(json.dumps(text).encode(), salt=bytes.fromhex(salt), **_COST).hex()
