"""The values of a metric by practice over closed periods, and the unusual ones among them.

A day is closed if it is over at the practice, each list behind the metric is certified through its end, and the
value changes no more by itself. A closed week has seven closed days. A count without rows is 0, as on the day on
which a telephone line is dead.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from math import sqrt
from pathlib import Path
from statistics import median
from typing import Literal

from pipelines.loading.connection import literal
from pipelines.loading.published.figures.ask import MetricQuestion, ask
from pipelines.loading.published.figures.catalogue import Metric, columns_of
from pipelines.loading.published.query import query, reading

Step = Literal["day", "week"]

LOOKED_BACK = 8
"""The periods that a value is compared with: the same weekday of the eight weeks before, or the eight weeks."""

FEWEST = 6
"""With fewer earlier periods nothing is known to be unusual."""

FAR = 4.0
"""A value is unusual if it is so many standard errors away from the median of the periods before."""

NEVER_NONE = 9.0
"""If so many are usual, none at all is unusual, however much values differ: by chance once in 8,000 periods."""

_SPREAD = 1.4826
"""The standard deviation of normal values by their median absolute deviation."""

_COUNTS = frozenset({"count", "sum", "people"})
"""Aggregations whose value is 0 without rows."""

_INBOUND = ("direction=inbound",)
_IN_THE_MART: dict[tuple[str, tuple[str, ...]], str] = {
    ("calls", _INBOUND): "inbound_calls",
    ("new_booking_intent_calls", ()): "new_booking_intent_calls",
    ("sessions", ()): "sessions",
    ("outreach_requests", ()): "outreach_requests",
    ("tasks_created", ()): "tasks_created",
    ("new_booking_conversion_rate", ()): "new_booking_rate",
    ("completion_rate", ()): "completion_rate",
}
"""The measures of `marts.anomalies_daily`, by metric and the rows that it counts."""

_COUNTED = frozenset(_IN_THE_MART.values()) - {"new_booking_rate", "completion_rate"}
"""Those of them that are counts."""

_MATURE = {
    "demand_ledger": "is_final",
    "outreach_requests": "is_seven_days_old",
    "staff_tasks": "is_seven_days_old",
    "staff_task_turnaround_daily": "is_seven_days_old",
}
"""When the values of a mart change no more by themselves; those of other marts once the day is over."""

_MATURE_METRICS = {"booked_within_7_days": "is_seven_days_old", "recovered_within_7_days": "is_seven_days_old"}


@dataclass(frozen=True, slots=True)
class PeriodValue:
    """The value of one closed period. `cases` is the denominator of a rate; `value` is `None` without any."""

    start: date
    value: float | None
    cases: int | None = None


@dataclass(frozen=True, slots=True)
class Baseline:
    """The median of the periods before, and the lowest and the highest usual value."""

    usual: float
    low: float
    high: float

    def holds(self, value: float) -> bool:
        """Return whether a value is usual."""
        return self.low <= value <= self.high


@dataclass(frozen=True, slots=True)
class Series:
    """A metric of each practice over its closed periods, in their order.

    `baselines` are those of `marts.anomalies_daily` by practice and day, `None` for a day that the mart does not
    judge, such as a holiday; without them `baseline` computes them.
    """

    metric: Metric
    by: Step
    practices: Mapping[str, Sequence[PeriodValue]]
    baselines: Mapping[tuple[str, date], Baseline | None] | None = None

    def baseline_of(self, practice: str, at: int) -> Baseline | None:
        """Return the usual values of a period, by its index; `None` if too little is known."""
        values = self.practices[practice]
        if self.baselines is not None:
            return self.baselines.get((practice, values[at].start))
        return baseline(values, at, is_count=self.metric.aggregation in _COUNTS)


def series(file: Path, metric: str, by: Step, where: Sequence[str] = (), practices: Sequence[str] = ()) -> Series:
    """Return the values of a metric by practice and closed period; no `practices` are all.

    Raises:
        WrongUse: the question names something unknown, or its answer would be a wrong kind of number.
        WarehouseBusy: another process holds the file.
        WarehouseError: the file is missing or is no warehouse, or an older vetl published it.
    """
    answer = ask(file, MetricQuestion(metric, ("practice", by), where))
    values = {row[:2]: row for row in answer.rows}
    is_rate = answer.metric.aggregation == "ratio"
    is_count = answer.metric.aggregation in _COUNTS
    of: dict[str, list[PeriodValue]] = {}
    for practice, start in _closed(file, answer.metric, by):
        if practices and practice not in practices:
            continue
        row = values.get((practice, start))
        value = row[-3] if row else None
        if value is None and is_count:
            value = 0
        cases = (row[-4] if row else 0) if is_rate else None
        of.setdefault(practice, []).append(PeriodValue(start, value, cases))
    return Series(answer.metric, by, of, _of_the_mart(file, metric, by, where))


def baseline(values: Sequence[PeriodValue], at: int, *, is_count: bool) -> Baseline | None:
    """Return the usual values before the value with this index; `None` if too few are known.

    The scale is the spread of the earlier values, but at least that of chance: Poisson's of a count, the
    binomial one of a share.
    """
    now = values[at]
    known = {value.start: value for value in values[:at] if value.value is not None}
    starts = [now.start - timedelta(weeks=weeks) for weeks in range(1, LOOKED_BACK + 1)]
    before = [known[start] for start in starts if start in known]
    if len(before) < FEWEST:
        return None
    earlier = [float(value.value) for value in before if value.value is not None]
    usual = median(earlier)
    spread = _SPREAD * median(abs(value - usual) for value in earlier)
    if now.cases is not None:
        share = min(max(usual, 0.5 / max(now.cases, 1)), 1 - 0.5 / max(now.cases, 1))
        chance = sqrt(share * (1 - share) / now.cases) if now.cases else 1.0
    elif is_count:
        chance = sqrt(max(usual, 1.0))
    else:
        chance = 0.1 * abs(usual)
    reach = FAR * max(spread, chance)
    return Baseline(usual, _never_none(usual, usual - reach, is_count=is_count), usual + reach)


def _never_none(usual: float, low: float, *, is_count: bool) -> float:
    """Return the lowest usual value: a line that is dead for a week makes its own days ever more usual."""
    return max(low, 0.5) if is_count and usual >= NEVER_NONE else low


def _of_the_mart(
    file: Path, metric: str, by: Step, where: Sequence[str]
) -> dict[tuple[str, date], Baseline | None] | None:
    """Return the baselines of the mart, if it judges these days; an older file has no such mart."""
    measure = _IN_THE_MART.get((metric, tuple(where)))
    with reading(file) as read:
        if by != "day" or measure is None or "anomalies_daily" not in columns_of(read):
            return None
        rows = read(
            "select practice_id, day, expected, low, high, verdict in ('low', 'high', 'ordinary')"
            f" from marts.anomalies_daily where measure = {literal(measure)}"
        ).rows
    return {
        (practice, day): Baseline(expected, _never_none(expected, low, is_count=measure in _COUNTED), high)
        if is_judged
        else None
        for practice, day, expected, low, high, is_judged in rows
    }


def _closed(file: Path, metric: Metric, by: Step) -> list[tuple[str, date]]:
    lists = ", ".join(literal(name) for name in metric.lists)
    mature = _MATURE_METRICS.get(metric.name) or _MATURE.get(metric.mart, "is_over")
    statement = (
        "with certified as (select practice_id, min(coalesce(certified_through, '-infinity'::timestamptz))"
        f" as through from marts.proof where endpoint in ({lists}) group by practice_id)"
        f" select practice_id, {by} as start from marts.practice_days join certified using (practice_id)"
        f" group by all having count(*) = {7 if by == 'week' else 1}"
        f" and bool_and(is_over and {mature} and ends_at <= through) order by all"
    )
    return [(practice, start) for practice, start in query(file, statement).rows]
