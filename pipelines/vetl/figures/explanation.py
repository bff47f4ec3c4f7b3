"""Explain a cell of a mart, or a metric: the rows that it counts, their evidence, and what may still change it.

The rows follow from the declarations in the published file (`figures/counting.py`); no count is defined here.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from vetl.core.errors import WrongUse
from vetl.core.published_file import schema_of
from vetl.figures.ask import FRAME, MetricQuestion, answered, dimensions_of, parts_of, where_of
from vetl.figures.catalogue import Metric, metrics_of, refuse_older
from vetl.figures.comparisons import Comparison, conditions, parsed, refuse_unknown, with_ids
from vetl.figures.counting import Counted, counted_columns, none_chosen, refuse_mixed, several_chosen
from vetl.figures.evidence import Evidence, doubts_of, evidence_of
from vetl.publishing.marts import table_of
from vetl.publishing.statements import QueryResult, Read, columns_of, reading
from vetl.store.connection import literal, quoted

_TIMES = ("DATE", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE")


@dataclass(frozen=True, slots=True)
class CellQuestion:
    """A column of a mart, and the rows of the mart whose value is asked for."""

    mart: str
    column: str
    practice: str | None = None
    day: date | None = None
    where: Sequence[str] = ()
    most: int | None = None
    """The most rows to return of each count; all if there is none."""


@dataclass(frozen=True, slots=True)
class Revision:
    """The count that a report 24 hours after the day's end could show, and the count now, of all its rows."""

    day: date
    reported: int | None
    now: int


@dataclass(frozen=True, slots=True)
class Explanation:
    """A cell and all that it rests on.

    `recounted` is the value that the `rows` give; it agrees with `value`, which the mart holds. Each row begins
    with the `count` that it is in: `value`, or the `numerator` or `denominator` of a rate.
    """

    mart: str
    column: str
    value: Any
    recounted: Any
    definition: str
    unit: str
    metric: Metric
    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    certificates: list[Evidence]
    revisions: list[Revision]
    is_final: bool
    may_change: tuple[str, ...]

    @property
    def agrees(self) -> bool:
        """Whether the rows give the value of the mart; a sum of numbers may differ in its last bits."""
        value, recounted = self.value, self.recounted
        if isinstance(value, float) and isinstance(recounted, float):
            return abs(value - recounted) <= 1e-9 * max(1.0, abs(value))
        return value == recounted


def explain(file: Path, question: CellQuestion, practices: Collection[str] | None = None) -> Explanation:
    """Explain a cell from a published file, or from the rows of some of its practices.

    Raise `WrongUse` if there is no such column, or the rows behind it are not declared.
    """
    with reading(file, practices) as read:
        refuse_older(read, file, "catalogue", "counting")
        marts = columns_of(read)
        refuse_unknown(question.mart, marts, "mart")
        refuse_unknown(question.column, marts[question.mart], "column")
        metrics = metrics_of(read, file)
        columns = counted_columns(read, question.mart, metrics, marts)
        if question.column not in columns.counted:
            raise WrongUse(_undeclared(question, list(columns.counted)))
        how = columns.counted[question.column]
        metric, parts = how.metric, how.parts
        # The metric of a mart's column may be split by a dimension that the mart names otherwise.
        named = {column: of for column, of in columns.metric_of.items() if of in how.dimensions}
        counted = {**how.dimensions, **{column: how.dimensions[of] for column, of in named.items()}}
        dimensions = _of_the_mart(marts[question.mart], named, (*counted, *how.ignored))
        where = with_ids(read, parsed(_where(question, dimensions), tuple(dimensions)))
        chosen = dict.fromkeys(parts, conditions(where, counted))
        recounted = _recounted(read, parts, chosen)
        value = _cell(read, question, how, columns.metric_of, where, dimensions, recounted)
        frame = conditions(where, FRAME)
        certificates = evidence_of(read, metric.lists, conditions(where, {"practice": "practice_id"}))
        is_final = _is_final(read, metric, frame)
        not_final = () if is_final else (f"not final: {metric.maturity}",)
        description, definition, unit = _described(read, question)
        return Explanation(
            question.mart,
            question.column,
            value,
            recounted,
            definition or description,
            unit,
            metric,
            *_rows_of(read, parts, chosen, question.most),
            certificates,
            _revisions(read, question, where),
            is_final,
            (*not_final, *doubts_of(read, certificates)),
        )


def rows_of_metric(file: Path, question: MetricQuestion) -> Explanation:
    """Return the value of a metric and the rows that it counts, at most `most` of each count.

    If the rows of its mart are counts themselves, these are the rows that they count, if these are declared and
    have the dimensions of the question.
    """
    with reading(file, question.practices) as read:
        metrics = metrics_of(read, file)
        answer = answered(read, metrics, replace(question, by=(), most=None))
        metric = answer.metric
        if metric.aggregation == "people":
            raise WrongUse(f"{metric.name}: counts each person once, and has no rows of its own")
        parts = _behind(read, metrics, metric, question)
        chosen = {
            name: conditions(where_of(read, question, {**FRAME, **part.dimensions}), {**FRAME, **part.dimensions})
            for name, part in parts.items()
        }
        value, is_final = (answer.rows[0][-3], answer.rows[0][-1]) if answer.rows else (None, False)
        recounted = _recounted(read, parts, chosen)
        if value is None and not recounted:
            recounted = None  # a sum of nothing is nothing, a count of nothing is 0
        return Explanation(
            metric.mart,
            metric.name,
            value,
            recounted,
            metric.definition,
            metric.unit,
            metric,
            *_rows_of(read, parts, chosen, question.most),
            answer.evidence,
            [],
            bool(is_final),
            (*answer.notes, *answer.doubts),
        )


def _behind(
    read: Read, metrics: Mapping[str, Metric], metric: Metric, question: MetricQuestion
) -> Mapping[str, Metric]:
    parts = parts_of(metrics, metric)
    columns = counted_columns(read, metric.mart or next(iter(parts.values())).mart, metrics, columns_of(read))
    named = {one.name for one in parsed(question.where, dimensions_of(metrics, metric))}
    found: dict[str, Metric] = {}
    for name, part in parts.items():
        how = columns.counted.get(part.expression)
        if how is None or "value" not in how.parts or not named <= how.dimensions.keys():
            return parts
        found[name] = how.parts["value"]
    return found


def explainable(file: Path, name: str | None = None) -> list[tuple[str, str]]:
    """Return the marts and columns that can be explained; with `name`, those of this metric or column."""
    named = "true" if name is None else f"{literal(name)} in (column_name, counted_as)"
    with reading(file) as read:
        refuse_older(read, file, "catalogue", "counting")
        rows = read(
            "select table_name, column_name from meta.catalogue"
            " where (counted_as in (select metric from meta.metrics) or counting is not null)"
            f" and {named} order by all"
        ).rows
    return [(mart, column) for mart, column in rows]


def _rows_of(
    read: Read, parts: Mapping[str, Metric], chosen: Mapping[str, str], most: int | None
) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    """Return the columns and the rows of counts, each row with the name of its count first."""
    found = {name: _rows_of_count(read, part, chosen[name], most) for name, part in parts.items()}
    columns = ("count", *next(iter(found.values())).columns)
    return columns, [(name, *row) for name, answer in found.items() for row in answer.rows]


def _rows_of_count(read: Read, metric: Metric, chosen: str, most: int | None) -> QueryResult:
    """Return the rows that a count is made of: their ids, times and dimensions, and the value of each."""
    kinds = read(
        "select column_name, data_type from duckdb_columns() where database_name = current_database() and"
        f" schema_name = {literal(schema_of(metric.mart))} and table_name = {literal(metric.mart)}"
        " order by column_index"
    ).rows
    plain = {expression for name, expression in metric.dimensions.items() if name == expression}
    names = [name for name, kind in kinds if name.endswith(("_id", "_key")) or kind in _TIMES or name in plain]
    # Of a median the rows around it are the middle ones; other rows come in the order of their times.
    first = ["counts"] if metric.aggregation == "median" else [name for name, kind in kinds if kind in _TIMES]
    order = ", ".join(quoted(name) for name in (*first, *names))
    return read(
        f"select {', '.join(quoted(name) for name in names)}, ({metric.expression}) as counts"
        f" from {metric.source} as counted where ({chosen}) and ({metric.expression}) is not null"
        f" order by {order}{'' if most is None else f' limit {most}'}"
    )


_UNDECLARED = "its rows are not declared (`counts` in the .yml of its mart; docs/marts.md shows how)"


def _undeclared(question: CellQuestion, declared: Sequence[str]) -> str:
    column = f"{question.mart}.{question.column}"
    if not declared:
        return f"{column}: {_UNDECLARED}; `vetl explain` lists the columns that it can explain"
    return f"{column}: {_UNDECLARED}; of {question.mart} these are: {', '.join(declared)}"


def _of_the_mart(columns: Collection[str], named: Mapping[str, str], counted: Collection[str]) -> dict[str, str]:
    """Return the dimensions that the mart and the counted rows share, as SQL over the mart.

    `named` has the dimension of each column of the mart whose name is another one.
    """
    names = {"practice": "practice_id", **{of: column for column, of in named.items()}}
    expressions = {name: names.get(name, name) for name in counted}
    return {name: quoted(column) for name, column in expressions.items() if column in columns}


def _where(question: CellQuestion, dimensions: Mapping[str, str]) -> list[str]:
    """Return the comparisons of a question. Its day chooses a week or a month in a mart of these."""
    where = list(question.where)
    if question.practice is not None:
        where.append(f"practice={question.practice}")
    if question.day is not None:
        starts = {
            "day": question.day,
            "week": question.day - timedelta(days=question.day.weekday()),
            "month": question.day.replace(day=1),
        }
        period = next((name for name in starts if name in dimensions), None)
        if period is None:
            known = ", ".join(name for name in dimensions if name != "practice")
            raise WrongUse(f"{question.mart}: has no days, so --day chooses nothing; --where takes {known}")
        where.append(f"{period}={starts[period]}")
    return where


def _cell(
    read: Read,
    question: CellQuestion,
    how: Counted,
    metric_of: Mapping[str, str],
    where: Sequence[Comparison],
    dimensions: Mapping[str, str],
    recounted: Any,  # noqa: ANN401 - as the value
) -> Any:  # noqa: ANN401 - the value of any column
    """Return the value of the mart: of one row as it is, of several rows counts added up and rates of the sums.

    A rate of several rows of a mart that does not hold both counts is that of the counted rows.

    Raise `WrongUse` if no row is chosen, or the values of several rows do not add up.
    """
    chosen = conditions(where, dimensions)
    column, source = quoted(question.column), f"{table_of(question.mart)} where {chosen}"
    values = read(f"select {column} from {source}").rows
    if not values:
        raise none_chosen(read, question.mart, where, dimensions)
    if len(values) == 1:
        return values[0][0]
    refuse_mixed(read, question.mart, question.column, chosen, dimensions)
    by_metric = {of: name for name, of in metric_of.items()}
    if how.metric.additive:
        return read(f"select cast(sum({column}) as bigint) from {source}").rows[0][0]
    if how.metric.aggregation == "ratio" and all(part.name in by_metric for part in how.parts.values()):
        top, bottom = (quoted(by_metric[part.name]) for part in how.parts.values())
        return read(f"select sum({top}) / nullif(sum({bottom}), 0) from {source}").rows[0][0]
    if how.metric.aggregation == "ratio":
        return recounted
    raise several_chosen(read, question.mart, question.column, chosen, dimensions)


def _recounted(read: Read, parts: Mapping[str, Metric], chosen: Mapping[str, str]) -> Any:  # noqa: ANN401 - as `_cell`
    """Return the value that the counted rows give; `chosen` is SQL for those of each count."""
    values = [
        read(f"select {part.total} from {part.source} as counted where {chosen[name]}").rows[0][0]
        for name, part in parts.items()
    ]
    if len(values) == 1:
        return values[0]
    return values[0] / values[1] if values[1] else None


def _is_final(read: Read, metric: Metric, chosen: str) -> bool:
    days = f"from meta.practice_days as counted where {chosen}"
    return bool(read(f"select bool_and(is_final and {metric.is_mature}) {days}").rows[0][0])


def _described(read: Read, question: CellQuestion) -> tuple[str, str | None, str]:
    ((description, definition, unit),) = read(
        "select description, definition, unit from meta.catalogue"
        f" where table_name = {literal(question.mart)} and column_name = {literal(question.column)}"
    ).rows
    return description, definition, unit


def _revisions(read: Read, question: CellQuestion, where: Sequence[Comparison]) -> list[Revision]:
    """Return the revisions of a day's count; they are kept for whole days of a practice."""
    if {one.name for one in where} != {"practice", "day"}:
        return []
    rows = read(
        f"select day, reported, now from meta.report_revisions where mart = {literal(question.mart)}"
        f" and measure = {literal(question.column)}"
        f" and {conditions(where, {'practice': 'practice_id', 'day': 'day'})} order by day"
    ).rows
    return [Revision(*row) for row in rows]
