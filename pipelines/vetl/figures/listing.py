"""List the metrics of a published file, and describe one of them."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from vetl.figures.ask import FRAME, dimensions_of, parts_of
from vetl.figures.catalogue import Metric, metric_named, metrics_of
from vetl.figures.comparisons import refuse_unknown, values_of
from vetl.publishing.query import reading
from vetl.store.connection import literal

_PERIODS = ("day", "week", "month", "weekday")


@dataclass(frozen=True, slots=True)
class Description:
    """A metric, its dimensions with their frequent values in words, and the columns of marts that show it."""

    metric: Metric
    dimensions: Mapping[str, str]
    figures: tuple[str, ...]


def list_of(file: Path, practices: Collection[str] | None = None) -> dict[str, Metric]:
    """Return the metrics of a published file, by name."""
    with reading(file, practices) as read:
        return metrics_of(read, file)


def describe(file: Path, name: str, practices: Collection[str] | None = None) -> Description:
    """Describe a metric of a published file.

    Raises:
        WrongUse: there is none of this name.
    """
    with reading(file, practices) as read:
        metrics = metrics_of(read, file)
        metric = metric_named(metrics, name)
        part = next(iter(parts_of(metrics, metric).values()))
        expressions = {**FRAME, **part.dimensions}
        named = {
            one: "" if one in _PERIODS else values_of(read, part.mart, expressions[one])
            for one in dimensions_of(metrics, metric)
        }
        figures = read(
            "select table_name || '.' || column_name from meta.catalogue"
            f" where counted_as = {literal(name)} order by all"
        ).rows
        return Description(metric, named, tuple(figure for (figure,) in figures))


def refuse_unknown_practices(file: Path, practices: Collection[str]) -> None:
    """Return if a published file has each of these practices.

    Raises:
        WrongUse: it has not.
    """
    with reading(file) as read:
        known = [name for (name,) in read("select practice_id from marts.practices order by all").rows]
        for practice in practices:
            refuse_unknown(practice, known, "--practice")
