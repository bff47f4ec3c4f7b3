"""Answer a question by metric from the published file alone.

A rate is the sum of its numerators by the sum of its denominators, never a mean of rates. Counts of people are
read from the marts that keep them, never added up. A median is computed from the rows.

Many metrics side by side come from one pass over each mart.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from vetl.core.errors import WarehouseError, WrongUse
from vetl.figures import comparisons
from vetl.figures.catalogue import Metric, metric_named, metrics_of
from vetl.figures.comparisons import Comparison, conditions, parsed, with_ids
from vetl.figures.evidence import TIME, Evidence, doubts_of, evidence_of, no_days, part_periods
from vetl.publishing.marts import table_of
from vetl.publishing.statements import Read, reading
from vetl.store.connection import among, literal, quoted

_PRACTICE = {
    "practice": "practice_id",
    "group": "(select any_value(of_practice.group_name) from marts.practices as of_practice"
    " where of_practice.practice_id = counted.practice_id)",
}
FRAME = {**_PRACTICE, **TIME}
"""The dimensions of every metric, as SQL over rows with a practice and a day."""


@dataclass(frozen=True, slots=True)
class MetricQuestion:
    """A metric, the dimensions to split it by, and the rows to count."""

    metric: str
    by: Sequence[str] = ()
    where: Sequence[str] = ()
    since: date | None = None
    until: date | None = None
    most: int | None = None
    """The most rows to return; all if there is none."""
    practices: Sequence[str] | None = None
    """The practices whose rows are counted; all if there is none."""


@dataclass(frozen=True, slots=True)
class MetricAnswer:
    """The values of a metric, one row for each combination of dimensions, and the evidence for them.

    The last columns of each row are the value (of a rate after its numerator and its denominator), `days`, the
    number of practice-local days that it covers, and `is_final`, whether all of them are final. `notes` are about
    the values, such as a week of which some days are missing; `doubts` say why they may still change.
    """

    metric: Metric
    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    evidence: list[Evidence]
    notes: tuple[str, ...]
    doubts: tuple[str, ...]


def ask(file: Path, question: MetricQuestion, practices: Collection[str] | None = None) -> MetricAnswer:
    """Answer a question from a published file, or from the rows of some of its practices.

    Raise `WrongUse` if the question names something unknown, or its answer would be a wrong kind of number.
    """
    with reading(file, practices) as read:
        return answered(read, metrics_of(read, file), question)


def answered(read: Read, metrics: Mapping[str, Metric], question: MetricQuestion) -> MetricAnswer:
    """Answer a question from an open published file with these metrics.

    Raise `WrongUse` if the question names something unknown, or its answer would be a wrong kind of number.
    """
    metric = metric_named(metrics, question.metric)
    parts = parts_of(metrics, metric)
    part = next(iter(parts.values()))
    dimensions = {**FRAME, **part.dimensions}
    for name in question.by:
        comparisons.refuse_unknown(name, dimensions, "--by")
    where = with_ids(read, parsed(question.where, tuple(dimensions)))
    refuse_wrong_kind(metric, parts, question.by, where)
    _refuse_days(metric, question, where)
    if metric.aggregation == "people":
        statement, columns = _people(metric, question, where)
    else:
        statement, columns = _counted(metric, parts, question, where, dimensions)
    without_rows = comparisons.refuse_unknown_values(read, part.mart, where, dimensions, part.lists)
    rows = read(statement if question.most is None else f"{statement} limit {question.most + 1}").rows
    about_days: list[str] = []
    if not any(row[-3] for row in rows):
        of_practices = " and ".join([conditions(where, _PRACTICE), *within(question)])
        about_days = no_days(read, _chosen(question, where, FRAME), of_practices)
        rows = [] if about_days else rows
    whole_weeks = [one for one in where if one.name != "weekday"]
    about_days += part_periods(read, question.by, _chosen(question, whole_weeks, FRAME), rows[: question.most])
    of_practices = conditions(where, {"practice": "practice_id", "group": "group_name"})
    evidence = evidence_of(read, metric.lists, " and ".join([of_practices, *within(question)]))
    cut_off = question.most is not None and len(rows) > question.most
    too_many = [f"only the first {question.most:,} rows are here: ask for less"] if cut_off else []
    rows = rows[: question.most]
    notes = (*about_days, *too_many, *without_rows)
    return MetricAnswer(metric, columns, rows, evidence, notes, (*_open(metric, rows), *doubts_of(read, evidence)))


def _open(metric: Metric, rows: Sequence[tuple[Any, ...]]) -> list[str]:
    """Return a line about the values that are not final, if there are any."""
    number = sum(not row[-1] for row in rows)
    of = f"{number:,} of {len(rows):,} rows are" if len(rows) > 1 else "the value is"
    return [f"{of} not final: {metric.maturity}"] if number else []


def dimensions_of(metrics: Mapping[str, Metric], metric: Metric) -> tuple[str, ...]:
    """Return the dimensions that a question about this metric may name."""
    if metric.aggregation == "people":
        return (*_PRACTICE, *metric.by)
    part = metrics[metric.numerator] if metric.numerator else metric
    return (*(_PRACTICE if metric.is_of_now else FRAME), *part.dimensions)


def parts_of(metrics: Mapping[str, Metric], metric: Metric) -> dict[str, Metric]:
    """Return the counts that are computed, by column: of a rate two, of the same mart."""
    if metric.aggregation != "ratio":
        return {"value": metric}
    parts = {
        "numerator": metric_named(metrics, metric.numerator or ""),
        "denominator": metric_named(metrics, metric.denominator or ""),
    }
    if len({part.mart for part in parts.values()}) > 1:
        raise WarehouseError(f"{metric.name}: its two counts are of different marts, so no rate can be taken")
    return parts


def refuse_wrong_kind(
    metric: Metric, parts: Mapping[str, Metric], by: Sequence[str], where: Sequence[Comparison]
) -> None:
    """Return if the answer would be a number of the right kind. Raise `WrongUse` if its values do not add up."""
    if metric.aggregation == "people":
        periods = [name for name in by if name in metric.by]
        if "practice" not in by or len(periods) != 1:
            ways = " or ".join(f"--by practice,{name}" for name in metric.by)
            raise WrongUse(
                f"{metric.name}: counts each person once, so days, weeks and practices do not add up; ask {ways}"
            )
        for name in (*by, *(one.name for one in where)):
            comparisons.refuse_unknown(name, (*_PRACTICE, *periods), metric.name)
    fixed = {one.name for one in where if one.operator == "="}
    for name in {name for part in parts.values() for name in part.needs}:
        if name not in by and name not in fixed:
            raise WrongUse(f"{metric.name}: a row counts at each {name}, so they do not add up; ask --by {name}")


def _refuse_days(metric: Metric, question: MetricQuestion, where: Sequence[Comparison]) -> None:
    """Return if the days of the question are days, and the metric has values of days.

    Raise `WrongUse` if the first day is after the last one, or the metric counts the present state.
    """
    since, until = question.since, question.until
    if since and until and since > until:
        raise WrongUse(f"the first day, {since}, is after the last one, {until}")
    days = [f"--by {name}" for name in question.by if name in TIME]
    days += [f"--where {one.name}" for one in where if one.name in TIME]
    days += [option for option, day in (("--since", since), ("--until", until)) if day]
    if metric.is_of_now and days:
        raise WrongUse(
            f"{metric.name}: counts the present state, so no earlier day, week or month has a value;"
            f" ask without {', '.join(days)}"
        )


def _counted(
    metric: Metric,
    parts: Mapping[str, Metric],
    question: MetricQuestion,
    where: Sequence[Comparison],
    dimensions: Mapping[str, str],
) -> tuple[str, tuple[str, ...]]:
    """Return the statement for a metric over rows, and its columns."""
    mart = next(iter(parts.values())).mart
    expressions = [f"({part.expression}) as part_{name}" for name, part in parts.items()]
    values = [f"{part.aggregation}(part_{name}) as {quoted(name)}" for name, part in parts.items()]
    if metric.aggregation == "ratio":
        values.append("numerator / nullif(denominator, 0) as value")
    frame = [name for name in question.by if name in FRAME]
    keys = [quoted(f"by {name}") for name in question.by]
    same = " and ".join(
        f"counts.{key} is not distinct from days.{key}" for key in (quoted(f"by {name}") for name in frame)
    )
    statement = (
        f"with counts as (select {_list(keys)}{', '.join(values)} from (select"
        f" {_list(_named(question.by, dimensions))}{', '.join(expressions)}"
        f" from {table_of(mart)} as counted where {_chosen(question, where, dimensions)})"
        f" group by all),"
        f" days as (select {_list(_named(frame, FRAME))}count(*) as days,"
        f" bool_and(is_final and {metric.is_mature}) as is_final"
        f" from meta.practice_days as counted where {_chosen(question, where, FRAME)} group by all)"
        f" select {_list(f'counts.{key} as {quoted(name)}' for key, name in zip(keys, question.by, strict=True))}"
        f"{', '.join(f'counts.{quoted(name)}' for name in _columns(metric))},"
        " coalesce(days.days, 0) as days, coalesce(days.is_final, false) as is_final"
        f" from counts left join days on {same or 'true'} order by all"
    )
    return statement, (*question.by, *_columns(metric), "days", "is_final")


def _people(metric: Metric, question: MetricQuestion, where: Sequence[Comparison]) -> tuple[str, tuple[str, ...]]:
    """Return the statement for a count of people, which is read from its mart, and its columns."""
    period = next(name for name in question.by if name in metric.by)
    expressions = {"practice": "practice_id", "group": "group_name", period: quoted(period)}
    length = {"day": 1, "week": 7}[period]
    chosen = [conditions(where, expressions), *within(question)]
    if question.since:
        chosen.append(f"{quoted(period)} >= date {literal(question.since.isoformat())}")
    if question.until:
        chosen.append(f"{quoted(period)} + {length - 1} <= date {literal(question.until.isoformat())}")
    keys = ", ".join(f"{expressions[name]} as {quoted(name)}" for name in question.by)
    statement = (
        f"select {keys}, {quoted(metric.name)} as value, {length} as days, is_final"
        f" from {table_of(metric.by[period])} where {' and '.join(chosen)} order by all"
    )
    return statement, (*question.by, "value", "days", "is_final")


def _columns(metric: Metric) -> tuple[str, ...]:
    return ("numerator", "denominator", "value") if metric.aggregation == "ratio" else ("value",)


def _named(names: Sequence[str], expressions: Mapping[str, str]) -> list[str]:
    return [f"{expressions[name]} as {quoted(f'by {name}')}" for name in names]


def _list(items: Any) -> str:  # noqa: ANN401 - any iterable of text
    """Return the items with a comma after each."""
    return "".join(f"{item}, " for item in items)


def within(question: MetricQuestion) -> list[str]:
    """Return the condition for the practices of a question; none if these are all."""
    return [] if question.practices is None else [among("practice_id", question.practices)]


def _chosen(question: MetricQuestion, where: Sequence[Comparison], expressions: Mapping[str, str]) -> str:
    chosen = [conditions(where, expressions), *within(question)]
    if question.since:
        chosen.append(f"day >= date {literal(question.since.isoformat())}")
    if question.until:
        chosen.append(f"day <= date {literal(question.until.isoformat())}")
    return " and ".join(chosen)


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
        chosen = " and ".join([conditions(where_of(read, question, dimensions), dimensions), *within(question)])
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


def where_of(read: Read, question: MetricQuestion, dimensions: Mapping[str, str]) -> list[Comparison]:
    """Return the comparisons of a question; its days are comparisons of the dimension `day`."""
    where = with_ids(read, parsed(question.where, tuple(dimensions)))
    ends = ((">=", question.since), ("<=", question.until))
    return [*where, *(Comparison("day", operator, day.isoformat()) for operator, day in ends if day)]


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
    """Describe a metric of a published file."""
    with reading(file, practices) as read:
        metrics = metrics_of(read, file)
        metric = metric_named(metrics, name)
        part = next(iter(parts_of(metrics, metric).values()))
        expressions = {**FRAME, **part.dimensions}
        named = {
            one: "" if one in _PERIODS else comparisons.values_of(read, part.mart, expressions[one])
            for one in dimensions_of(metrics, metric)
        }
        figures = read(
            "select table_name || '.' || column_name from meta.catalogue"
            f" where counted_as = {literal(name)} order by all"
        ).rows
        return Description(metric, named, tuple(figure for (figure,) in figures))


def refuse_unknown_practices(file: Path, practices: Collection[str]) -> None:
    """Raise `WrongUse` if a published file lacks one of these practices."""
    with reading(file) as read:
        known = [name for (name,) in read("select practice_id from marts.practices order by all").rows]
        for practice in practices:
            comparisons.refuse_unknown(practice, known, "--practice")
