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
from types import MappingProxyType
from typing import Literal

from vetl.figures.ask import MetricQuestion, answered
from vetl.figures.catalogue import Metric, metrics_of
from vetl.publishing.statements import Read, columns_of, reading
from vetl.store.connection import literal

Step = Literal["day", "week"]

LOOKED_BACK = 8
"""The examples that a value is compared with: the same weekday of eight weeks before, or eight weeks."""

FARTHEST_BACK = 16
"""Episodes and holidays are no examples: earlier periods replace them, so many weeks back at most."""

FEWEST = 6
"""With fewer examples nothing is known to be unusual."""

FAR = 4.0
"""A value is unusual if it is so many standard errors away from the median of the periods before."""

NEVER_NONE = 9.0
"""If so many are usual, none at all is unusual, however much values differ: by chance once in 8,000 periods."""

_SPREAD = 1.4826
"""The standard deviation of normal values by their median absolute deviation."""

_COUNTS = frozenset({"count", "sum", "people"})
"""Aggregations whose value is 0 without rows."""


@dataclass(frozen=True, slots=True)
class PeriodValue:
    """The value of one closed period. `cases` is the denominator of a rate; `value` is `None` without any."""

    start: date
    value: float | None
    cases: int | None = None


@dataclass(frozen=True, slots=True)
class Baseline:
    """The median of the examples, and the lowest and the highest usual value."""

    usual: float
    low: float
    high: float

    def holds(self, value: float) -> bool:
        """Return whether a value is usual."""
        return self.low <= value <= self.high

    def is_close(self, value: float) -> bool:
        """Return whether a value is in the inner half of the usual ones, so that an episode is over."""
        end = self.high if value > self.usual else self.low
        return abs(value - self.usual) <= abs(end - self.usual) / 2


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

    def baseline_of(
        self, practice: str, at: int, unlike: Mapping[date, date] = MappingProxyType({})
    ) -> Baseline | None:
        """Return the usual values of a period, by its index; `None` if too little is known.

        `unlike` are the periods that are no examples, each with the day from which it is one.
        """
        return baseline(self.practices[practice], at, unlike, is_count=self.metric.aggregation in _COUNTS)


def series(file: Path, metric: str, by: Step, where: Sequence[str] = (), practices: Sequence[str] = ()) -> Series:
    """Return the values of a metric by practice and closed period; no `practices` are all.

    Raises:
        WrongUse: the question names something unknown, or its answer would be a wrong kind of number.
    """
    with reading(file) as read:  # once: with another file in between, a closed week would have no rows yet
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


def baseline(
    values: Sequence[PeriodValue], at: int, unlike: Mapping[date, date], *, is_count: bool
) -> Baseline | None:
    """Return the usual values before the value with this index; `None` if too few examples are known.

    The scale is the spread of the examples, but at least that of chance: Poisson's of a count, the binomial one of
    a share.
    """
    now = values[at]
    earlier = _examples(values[:at], now.start, unlike)
    if len(earlier) < FEWEST:
        return None
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
    low = max(usual - reach, 0.5) if is_count and usual >= NEVER_NONE else usual - reach
    above = FAR**2 / 4 if is_count else 0.0  # a small count is far above its mean more often than far below
    return Baseline(usual, low, usual + reach + above)


def _examples(values: Sequence[PeriodValue], start: date, unlike: Mapping[date, date]) -> list[float]:
    """Return the newest values of whole weeks before, without those that are no examples."""
    known = {value.start: float(value.value) for value in values if value.value is not None}
    starts = [start - timedelta(weeks=weeks) for weeks in range(1, FARTHEST_BACK + 1)]
    examples = [known[one] for one in starts if one in known and unlike.get(one, start) <= start]
    return examples[:LOOKED_BACK]


def _holidays(read: Read) -> frozenset[tuple[str, date]]:
    """Return the holidays of `[definitions]` by practice and day; an older file does not have them."""
    if "is_holiday" not in columns_of(read).get("practice_days", ()):
        return frozenset()
    rows = read("select practice_id, day from meta.practice_days where is_holiday").rows
    return frozenset((practice, day) for practice, day in rows)


def _closed(read: Read, metric: Metric, by: Step) -> list[tuple[str, date]]:
    lists = ", ".join(literal(name) for name in metric.lists)
    statement = (
        "with certified as (select practice_id, min(coalesce(certified_through, '-infinity'::timestamptz))"
        f" as through from meta.proof where endpoint in ({lists}) group by practice_id)"
        f" select practice_id, {by} as start"
        " from meta.practice_days as counted join certified using (practice_id)"
        f" group by all having count(*) = {7 if by == 'week' else 1}"
        f" and bool_and(is_over and {metric.is_mature} and ends_at <= through) order by all"
    )
    return [(practice, start) for practice, start in read(statement).rows]
