"""Check that no two settings name the same place, or a file that vetl writes beside another one."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vetl.settings import Settings

_FILES = ("warehouse.path", "warehouse.published", "webhooks.inbox")


def same_place(settings: "Settings", own: Sequence[Path]) -> str | None:
    """Return the line about two paths with the same place, or `None` if there are no such paths.

    `own` are the files of the settings.
    """
    places = [(name, path.resolve()) for name, path in _places(settings)]
    places += [(file.name, file.resolve()) for file in own]
    for number, (name, path) in enumerate(places):
        for other, other_path in places[:number]:
            if path == other_path and {name, other} <= {*_FILES}:
                return f"{', '.join(_FILES[:2])} and {_FILES[2]} must be three different files"
            if path == other_path:
                return f"{name} and {other} must be different places"
    private = settings.warehouse.path.resolve()
    for name, path in places:
        if name in _FILES[1:] and path.parent == private.parent and path.name.startswith(f"{private.name}."):
            return f"{name} must not begin with the name of warehouse.path: vetl writes such files beside it"
    return _emptied(settings, places)


def _emptied(settings: "Settings", places: Sequence[tuple[str, Path]]) -> str | None:
    """Return the line about a path in the folder that a Spark build empties."""
    scratch = settings.spark.scratch.resolve()
    for name, path in places:
        if scratch in path.parents:
            return f"spark.scratch must not hold {name}: each build on Spark empties that folder"
    return None


def _places(settings: "Settings") -> Iterator[tuple[str, Path]]:
    """Yield the setting and the path of each file and folder that vetl replaces, removes or empties."""
    warehouse = settings.warehouse
    published = warehouse.published.resolve()
    yield "warehouse.path", warehouse.path
    yield "warehouse.published", published
    yield "webhooks.inbox", settings.webhooks.inbox
    yield "act.ledger", settings.act.ledger
    yield "watch.ledger", settings.watch.ledger
    yield "report.ledger", settings.report.ledger
    yield "dashboard.passwords", settings.dashboard.passwords
    yield "dashboard.audit", settings.dashboard.audit
    yield "act.stop_file", settings.act.stop_file
    yield "contacts.duckdb beside warehouse.published", published.with_name("contacts.duckdb")
    yield "the Parquet folder of warehouse.published", published.with_suffix(".parquet")
    for name, place in (("lake.path", settings.lake.path), ("lake.marts", settings.lake.marts)):
        if "://" not in place:
            yield name, Path(place)
    yield "spark.scratch", settings.spark.scratch
    if warehouse.temp_directory:
        yield "warehouse.temp_directory", warehouse.temp_directory
