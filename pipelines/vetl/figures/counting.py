"""Read how the columns of the marts are counted, from `meta.catalogue` of a published file.

A column names a metric of the semantic models (`counted_as`), or the rows of another mart and the condition by
which it counts them (`counting`). Both come from the yml files of the marts; no count is defined here.
"""

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from vetl.figures.ask import FRAME, parts_of
from vetl.figures.catalogue import Metric
from vetl.publishing.query import Read
from vetl.store.connection import literal


@dataclass(frozen=True, slots=True)
class Counted:
    """How a column is counted: its counts (of a rate two), and the dimensions of its mart that do not split it."""

    metric: Metric
    parts: Mapping[str, Metric]
    ignored: tuple[str, ...] = ()

    @property
    def dimensions(self) -> dict[str, str]:
        """The dimensions of the counted rows, as SQL over them."""
        return {**FRAME, **next(iter(self.parts.values())).dimensions}


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a mart: the metric that each holds, and how each is counted."""

    metric_of: Mapping[str, str]
    counted: Mapping[str, Counted]


def counted_columns(
    read: Read, mart: str, metrics: Mapping[str, Metric], marts: Mapping[str, Collection[str]]
) -> Columns:
    """Return how the columns of a mart are counted; `marts` has the columns of every mart."""
    rows = read(
        "select column_name, description, unit, counted_as, counting from meta.catalogue"
        f" where table_name = {literal(mart)} and column_name is not null",
    ).rows
    metric_of = {name: counted_as for name, _, _, counted_as, _ in rows if counted_as}
    names = [name for name, _, _, counted_as, counting in rows if counted_as not in metrics and not counting]
    counted: dict[str, Counted] = {}
    for name, description, unit, counted_as, counting in rows:
        if counted_as in metrics:
            metric = metrics[counted_as]
            counted[name] = Counted(metric, parts_of(metrics, metric))
        elif counting:
            declared = json.loads(counting)
            plain = [one for one in names if one in marts.get(declared["rows"], ())]
            counted[name] = _counted(f"{mart}.{name}", description, unit, declared, plain, metrics)
    return Columns(metric_of, counted)


def _counted(
    name: str,
    description: str,
    unit: str,
    counting: Mapping[str, Any],
    columns: Iterable[str],
    metrics: Mapping[str, Metric],
) -> Counted:
    rows, by = counting["rows"], counting.get("by", {})
    plain = {column: column for column in columns if column not in FRAME and column != "practice_id"}
    expressions = {**plain, **by}
    dimensions = {column: sql for column, sql in expressions.items() if sql is not None}
    lists = counting.get("lists") or next((one.lists for one in metrics.values() if one.mart == rows), ())
    days = counting.get("matures_after_days") or 0
    maturity = next(
        one.maturity for one in metrics.values() if one.matures_after_days == days and not one.is_of_now
    )

    def metric(aggregation: str, expression: str, *, additive: bool = False) -> Metric:
        return Metric(
            name,
            description,
            unit,
            None,
            additive,
            maturity,
            description,
            rows,
            aggregation,
            expression,
            dimensions,
            None,
            None,
            {},
            (),
            tuple(lists),
            days,
            counting.get("from", ""),
        )

    ignored = tuple(column for column, sql in by.items() if sql is None)
    if "numerator" in counting:
        parts = {part: metric(*_counted_by(counting[part])) for part in ("numerator", "denominator")}
        return Counted(metric("ratio", ""), parts, ignored)
    aggregation, value = _counted_by(counting)
    one = metric(aggregation, value, additive=aggregation in {"count", "sum"})
    return Counted(one, {"value": one}, ignored)


def _counted_by(counting: str | Mapping[str, Any]) -> tuple[str, str]:
    """Return the aggregation of a declaration, which can be a condition alone, and SQL for its value."""
    declared = {"if": counting} if isinstance(counting, str) else counting
    aggregation = next((one for one in ("distinct", "sum", "median") if one in declared), "count")
    return aggregation, f"case when {declared.get('if', 'true')} then {declared.get(aggregation, '1')} end"
