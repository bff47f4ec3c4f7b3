"""Base model of the tables of `vetl.toml`. Each brings its own paths, references and secrets.

The places of all tables are checked together: no two settings name the same one, or a file that vetl writes beside
another one, and no private file is for everybody.
"""

import stat
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Self

from pydantic import BaseModel, ConfigDict

from vetl.settings.sources import Sources

if TYPE_CHECKING:
    from vetl.settings import Settings


class Section(BaseModel):
    """One table of `vetl.toml`; an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    secret_keys: ClassVar[tuple[str, ...]] = ()
    """Keys, `a.b` of a subtable, that are refused in `vetl.toml`: files are copied, committed and mailed."""

    private_keys: ClassVar[tuple[str, ...]] = ()
    """The paths that nobody else on this machine may read."""

    emptied_keys: ClassVar[tuple[str, ...]] = ()
    """The folders that vetl empties."""

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
