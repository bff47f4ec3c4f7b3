"""The hooks by which addons join the core, and the search for addons.

An addon is a module with functions that are named as those of `Hooks` and marked with `@addon`. The addons of vetl
are the folders of `vetl/addons`; those of others are entry points of the group `vetl`. The module itself imports
nothing heavy: its functions do, when they are called.

`settings` are `vetl.settings.Settings`, which stand on this module, as all packages may.
"""

import pkgutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache, partial, wraps
from importlib import import_module
from importlib.metadata import entry_points
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pluggy import HookimplMarker, HookspecMarker, PluginManager

from vetl.core.errors import ConfigurationError, VetlError, reason_of

if TYPE_CHECKING:
    import dagster as dg


@dataclass(frozen=True, slots=True)
class Problem:
    """A line about a problem for an operator, and its exit code."""

    exit_code: int
    line: str


@dataclass(frozen=True, slots=True)
class StatusPart:
    """The part of an addon: problems, lines for the terminal, and a `name` with its `content` for `--json`."""

    problems: tuple[Problem, ...] = ()
    lines: tuple[str, ...] = ()
    name: str = ""
    content: Any = None


GROUP = "vetl"
BUILT_IN = [f"vetl.addons.{found.name}" for found in pkgutil.iter_modules([str(Path(__file__).parent / "addons")])]

Sections = Mapping[str, type[Any]]
Commands = Mapping[str, Mapping[str, tuple[str, str]]]

addon = HookimplMarker(GROUP)
_hook = HookspecMarker(GROUP)


class AddonFiles:
    """The files of an addon, for backups and for the forgetting of a person. A subclass overrides the rest."""

    def __init__(self, files: Mapping[str, Path], derived: Sequence[Path] = ()) -> None:
        """Take the files that stay, by their names in a backup, and the folders that are made again.

        A file whose name ends with `-ledger` says what has left; `vetl restore` never replaces it by an older one.
        """
        self.files, self.derived = files, derived

    def forget(self, plan: Any, mentions: Any) -> None:
        """Erase the person. To repeat it changes nothing."""

    def renew(self) -> Sequence[str]:
        """Make again, or remove, the files that come from the marts; return the places that were made again."""
        return ()

    def left(self, person: Any, mentions: Any) -> Iterable[str]:  # noqa: ARG002 - of the subclasses
        """Return the places that still contain a value of the person."""
        return ()


class Hooks:
    """The functions of an addon; each is optional."""

    @_hook
    def settings_sections(self) -> Sections:  # pyright: ignore[reportReturnType]
        """Return models by the names of sections; that of a section of the core adds keys to it."""

    @_hook
    def commands(self) -> Commands:  # pyright: ignore[reportReturnType]
        """Return, by the heading of the help and the name of the command, its module and the line about it."""

    @_hook
    def engines(self) -> Mapping[str, str]:  # pyright: ignore[reportReturnType]
        """Return, by the name for `vetl build --engine`, a module with `build(*, as_json) -> exit code`."""

    @_hook
    def definitions(self, settings: Any, vetl: Any) -> "dg.Definitions":  # pyright: ignore[reportReturnType]
        """Return jobs, schedules, sensors, assets and checks for Dagster."""

    @_hook
    def before_build(self, settings: Any) -> None:
        """Write the tables of the private file that the marts read."""

    @_hook
    def after_publication(self, settings: Any) -> Iterable[str]:  # pyright: ignore[reportReturnType]
        """Use a new published file, and return lines for the terminal. An error stops no other addon."""

    @_hook
    def problems(self, settings: Any, practices: Sequence[str] | None, now: datetime) -> StatusPart:  # pyright: ignore[reportReturnType]
        """Return the part of `vetl status` that the addon shows, for `practices` or for all."""

    @_hook
    def people(self, settings: Any) -> "AddonFiles":  # pyright: ignore[reportReturnType]
        """Return the files of the addon, which may name people."""


def found_in(place: str, hook: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function for a hook, which imports `module:function` and calls it with the arguments it takes."""
    module, _, name = place.partition(":")
    _, *names = signature(hook).parameters

    @addon
    @wraps(hook)
    def call(*values: Any) -> Any:
        function = getattr(import_module(module), name)
        arguments = dict(zip(names, values, strict=True))
        return function(**{key: arguments[key] for key in signature(function).parameters})

    return call


def sections_in(module: str, **models: str) -> Callable[[], Sections]:
    """Return a function for `settings_sections`: by the names of sections, the models that the module has."""

    @addon
    def settings_sections() -> Sections:
        found = import_module(module)
        return {section: getattr(found, model) for section, model in models.items()}

    return settings_sections


def command_in(module: str, heading: str, name: str, line: str) -> Callable[[], Commands]:
    """Return a function for `commands`: one command with the line about it, under a heading of the help."""
    return addon(lambda: {heading: {name: (module, line)}})


@cache
def _manager() -> PluginManager:
    """Return the manager of all addons. Raise `ConfigurationError` if one of them cannot be loaded."""
    manager = PluginManager(GROUP)
    manager.add_hookspecs(Hooks)
    places: list[tuple[str, Callable[[], Any]]] = [(name, partial(import_module, name)) for name in BUILT_IN]
    if _has_others():
        places += [(found.name, found.load) for found in entry_points(group=GROUP)]
    for name, load in places:
        try:
            manager.register(load(), name)
            manager.check_pending()
        except Exception as error:
            raise ConfigurationError(f"the addon {name} cannot be loaded: {error}") from error
    return manager


def _has_others() -> bool:
    """Return whether an installed package has an addon; to read the metadata of all takes five times as long."""
    files = (file for folder in sys.path for file in Path(folder).glob("*.dist-info/entry_points.txt"))
    return any(f"[{GROUP}]" in file.read_text("utf-8") for file in files)


def _answers(hook: str, **arguments: Any) -> Iterator[Any]:
    """Yield the answer of each addon, in the order of their names, then those of others."""
    yield from reversed(getattr(_manager().hook, hook)(**arguments))  # pluggy begins with the last


def sections() -> Iterator[tuple[str, type[Any]]]:
    """Yield the sections of the addons by name."""
    for some in _answers("settings_sections"):
        yield from some.items()


def commands() -> Iterator[tuple[str, str, str, str]]:
    """Yield heading, name, module and line of each command of the addons."""
    for some in _answers("commands"):
        yield from ((title, name, *more) for title, group in some.items() for name, more in group.items())


def engines() -> dict[str, str]:
    """Return the modules of the addons that build the marts, by the name of their engine."""
    return {name: module for some in _answers("engines") for name, module in some.items()}


def definitions(settings: Any, vetl: Any) -> "list[dg.Definitions]":
    """Return the definitions of the addons for Dagster."""
    return list(_answers("definitions", settings=settings, vetl=vetl))


def before_build(settings: Any) -> None:
    """Have the addons write their tables of the private file."""
    list(_answers("before_build", settings=settings))


def after_publication(settings: Any) -> Iterator[str]:
    """Have the addons use the new published file, and yield their lines.

    If one fails, the others go on; then raise `VetlError` with the name of each that failed.
    """
    failures: list[str] = []
    for found in _manager().hook.after_publication.get_hookimpls():
        try:
            lines: Any = found.function(*([settings] if found.argnames else []))
            yield from lines or ()
        except Exception as error:  # noqa: BLE001 - of somebody else's code
            failures.append(f"the addon {found.plugin_name} failed: {reason_of(error)}")
    if failures:
        raise VetlError("; ".join(failures))


def problems(settings: Any, practices: Sequence[str] | None, now: datetime) -> list[StatusPart]:
    """Return the parts of `vetl status` that the addons show."""
    return list(_answers("problems", settings=settings, practices=practices, now=now))


def people(settings: Any) -> list[AddonFiles]:
    """Return the files of the addons."""
    return list(_answers("people", settings=settings))
