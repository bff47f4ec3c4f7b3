"""Base model of the tables of `vetl.toml`. Each brings its own paths, references and secrets.

The places of all tables are checked together: no two settings name the same one, or a file that vetl writes beside
another one, and no private file is for everybody.

At the end are the checks of single values. The message of each `ValueError` follows the key in the line of the
error.
"""

import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from ipaddress import ip_network
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, field_validator

from vetl.core.published_file import is_varied
from vetl.settings.sources import Sources, with_home

if TYPE_CHECKING:
    from vetl.settings import Settings

NUL = "'\\x00'"
"""The character that ends a path for the system."""


class Section(BaseModel):
    """One table of `vetl.toml`; an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    secret_keys: ClassVar[tuple[str, ...]] = ()
    """Keys, `a.b` of a subtable, that are refused in `vetl.toml`: files are copied, committed and mailed."""

    private_keys: ClassVar[tuple[str, ...]] = ()
    """The paths that nobody else on this machine may read."""

    emptied_keys: ClassVar[tuple[str, ...]] = ()
    """The folders that vetl empties."""

    @field_validator("*")
    @classmethod
    def _is_text(cls, value: object) -> object:
        if isinstance(value, str | Path) and "\0" in str(value):
            raise ValueError(f"must not hold the character {NUL}")
        return value

    @classmethod
    def of(cls, settings: BaseModel) -> Self:
        """Return this section of the settings; its defaults if its addon is not there."""
        return next((value for _, value in settings if isinstance(value, cls)), cls())

    def anchored(self, folder: Path) -> Self:
        """Return the section with absolute paths; relative ones start at `folder`."""
        return self.model_copy(update={key: folder / value for key, value in self if isinstance(value, Path)})

    def places(self, name: str) -> Iterator[tuple[str, Path]]:
        """Yield the key and the path of each file and folder that vetl replaces, removes or empties.

        `name` is that of the section.
        """
        yield from ((f"{name}.{key}", value) for key, value in self if isinstance(value, Path))

    def practices_named(self) -> Iterator[tuple[str, Sequence[str]]]:
        """Yield the keys that name practices, with these practices, which must be configured."""
        yield from ()


def same_place(sections: Iterable[tuple[str, Section]], private: Path, own: Sequence[Path]) -> str | None:
    """Return the line about two paths with the same place, or `None` if there are no such paths.

    `private` is the private file, `own` are the files of the settings.
    """
    private = private.resolve()
    sections = list(sections)
    places = [(key, path.resolve()) for name, section in sections for key, path in section.places(name)]
    places += [(file.name, file.resolve()) for file in own]
    for number, (name, path) in enumerate(places):
        for other, other_path in places[:number]:
            if path == other_path:
                return f"{name} and {other} must be different places"
        if path.parent == private.parent and path.name.startswith(f"{private.name}."):
            return f"{name} must not begin with the name of warehouse.path: vetl writes such files beside it"
    emptied = {f"{name}.{key}" for name, section in sections for key in section.emptied_keys}
    for folder, scratch in places:
        for name, path in places:
            if folder in emptied and scratch in path.parents:
                return f"{folder} must not hold {name}: vetl empties that folder"
    return None


def exposed(settings: "Settings") -> list[str]:
    """Return a line with the remedy for each private file and folder that everybody on this machine may read."""
    # A group is allowed, because somebody set it on purpose. So are folders that everybody may pass through but
    # not list: analysts need that to reach the published file.
    return [
        *(
            f"{path}: everybody on this machine may read or write it; chmod o-rwx {path}"
            for path in _private(settings)
            if path.exists() and path.stat().st_mode & stat.S_IRWXO
        ),
        *(
            f"{folder}: everybody on this machine may list it or write to it; chmod o-rw {folder}"
            for folder in sorted({path.parent for path in _private(settings) if path.is_file()})
            if folder.exists() and folder.stat().st_mode & (stat.S_IROTH | stat.S_IWOTH)
        ),
    ]


def _private(settings: "Settings") -> Iterator[Path]:
    """Yield the private files, and the files beside them: dbt's state, the status, logs of transactions."""
    yield from Sources.find(None).dotenv_files
    for name, section in settings.sections():
        kept = {f"{name}.{key}" for key in section.private_keys}
        for file in (path for key, path in section.places(name) if key in kept):
            yield file
            yield from sorted(file.parent.glob(f"{file.name}[.-]*"))
    yield settings.warehouse.published.resolve().with_name("contacts.duckdb")


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


def matching(pattern: str, otherwise: str) -> AfterValidator:
    """Return the check that a text matches a pattern; `otherwise` is the message if it does not."""

    def check(text: str) -> str:
        if not re.fullmatch(pattern, text):
            raise ValueError(otherwise)
        return text

    return AfterValidator(check)


def file_path(path: Path) -> Path:
    """Return a path that names a file, with `~` replaced by the home folder."""
    if not path.name:
        raise ValueError("must name a file")
    return with_home(path)


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
FilePath = Annotated[Path, AfterValidator(file_path)]
DuckDBFile = Annotated[Path, AfterValidator(duckdb_file)]
HttpAddress = Annotated[str, AfterValidator(http_address)]
ParameterName = Annotated[str, matching(r"[!-~]+", "must name a query parameter: visible ASCII, no spaces")]
"""Not empty: an empty name would silently have no effect."""
Memory = Annotated[
    str, matching(r"[1-9]\d*(\.\d+)? ?([MGT]i?B|%)", "must be an amount such as 4GB, 512MiB or 60%")
]
Network = Annotated[str, AfterValidator(network)]
Varied = Annotated[SecretStr, AfterValidator(varied)]
Whole = Annotated[int, BeforeValidator(no_boolean)]
Count = Annotated[Whole, Field(ge=0)]
Positive = Annotated[Whole, Field(ge=1)]
Hour = Annotated[Whole, Field(ge=0, le=24)]
Port = Annotated[Whole, Field(ge=0, le=65535)]
Real = Annotated[float, BeforeValidator(no_boolean)]
Number = Annotated[Real, Field(allow_inf_nan=False)]
Seconds = Annotated[Number, Field(le=366 * 24 * 3600)]
Minutes = Annotated[Number, Field(le=366 * 24 * 60)]
Hours = Annotated[Number, Field(le=366 * 24)]
"""At most a year: an hour of the far future is no time that Python knows."""
