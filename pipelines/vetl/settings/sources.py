"""The files and variables that hold the settings, and one clear line for each mistake in them.

No line ever repeats a value, because the value at a wrong key may be a password.
"""

import os
import re
import tomllib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Any

from dotenv.parser import Binding, parse_stream
from pydantic import ValidationError
from pydantic_core import ErrorDetails
from pydantic_settings import SettingsError

from vetl.core.errors import ConfigurationError
from vetl.core.text import nearest

CONFIG_VARIABLE = "VETL_CONFIG"
DEFAULT_FILE = "vetl.toml"
PREFIX = "VETL_"
DELIMITER = "__"

Location = tuple[int | str, ...]

_ASSIGNED = re.compile(r"\s*(?:export\s+)?([A-Za-z_]\w*)\s*=(.*)", re.DOTALL)
_COMMENT = re.compile(r"\s+#.*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Sources:
    """The files that settings are read from. `config` is `None` if there is no `vetl.toml`.

    If no secret is needed, a `.env` that belongs to another account is left out (`needs_secrets`).
    """

    config: Path | None
    folder: Path
    dotenv_files: tuple[Path, ...]
    needs_secrets: bool = True
    _dotenv: dict[str, tuple[str, Path]] = field(default_factory=dict[str, tuple[str, Path]], repr=False)
    """The variables of the `.env` files after their first read, because a pipe can be read only once."""

    @classmethod
    def find(cls, config: Path | None, *, needs_secrets: bool = True) -> "Sources":
        """Choose the file `config`, else the file in `VETL_CONFIG`, else `vetl.toml` if it exists."""
        named = config or _named_by_environment()
        here = Path.cwd()
        if named is None:
            default = here / DEFAULT_FILE
            return cls(default if default.exists() else None, here, (here / ".env",), needs_secrets)
        folder = named.absolute().parent
        return cls(named, folder, tuple(dict.fromkeys((here / ".env", folder / ".env"))), needs_secrets)

    def read_toml(self) -> dict[str, Any]:
        """Return the tables of the file.

        Raise `ConfigurationError` if the file cannot be read or is not TOML. The message names the line.
        """
        if self.config is None:
            return {}
        try:
            return tomllib.loads(self.config.read_text("utf-8-sig"))
        except OSError as error:
            raise _one_line(f"{self.config}: cannot be read: {error.strerror}") from None
        except UnicodeDecodeError:
            raise _one_line(f"{self.config}: is not UTF-8 text") from None
        except tomllib.TOMLDecodeError as error:
            raise _one_line(f"{self.config}: is not TOML: {error}") from None

    def read_dotenv(self) -> dict[str, str]:
        """Return the variables of the `.env` files; that beside `vetl.toml` wins over the working directory's."""
        if not self._dotenv:
            for file in self.dotenv_files:
                variables = _variables_in(file, needed=self.needs_secrets)
                self._dotenv.update({name: (value, file) for name, value in variables.items()})
        return {name: value for name, (value, _) in self._dotenv.items()}

    def read_secret_files(self, secrets: Mapping[str, Collection[str]]) -> dict[str, str]:
        """Return the secrets in files, by their variables: `VETL_PARTNER__PASSWORD_FILE` names such a file.

        Raise `ConfigurationError` if a file cannot be read, or the secret itself is set, too.
        """
        origins, found = dict(self._variables()), dict[str, str]()
        values = {**self.read_dotenv(), **{name: value for name, value in os.environ.items() if value}}
        of_names = {name.upper(): value for name, value in values.items()}
        for named, variable in secret_files(secrets).items():
            if named not in origins:
                continue
            if variable in origins:
                raise _one_line(f"{origins[named]}: {variable} is set, too; remove one of them")
            try:
                secret = with_home(Path(of_names[named])).read_text("utf-8").rstrip("\r\n")
            except PermissionError as error:
                if self.needs_secrets:
                    raise _one_line(f"{origins[named]}: the file cannot be read: {error.strerror}") from None
            except (OSError, ValueError) as error:
                words = "is not UTF-8 text" if isinstance(error, UnicodeDecodeError) else f"its path {error}"
                reason = getattr(error, "strerror", None) or words
                raise _one_line(f"{origins[named]}: the file cannot be read: {reason}") from None
            else:
                if not secret and self.needs_secrets:
                    raise _one_line(f"{origins[named]}: the file is empty")
                found[variable] = secret
        return found

    def require_settings(self, sections: Collection[str], secrets: Mapping[str, Collection[str]]) -> None:
        """Require a file, or a variable with a setting that is no secret.

        Otherwise the working directory is probably the wrong one, and the defaults would create a warehouse in it.
        """
        if self.config is not None:
            return
        files = secret_files(secrets)
        for variable, _ in self._variables():
            section, _, key = variable.removeprefix(PREFIX).lower().partition(DELIMITER)
            if section in sections and key not in secrets.get(section, ()) and variable not in files:
                return
        raise _one_line(
            f"{self.folder}: there is no {DEFAULT_FILE} here; choose another folder with -C DIR or a file with"
            " --config FILE, or write a new file with `vetl init`"
        )

    def refuse_unknown_sections(self, table: Mapping[str, Any], sections: Collection[str]) -> None:
        """Refuse a misspelled section, which would otherwise have no effect and no message."""
        for name in table:
            if name not in sections:
                hint = nearest(name, sorted(sections))
                addon = "; or its addon is not installed" if "known" in hint else ""
                raise _one_line(f"{self.config}: unknown key {name}{hint}{addon}")
        for variable, origin in self._variables():
            section, delimiter, _ = variable.removeprefix(PREFIX).lower().partition(DELIMITER)
            if delimiter and section not in sections:
                raise _one_line(f"{origin}: unknown section {section}{nearest(section, sections)}")

    def refuse_secrets(self, table: Mapping[str, Any], secrets: Mapping[str, Collection[str]]) -> None:
        """Refuse a secret in the file. Secrets belong in the environment or in `.env`."""
        for section, keys in secrets.items():
            for key in keys:
                path, value = (section, *key.split(".")), table
                for part in path:
                    value = value.get(part, {}) if isinstance(value, dict) else {}
                if value != {}:
                    variable = _variable(path)
                    raise _one_line(
                        f"{self.config}: {section}.{key} must not be in this file; "
                        f"set {variable} in the environment or in .env"
                    )

    def explain(self, error: ValidationError, known_keys: Mapping[str, Collection[str]]) -> ConfigurationError:
        """Return the first mistake in one line."""
        problem = error.errors(include_url=False, include_input=False)[0]
        find = self._origin_of_list if problem["type"] == "tuple_type" else self._origin
        origin = find(problem["loc"])
        return _one_line(f"{origin}: {_wording(problem, known_keys)}")

    def refuse(self, problem: str) -> ConfigurationError:
        """Return a mistake that concerns several keys together."""
        return _one_line(f"{self.config or DEFAULT_FILE}: {problem}")

    def explain_undecoded(self, error: SettingsError) -> ConfigurationError:
        """Return the error for a variable with a section, list or table that is not JSON."""
        named = re.search(r'field "(\w+)"', str(error))
        variable, value = _variable((named[1] if named else "",)), getattr(error.__cause__, "doc", None)
        for name, text in {**self.read_dotenv(), **os.environ}.items():
            if text == value and name.upper().startswith(f"{variable}{DELIMITER}"):
                variable = name.upper()
        location = tuple(variable.removeprefix(PREFIX).lower().split(DELIMITER))
        example = ', such as ["a", "b"]' if location[1:] else ""
        return _one_line(f"{self._origin(location)}: {_key(location)} must be JSON{example}")

    def _origin(self, location: Location) -> str:
        """Return the variable that set this key or a table around it, else the file."""
        origins = dict(self._variables())
        for length in range(len(location), 0, -1):
            variable = _variable(location[:length])
            if variable in origins:
                return origins[variable]
        return str(self.config or DEFAULT_FILE)

    def _origin_of_list(self, location: Location) -> str:
        """Return the variable of a part, which replaces the whole list, else the origin of the list."""
        part = f"{_variable(location)}{DELIMITER}"
        of_part = (origin for variable, origin in self._variables() if variable.startswith(part))
        return next(of_part, self._origin(location))

    def _variables(self) -> Iterator[tuple[str, str]]:
        """Yield the upper-case name and the origin of each variable of vetl that is set, the winning one last."""
        self.read_dotenv()
        for name, (_, file) in self._dotenv.items():
            if name.upper().startswith(PREFIX):
                yield name.upper(), f"{name} in {file}"
        for name, value in os.environ.items():
            if value and name.upper().startswith(PREFIX):
                yield name.upper(), f"environment variable {name}"


def secret_files(secrets: Mapping[str, Collection[str]]) -> dict[str, str]:
    """Return the variables that name the files of secrets, each with the variable of the secret."""
    paths = [(section, *key.split(".")) for section, keys in secrets.items() for key in keys]
    return {f"{_variable(path)}_FILE": _variable(path) for path in paths}


def _variables_in(file: Path, *, needed: bool) -> dict[str, str]:
    """Return the variables of a `.env` file, or none if it does not exist; `${X}` is not expanded."""
    try:
        with file.open(encoding="utf-8-sig") as stream:
            bindings = [part for binding in parse_stream(stream) for part in _closed(binding)]
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):  # some name a virtual environment `.env`
        return {}
    except OSError as error:
        if isinstance(error, PermissionError) and not needed:
            return {}
        raise _one_line(f"{file}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise _one_line(f"{file}: is not UTF-8 text") from None
    return {name: value for name, value in bindings if value}


def _closed(binding: Binding) -> Iterator[tuple[str, str]]:
    """Yield the variable of a binding; a quote that nothing closes begins the value itself, as in a password.

    Otherwise the quote would reach to the next quote of the file, and the variables between would be lost.
    """
    first, *rest = binding.original.string.strip().splitlines() or [""]
    if not binding.error and not any(_ASSIGNED.match(line) for line in rest):
        if binding.key and binding.value:
            yield binding.key, binding.value
        return
    if assigned := _ASSIGNED.match(first):
        yield assigned[1], _COMMENT.sub("", assigned[2]).strip()
    if rest:
        for following in parse_stream(StringIO("\n".join(rest) + "\n")):
            yield from _closed(following)


def _one_line(text: str) -> ConfigurationError:
    """Return the error in one line, because a quoted key of TOML may contain line breaks."""
    return ConfigurationError(" ".join(text.split()))


def with_home(path: Path) -> Path:
    """Return a path with `~` replaced by the home folder."""
    try:
        return path.expanduser()
    except RuntimeError:
        raise ValueError("must not begin with ~ and the name of no account") from None


def _named_by_environment() -> Path | None:
    name = os.environ.get(CONFIG_VARIABLE)
    try:
        return with_home(Path(name)) if name else None
    except ValueError as error:
        raise _one_line(f"{CONFIG_VARIABLE}: {error}") from None


def _variable(location: Location) -> str:
    return PREFIX + DELIMITER.join(str(part) for part in location).upper()


def _key(location: Location) -> str:
    """Return a key such as `practices[0].time_zone` or `partner.base_url`."""
    text = ""
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return text.lstrip(".")


_WORDS = {
    "missing": "is missing",
    "model_type": "must be a table",
    "dataclass_type": "must be a table",
    "dict_type": "must be a table",
    "tuple_type": "must be a list, in brackets",
    "path_type": "must be a path, as a text",
    "int_parsing_size": "must be a smaller number",
}
"""The mistakes whose words are others than pydantic's."""


def _wording(problem: ErrorDetails, known_keys: Mapping[str, Collection[str]]) -> str:
    location = tuple(part for part in problem["loc"] if part != "[key]")
    key, kind = _key(location), problem["type"]
    match kind:
        case "extra_forbidden" | "unexpected_keyword_argument":
            name, known = str(location[-1]), known_keys.get(str(location[0]), ())
            there = [f"[{section}]" for section, keys in known_keys.items() if name in keys]
            return f"unknown key {key}" + (
                f"; it belongs to {' or '.join(there)}" if there else nearest(name, sorted(known))
            )
        case "value_error":
            return f"{key} {problem.get('ctx', {}).get('error')}".strip()
        case "tuple_type" if location == ("practices",):
            return f"{key} must be a list of tables: [[{key}]], or {_variable(location)} as JSON"
        case _:
            words = problem["msg"].replace("Input should", "must").replace("String should", "must")
            return f"{key} {_WORDS.get(kind, words)}"
