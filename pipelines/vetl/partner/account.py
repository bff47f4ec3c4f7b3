"""The credentials of a partner, the record that they were accepted, and the limits on requests.

If credentials never worked, their refusal is final, because another attempt could lock the account. If they worked
before, a short failure of the platform is more likely than a changed password. So a record of accepted credentials
is kept between processes.
"""

import hashlib
import hmac
import json
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from ipaddress import ip_address
from secrets import token_hex
from typing import Any
from urllib.parse import urlsplit

from pydantic import SecretStr

from vetl.core.errors import ConfigurationError, VetlError

_HEADER_VALUE = re.compile(r"[!-~]+(?: [!-~]+)*")


@dataclass(frozen=True, slots=True)
class Account:
    """Partner credentials (contract: Authentication). Its `repr` shows only the address.

    `allow_plain_http` permits plain http to another machine, which sends the credentials in clear.
    """

    base_url: str
    username: str = field(repr=False)
    password: SecretStr = field(repr=False)
    role: str = field(repr=False)
    allow_plain_http: bool = field(default=False, repr=False)


@dataclass(frozen=True, slots=True)
class Limits:
    """The most requests that may be sent at once and per minute.

    `max_in_flight` and `requests_per_minute` apply to one practice, those with `total` to all practices together.
    `timeout_seconds` limits the connection and each piece of an answer.
    """

    max_in_flight: int = 8
    requests_per_minute: int | None = None
    timeout_seconds: float = 30
    max_in_flight_total: int = 32
    requests_per_minute_total: int | None = None


def is_this_machine(host: str) -> bool:
    """Return whether a host name or address can only mean this machine."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def checked_base_url(base_url: str, *, allow_plain_http: bool = False) -> str:
    """Return `base_url` without its trailing slash.

    Raise `ConfigurationError` if it is not an http(s) address, it has credentials, a query or a fragment, or it is
    plain http to another machine. Credentials would override the bearer token, a query would become part of the
    path, and plain http would send the password in clear. The message shows no part of the address.
    """
    try:
        parts = urlsplit(base_url)
        plain = parts.port is None or parts.port > 0
    except ValueError:
        parts, plain = urlsplit(""), False
    extras = parts.username or parts.password or parts.query or parts.fragment
    if not plain or parts.scheme not in ("http", "https") or not parts.hostname or extras:
        raise ConfigurationError(
            "partner.base_url: expected an address like https://platform.example.com,"
            " without user, password, query or fragment"
        )
    if parts.scheme == "http" and not is_this_machine(parts.hostname) and not allow_plain_http:
        raise ConfigurationError(
            "partner.base_url: plain http would send the password and all answers in clear to another machine; use"
            " https, or set allow_plain_http = true in [partner] if the network itself is private"
        )
    return base_url.rstrip("/")


def checked_practice_id(practice_id: str) -> str:
    """Return the id if the `X-Client-Id` header can carry it.

    Raise `ConfigurationError` if it is empty, or has a character that is not printable ASCII.
    """
    if not _HEADER_VALUE.fullmatch(practice_id):
        raise ConfigurationError(
            f"practices: the id {practice_id[:60]!a} cannot be sent as X-Client-Id (printable ASCII only)"
        )
    return practice_id


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
