"""Who signs in where, and how hard the platform may be worked."""

import re
from dataclasses import dataclass, field
from ipaddress import ip_address
from urllib.parse import urlsplit

from pydantic import SecretStr

from pipelines.core.errors import ConfigurationError

_HEADER_VALUE = re.compile(r"[!-~]+(?: [!-~]+)*")


@dataclass(frozen=True, slots=True)
class Account:
    """Partner credentials (contract: Authentication). Its `repr` shows the address and nothing else.

    `allow_plain_http`: they may travel in clear to another machine.
    """

    base_url: str
    username: str = field(repr=False)
    password: SecretStr = field(repr=False)
    role: str = field(repr=False)
    allow_plain_http: bool = field(default=False, repr=False)


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is asked of the platform at once.

    `max_in_flight` and `requests_per_minute` hold per practice, `max_in_flight_total` over all practices.
    `timeout_seconds` is for connecting and for each piece of an answer.
    """

    max_in_flight: int = 8
    requests_per_minute: int | None = None
    timeout_seconds: float = 30
    max_in_flight_total: int = 32


def is_this_machine(host: str) -> bool:
    """Whether a host name or address can only mean the machine that asks."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def checked_base_url(base_url: str, *, allow_plain_http: bool = False) -> str:
    """`base_url` without trailing slash.

    Raises:
        ConfigurationError: it is no plain http(s) address. Credentials in it would override the bearer
            token, a query would end up inside the path; the message shows neither. Or everything, the password
            included, would be sent in clear to another machine.
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
            " https, or set allow_plain_http = true in [partner] where the network itself is private"
        )
    return base_url.rstrip("/")


def checked_practice_id(practice_id: str) -> str:
    """The id, if it can stand in the `X-Client-Id` header.

    Raises:
        ConfigurationError: it is empty, or holds anything but printable ASCII.
    """
    if not _HEADER_VALUE.fullmatch(practice_id):
        raise ConfigurationError(
            f"practices: the id {practice_id[:60]!a} cannot be sent as X-Client-Id (printable ASCII only)"
        )
    return practice_id
