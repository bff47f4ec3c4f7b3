"""The values of a metric by practice over closed periods.

A day is closed if it is over at the practice, each list behind the metric is certified through its end, and the
value changes no more by itself. A closed week has seven closed days. A count without rows is 0, as on the day on
which a telephone line is dead.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Literal

from vetl.figures.ask import MetricQuestion, answered
from vetl.figures.catalogue import Metric, metrics_of
from vetl.publishing.statements import Read, columns_of
from vetl.store.connection import among

Step = Literal["day", "week"]

_COUNTS = frozenset({"count", "sum", "people"})
"""Aggregations whose value is 0 without rows."""


@dataclass(frozen=True, slots=True)
class PeriodValue:
    """The value of one closed period. `cases` is the denominator of a rate; `value` is `None` without any."""

    start: date
    value: float | None
    cases: int | None = None


@dataclass(frozen=True, slots=True)
class Series:
    """A metric of each practice over its closed periods, in their order; `holidays` by practice and day."""

    metric: Metric
    by: Step
    practices: Mapping[str, Sequence[PeriodValue]]
    holidays: frozenset[tuple[str, date]] = frozenset()

    def is_holiday(self, practice: str, at: int) -> bool:
        """Return whether a period is a holiday of the practice, by its index. A week is none."""
        return self.by == "day" and (practice, self.practices[practice][at].start) in self.holidays


def series(
    read: Read, file: Path, metric: str, by: Step, where: Sequence[str] = (), practices: Sequence[str] = ()
) -> Series:
    """Return the values of a metric by practice and closed period, from the open file; no `practices` are all."""
    answer = answered(read, metrics_of(read, file), MetricQuestion(metric, ("practice", by), where))
    closed, holidays = _closed(read, answer.metric, by), _holidays(read)
    values = {row[:2]: row for row in answer.rows}
    is_rate = answer.metric.aggregation == "ratio"
    is_count = answer.metric.aggregation in _COUNTS
    of: dict[str, list[PeriodValue]] = {}
    for practice, start in closed:
        if practices and practice not in practices:
            continue
        row = values.get((practice, start))
        value = row[-3] if row else None
        if value is None and is_count:
            value = 0
        cases = (row[-4] if row else 0) if is_rate else None
        of.setdefault(practice, []).append(PeriodValue(start, value, cases))
    return Series(answer.metric, by, of, holidays)


def _holidays(read: Read) -> frozenset[tuple[str, date]]:
    """Return the holidays of `[definitions]` by practice and day; an older file does not have them."""
    if "is_holiday" not in columns_of(read).get("practice_days", ()):
        return frozenset()
    rows = read("select practice_id, day from meta.practice_days where is_holiday").rows
    return frozenset((practice, day) for practice, day in rows)


def _closed(read: Read, metric: Metric, by: Step) -> list[tuple[str, date]]:
    statement = (
        "with certified as (select practice_id, min(coalesce(certified_through, '-infinity'::timestamptz))"
        f" as through from meta.proof where {among('endpoint', metric.lists)} group by practice_id)"
        f" select practice_id, {by} as start"
        " from meta.practice_days as counted join certified using (practice_id)"
        f" group by all having count(*) = {7 if by == 'week' else 1}"
        f" and bool_and(is_over and {metric.is_mature} and ends_at <= through) order by all"
    )
    return [(practice, start) for practice, start in read(statement).rows]
