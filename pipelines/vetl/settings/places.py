"""Check that no two settings name the same place, or a file that vetl writes beside another one."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from vetl.settings.section import Section


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
