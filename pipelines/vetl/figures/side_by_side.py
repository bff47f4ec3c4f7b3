"""Return many metrics side by side, from one pass over each mart, and the rows that a metric counts."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from vetl.core.errors import WrongUse
from vetl.figures.ask import FRAME, MetricQuestion, answered, dimensions_of, parts_of, refuse_wrong_kind, within
from vetl.figures.catalogue import Metric, metrics_of
from vetl.figures.comparisons import Comparison, conditions, parsed, with_ids
from vetl.figures.counting import counted_columns
from vetl.figures.explanation import Explanation, metric_rows, value_of_rows, with_their_count
from vetl.publishing.marts import table_of
from vetl.publishing.statements import Read, columns_of, reading
from vetl.store.connection import quoted

Values = dict[str, float | None]
"""The value of each metric."""


def side_by_side(
    read: Read, metrics: Mapping[str, Metric], names: Sequence[str], question: MetricQuestion
) -> dict[Any, Values]:
    """Return the values of the metrics by the only dimension of the question; by `None` without one.

    The metric of the question is not read. A metric that cannot be asked so has no value: one of people, of which
    days do not add up, one without a dimension of the question, and one of now if the question has days.
    """
    asked = {name: parts_of(metrics, metrics[name]) for name in names if _fits(metrics, metrics[name], question)}
    by_mart: dict[tuple[str, bool], dict[str, Metric]] = {}
    for parts in asked.values():
        for part in parts.values():
            by_mart.setdefault((part.mart, part.is_of_now), {})[part.name] = part
    counts: dict[Any, Values] = {}
    for (mart, _), parts in by_mart.items():
        of_mart = next(iter(parts.values()))
        dimensions = {**FRAME, **of_mart.dimensions}
        keys = [f"{dimensions[name]} as {quoted(name)}" for name in question.by]
        inner = ", ".join([*keys, *(f"({one.expression}) as {quoted(one.name)}" for one in parts.values())])
        outer = ", ".join(
            [*map(quoted, question.by), *(f"{one.aggregation}({quoted(one.name)})" for one in parts.values())]
        )
        chosen = " and ".join([conditions(_where(read, question, dimensions), dimensions), *within(question)])
        rows = read(f"select {outer} from (select {inner} from {table_of(mart)} as counted where {chosen})"
                    f" group by all order by all").rows  # fmt: skip
        for row in rows:
            key, values = (row[0], row[1:]) if question.by else (None, row)
            counts.setdefault(key, {}).update(zip(parts, values, strict=True))
    return {key: {name: _value(parts, of) for name, parts in asked.items()} for key, of in counts.items()}


def _fits(metrics: Mapping[str, Metric], metric: Metric, question: MetricQuestion) -> bool:
    if metric.aggregation == "people" or (metric.is_of_now and (question.since or question.by)):
        return False
    try:
        where = parsed(question.where, dimensions_of(metrics, metric))
        refuse_wrong_kind(metric, parts_of(metrics, metric), question.by, where)
    except WrongUse:
        return False
    return set(question.by) <= {*dimensions_of(metrics, metric)}


def _value(parts: Mapping[str, Metric], counts: Values) -> float | None:
    values = [counts.get(part.name) for part in parts.values()]
    if len(values) == 1:
        return values[0]
    return (values[0] or 0) / values[1] if values[1] else None


def _where(read: Read, question: MetricQuestion, dimensions: Mapping[str, str]) -> list[Comparison]:
    """Return the comparisons of a question; its days are comparisons of the dimension `day`."""
    where = with_ids(read, parsed(question.where, tuple(dimensions)))
    ends = ((">=", question.since), ("<=", question.until))
    return [*where, *(Comparison("day", operator, day.isoformat()) for operator, day in ends if day)]


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
            name: conditions(_where(read, question, {**FRAME, **part.dimensions}), {**FRAME, **part.dimensions})
            for name, part in parts.items()
        }
        rows_of = [(name, metric_rows(read, part, chosen[name], question.most)) for name, part in parts.items()]
        value, is_final = (answer.rows[0][-3], answer.rows[0][-1]) if answer.rows else (None, False)
        totals = [value_of_rows(read, part, chosen[name]) for name, part in parts.items()]
        recounted = totals[0] if len(totals) == 1 else totals[0] / totals[1] if totals[1] else None
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
            *with_their_count(rows_of),
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
