"""What a value must look like. The text of each ValueError follows the key."""

from pathlib import Path
from urllib.parse import urlsplit


def http_address(text: str) -> str:
    """An http(s) address without a trailing slash. Credentials in it would end up in logs: refused."""
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


def file_path(path: Path) -> Path:
    """A path that names a file; `~` is the home folder."""
    if not path.name:
        raise ValueError("must name a file")
    return path.expanduser()


SCHEMAS = ("raw", "history", "control", "staging", "intermediate", "marts")


def duckdb_file(path: Path) -> Path:
    """A file that DuckDB opens. It is a catalog by its own name, which must not be that of a schema in it."""
    if (name := path.name.split(".")[0].lower()) in SCHEMAS:
        raise ValueError(
            f"must not be called {name}: DuckDB could not tell the file from its schema {name}; "
            f"call it vetl_{name}.duckdb"
        )
    return file_path(path)


def no_boolean(value: object) -> object:
    """Python counts `true` as 1; a settings file does not."""
    if isinstance(value, bool):
        raise ValueError("must be a number")  # noqa: TRY004 - pydantic collects ValueErrors
    return value
