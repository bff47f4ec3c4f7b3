"""Read how the columns of the marts are counted, from `meta.catalogue` of a published file.

A column names a metric of the semantic models (`counted_as`), or the rows of another mart and the condition by
which it counts them (`counting`). Both come from the yml files of the marts; no count is defined here.

Refuse a choice of rows of a mart that has no single value; each message names the option that mends it.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vetl.core.errors import WrongUse
from vetl.figures.ask import FRAME, parts_of
from vetl.figures.catalogue import Metric
from vetl.figures.comparisons import Comparison, frequent_values, unmatched, values_of
from vetl.publishing.marts import table_of
from vetl.publishing.statements import Read
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
        f" where table_name = {literal(mart)} and column_name is not null"
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
            *(name, description, unit, maturity, description, rows, aggregation, expression, additive),
            dimensions=dimensions,
            lists=lists,
            matures_after_days=days,
            relation=counting.get("from", ""),
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


_TIMES = ("day", "week", "month")
_MOST_CHOICES = 100
_MEASURE = "measure"
"""The column that names the measure of a row. Values of several measures are never one value."""


def none_chosen(read: Read, mart: str, where: Sequence[Comparison], dimensions: Mapping[str, str]) -> WrongUse:
    """Return the error if no row is chosen; it names each comparison that no row fulfils."""
    first_and_last = [_days_of(read, mart, one, dimensions) for one in where if one.name in _TIMES]
    others = [one for one in where if one.name not in _TIMES]
    reasons = [line for line in first_and_last if line] + unmatched(read, mart, others, dimensions)
    if not read(f"select 1 from {table_of(mart)} limit 1").rows:
        reasons = ["it has no rows yet"]
    chosen = ", ".join(f"{one.name}{one.operator}{one.value}" for one in where)
    return WrongUse(f"{mart}: {'; '.join(reasons) or f'no row has all of {chosen}'}")


class SeveralChosen(WrongUse):
    """Rows are chosen whose values do not add up. The message ends with the options of the command line.

    `reason` is the message without the options. `choices` has the values of each dimension in which the rows
    differ, but for practice and time.
    """

    def __init__(self, reason: str, options: str, choices: Mapping[str, Sequence[str]]) -> None:
        super().__init__(f"{reason}; choose one by {options}")
        self.reason = reason
        self.choices = choices


def several_chosen(
    read: Read, mart: str, column: str, chosen: str, dimensions: Mapping[str, str]
) -> SeveralChosen:
    """Return the error if the values of several chosen rows do not add up; it names how the rows differ."""
    ((rows,),) = read(f"select count(*) from {table_of(mart)} where {chosen}").rows
    reason = f"{mart}.{column}: {rows:,} rows are chosen, and its values do not add up"
    return _several(read, mart, reason, chosen, dict(_different(read, mart, chosen, dimensions)))


def refuse_mixed(read: Read, mart: str, column: str, chosen: str, dimensions: Mapping[str, str]) -> None:
    """Raise `SeveralChosen` if the chosen rows are of several measures."""
    measure = {name: expression for name, expression in dimensions.items() if name == _MEASURE}
    if different := dict(_different(read, mart, chosen, measure)):
        raise _several(read, mart, f"{mart}.{column}: several measures are chosen", chosen, different)


def _several(read: Read, mart: str, reason: str, chosen: str, different: Mapping[str, str]) -> SeveralChosen:
    """Return the error about rows that differ in these dimensions; of an only one it names the values."""
    options = ", ".join(
        "--practice" if name == "practice" else "--day" if name in _TIMES else f"--where {name}=VALUE"
        for name in different
    )
    if len(different) == 1 and different.keys().isdisjoint(_TIMES):
        [expression] = different.values()
        options += f"; {values_of(read, mart, expression, chosen)}"
    choices = {
        name: frequent_values(read, mart, expression, chosen, _MOST_CHOICES)
        for name, expression in different.items()
        if name not in ("practice", *_TIMES)
    }
    return SeveralChosen(reason, options, choices)


def _days_of(read: Read, mart: str, one: Comparison, dimensions: Mapping[str, str]) -> str | None:
    """Return the first and the last day of the mart if no row fulfils the comparison."""
    expression = dimensions[one.name]
    ((first, last, found),) = read(
        f"select min({expression}), max({expression}), count(*) filter (where {one.sql(expression)})"
        f" from {table_of(mart)}"
    ).rows
    return None if found else f"no row has {one.name}{one.operator}{one.value}; rows are from {first} to {last}"


def _different(read: Read, mart: str, chosen: str, dimensions: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the dimensions in which the chosen rows differ."""
    for name, expression in dimensions.items():
        values = f"select distinct {expression} from {table_of(mart)} where {chosen} limit 2"
        if len(read(values).rows) > 1:
            yield name, expression
