"""Checks of single values; the message of each `ValueError` follows the key in the line of the error."""

import re
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, SecretStr

from vetl.core.secrets import is_varied


def http_address(text: str) -> str:
    """Return an http(s) address without a trailing slash; refuse credentials in it, which would reach logs."""
    try:
        parts = urlsplit(text)
        good = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        good, parts = False, urlsplit("")
    if not good or parts.query or parts.fragment or any(character.isspace() for character in text):
        raise ValueError("must be an address such as https://api.example.com")
    if "@" in parts.netloc:
        raise ValueError(
            "must not hold a user name or password; set VETL_PARTNER__USERNAME and VETL_PARTNER__PASSWORD"
        )
    return text.rstrip("/")


def parameter_name(text: str) -> str:
    """Return the name of a query parameter; refuse an empty name, which would silently have no effect."""
    if not re.fullmatch(r"[!-~]+", text):
        raise ValueError("must name a query parameter: visible ASCII, no spaces")
    return text


def memory(text: str) -> str:
    """Return an amount of memory in a form that DuckDB accepts."""
    if not re.fullmatch(r"[1-9]\d*(\.\d+)? ?([MGT]i?B|%)", text):
        raise ValueError("must be an amount such as 4GB, 512MiB or 60%")
    return text


def file_path(path: Path) -> Path:
    """Return a path that names a file, with `~` replaced by the home folder."""
    if not path.name:
        raise ValueError("must name a file")
    return path.expanduser()


_CANNOT_BE_PASSED = set("?#\n\r\0")
"""dbt reads a path as an address, which ends at these characters."""

_CANNOT_BE_NAMED = _CANNOT_BE_PASSED | set("'\";\\")
"""Characters that a file's name must not have, because it becomes the name of a catalog in SQL."""

SCHEMAS = ("raw", "history", "control", "staging", "intermediate", "marts", "meta")


def duckdb_file(path: Path) -> Path:
    """Return the path of a DuckDB file; refuse a name that is also a schema, because it names the catalog."""
    if forbidden := sorted(_CANNOT_BE_NAMED & set(path.name)) or sorted(_CANNOT_BE_PASSED & set(str(path))):
        raise ValueError(f"must not hold the character {forbidden[0]!a}: dbt could not open it")
    if (name := path.name.split(".")[0].lower()) in SCHEMAS:
        raise ValueError(
            f"must not be called {name}: DuckDB could not distinguish the file from its schema {name}; "
            f"call it vetl_{name}.duckdb"
        )
    return file_path(path)


def varied(secret: SecretStr) -> SecretStr:
    """Return a password; refuse it if somebody who tries simple patterns can find it."""
    if not is_varied(secret.get_secret_value()):
        raise ValueError(_PATTERN)
    return secret


def varied_each(secrets: SecretStr) -> SecretStr:
    """Return signing secrets, `secret` or `practice_id=secret`; refuse them if one has a simple pattern."""
    for part in secrets.get_secret_value().split(","):
        bound = part.partition("=")[2].strip("= ")
        if not is_varied(bound or part.strip()):
            raise ValueError(_PATTERN)
    return secrets


_PATTERN = "must not repeat a short text or count up or down: somebody who tries simple patterns finds it"


def network(text: str) -> str:
    """Return an address such as 10.0.0.7, or a network such as 10.0.0.0/8."""
    try:
        return str(ip_network(text))
    except ValueError:
        raise ValueError("must be an address such as 10.0.0.7 or a network such as 10.0.0.0/8") from None


def no_boolean(value: object) -> object:
    """Return a value; refuse `true` and `false`, which are numbers in Python."""
    if isinstance(value, bool):
        raise ValueError("must be a number")  # noqa: TRY004 - pydantic collects ValueErrors
    return value


def mail_address(text: str) -> str:
    """Return a mail address; refuse a line break, which would add a header."""
    local, _, domain = text.rpartition("@")
    if not local or not domain or not text.isprintable() or any(character in text for character in ' ,;<>"'):
        raise ValueError("must be an address such as manager@example.com")
    return text


Address = Annotated[str, AfterValidator(mail_address)]
