"""Base model of the tables of `vetl.toml`. Each brings its own paths, references and secrets."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar, Self

from pydantic import BaseModel, ConfigDict


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
