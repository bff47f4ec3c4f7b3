"""The hooks by which addons join the core, and the search for addons.

An addon is a module with functions that are named as those of `Hooks` and marked with `@addon`. The addons of vetl
are the folders of `vetl/addons`; those of others are entry points of the group `vetl`. The module itself imports
nothing heavy: its functions do, when they are called.
"""

import pkgutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pluggy import HookimplMarker, HookspecMarker, PluginManager

from vetl.core.errors import ConfigurationError

if TYPE_CHECKING:
    import dagster as dg

    from vetl.settings import Settings
    from vetl.settings.section import Section

GROUP = "vetl"
BUILT_IN = [f"vetl.addons.{found.name}" for found in pkgutil.iter_modules([str(Path(__file__).parent / "addons")])]

Sections = Mapping[str, type["Section"]]
Commands = Mapping[str, Mapping[str, tuple[str, str]]]

addon = HookimplMarker(GROUP)
_hook = HookspecMarker(GROUP)


class Hooks:
    """The functions of an addon; each is optional."""

    @_hook
    def settings_sections(self) -> Sections:  # pyright: ignore[reportReturnType]
        """Return models by the names of sections; that of a section of the core adds keys to it."""

    @_hook
    def commands(self) -> Commands:  # pyright: ignore[reportReturnType]
        """Return, by the heading of the help and the name of the command, its module and the line about it."""

    @_hook
    def definitions(self, settings: "Settings") -> "dg.Definitions":  # pyright: ignore[reportReturnType]
        """Return jobs, schedules, sensors, assets and checks for Dagster."""


@cache
def _manager() -> PluginManager:
    """Return the manager of all addons.

    Raises:
        ConfigurationError: an addon cannot be loaded.
    """
    manager = PluginManager(GROUP)
    manager.add_hookspecs(Hooks)
    try:
        for name in BUILT_IN:
            manager.register(import_module(name), name)
        if _has_others():
            manager.load_setuptools_entrypoints(GROUP)
    except Exception as error:
        raise ConfigurationError(f"an addon cannot be loaded: {error}") from error
    return manager


def _has_others() -> bool:
    """Return whether an installed package has an addon; to read the metadata of all takes five times as long."""
    files = (file for folder in sys.path for file in Path(folder).glob("*.dist-info/entry_points.txt"))
    return any(f"[{GROUP}]" in file.read_text("utf-8") for file in files)


def _answers(hook: str, **arguments: Any) -> Iterable[Any]:  # noqa: ANN401 - of the hook
    """Return the answer of each addon, in the order of their names, then those of others."""
    return reversed(getattr(_manager().hook, hook)(**arguments))  # pluggy begins with the last


def sections() -> Iterator[tuple[str, type["Section"]]]:
    """Yield the sections of the addons by name."""
    for some in _answers("settings_sections"):
        yield from some.items()


def commands() -> Iterator[tuple[str, str, str, str]]:
    """Yield heading, name, module and line of each command of the addons."""
    for some in _answers("commands"):
        yield from ((title, name, *more) for title, group in some.items() for name, more in group.items())


def definitions(settings: "Settings") -> "Iterable[dg.Definitions]":
    """Return the definitions of the addons for Dagster."""
    return _answers("definitions", settings=settings)
