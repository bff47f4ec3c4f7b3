"""The scorecard of practices: shares beside those of the other practices, and what an outlier is made of."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import polars as pl
from vetl.core.significance import (
    Counts,
    Ends,
    Outlier,
    distance,
    is_far,
    largest_part,
    outliers as outliers_of,
    share_interval,
)

from board.figures import Figure
from board.scope import IN_PERIOD, closed
from board.view import View
from board.words import plain


@dataclass(frozen=True, slots=True)
class Measure:
    """A share by practice, and its definition.

    `metric` is the rate that it is, of the rows `where`; without a metric it divides the columns `key` and
    `<key>_of` of `CALLERS`. `causes` counts the cases of each practice that did not go well by what happened to
    them; there are none of callers, who may call twice.
    """

    key: str
    label: str
    defined_by: tuple[str, str]
    causes: str | None = None
    window: str | None = None
    metric: str | None = None
    where: tuple[str, ...] = ()


# Callers of a day are people, whom no metric adds up over days: these figures are of callers a day.
CALLERS = f"""
    select practice_id, sum(new_booking_callers)::bigint as callers_of,
           sum(booked_within_7_days)::bigint as callers,
           sum(missed_callers)::bigint as won_back_of, sum(recovered_within_7_days)::bigint as won_back
    from marts.practice_daily where {IN_PERIOD} and {closed("caller")} group by practice_id
"""
MEASURES = (
    Measure(
        "callers",
        "Callers booked",
        ("practice_daily", "booked_within_7_days"),
        window="caller",
    ),
    Measure(
        "won_back",
        "Missed, won back",
        ("practice_daily", "recovered_within_7_days"),
        window="caller",
    ),
    Measure(
        "answered",
        "Calls answered",
        ("booking_intent_daily", "answered_calls"),
        f"""select practice_id, state as cause, count(*) as cases from marts.phone_calls
            where {IN_PERIOD} and direction = 'inbound' and not is_answered group by all""",
        metric="answered_rate",
        where=("direction=inbound",),
    ),
    Measure(
        "online",
        "Online, completed",
        ("booking_funnel_daily", "completion_rate"),
        f"""select practice_id, stage as cause, count(*) as cases from marts.booking_sessions
            where {IN_PERIOD} and status <> 'completed' group by all""",
        metric="completion_rate",
    ),
    Measure(
        "outreach",
        "Outreach, booked",
        ("outreach_outcomes_daily", "booked_rate"),
        f"""select practice_id, coalesce(outcome, status) as cause, count(*) as cases from marts.outreach_requests
            where {IN_PERIOD} and {closed("outreach")} and is_contacted and outcome is distinct from 'booked'
            group by all""",
        "outreach",
        metric="outreach_booked_rate",
    ),
)
BY_KEY = {measure.key: measure for measure in MEASURES}


@dataclass(frozen=True, slots=True)
class Score:
    """One practice in one measure: now, and before (without it, the practice is new).

    `outlier` is its difference from the other practices, if that is more than chance.
    """

    practice_id: str
    name: str
    measure: Measure
    now: Counts
    before: Counts
    outlier: Outlier | None

    @property
    def share(self) -> float | None:
        """The share of cases that went well."""
        return self.now[0] / self.now[1] if self.now[1] else None

    @property
    def change(self) -> float | None:
        """The share minus that of the period before."""
        return None if self.share is None or not self.before[1] else self.share - self.before[0] / self.before[1]


def scores(view: View) -> list[Score]:
    """Return each practice in each measure, practices in the order of their names."""
    now, before = (_sums(view, is_before) for is_before in (False, True))
    lasting = {practice.id for practice in view.scope.lasting}
    found: list[Score] = []
    for measure in MEASURES:
        own = {practice.id: now.get(practice.id, {}).get(measure.key, (0, 0)) for practice in view.scope.practices}
        far = {one.name: one for one in outliers_of(own)}
        for practice in view.scope.practices:
            key = practice.id
            earlier = before.get(key, {}).get(measure.key, (0, 0)) if key in lasting else (0, 0)
            found.append(Score(key, practice.name, measure, own[key], earlier, far.get(key)))
    return found


def _sums(view: View, is_before: bool) -> dict[str, dict[str, Counts]]:  # noqa: FBT001 - one of two periods
    rows = view.ask(CALLERS, before=is_before).iter_rows(named=True)
    sums: dict[str, dict[str, Counts]] = {
        row["practice_id"]: {key: (row[key] or 0, row[f"{key}_of"] or 0) for key in ("callers", "won_back")}
        for row in rows
    }
    for measure in MEASURES:
        if measure.metric:
            rates = view.rates(measure.metric, measure.where, measure.window, before=is_before)
            for practice, pair in rates.items():
                sums.setdefault(practice, {})[measure.key] = pair
    return sums


def _added(pairs: Iterable[Counts]) -> Counts:
    every = list(pairs)
    return sum(some for some, _ in every), sum(whole for _, whole in every)


def figure(view: View, found: Sequence[Score], key: str, of: str) -> Figure:
    """Return a measure of all practices together as a figure, compared over the practices that last."""
    measure, lasting = BY_KEY[key], {practice.id for practice in view.scope.lasting}
    here = [score for score in found if score.measure.key == key]
    part, whole = _added(score.now for score in here)
    return Figure(
        measure.label,
        measure.defined_by,
        part,
        whole,
        now=_added(score.now for score in here if score.practice_id in lasting),
        before=_added(score.before for score in here),
        of=of,
        window=measure.window,
    )


def matrix(found: Sequence[Score]) -> pl.DataFrame:
    """Return one row for each practice: its shares, and in which of them it stands out."""
    rows: dict[str, dict[str, object]] = {}
    for score in found:
        row = rows.setdefault(score.practice_id, {"practice": score.name, "stands_out": ""})
        row[f"{score.measure.key}_share"] = score.share
        if score.outlier:
            text = f"{score.measure.label} {'above' if score.outlier.difference > 0 else 'below'}"
            row["stands_out"] = f"{row['stands_out']}; {text}".removeprefix("; ")
    columns = ["practice", *(f"{measure.key}_share" for measure in MEASURES), "stands_out"]
    kinds = {name: pl.Float64 if name.endswith("_share") else pl.String for name in columns}
    return pl.DataFrame([rows[key] for key in rows], schema=kinds)


def of_measure(found: Sequence[Score], key: str) -> pl.DataFrame:
    """Return each practice in one measure with its interval, the lowest share first."""
    rows = [
        (
            score.name,
            score.share,
            score.now[1],
            *share_interval(*score.now),
            score.change,
            "Stands out" if score.outlier else "As the others",
        )
        for score in found
        if score.measure.key == key and score.share is not None
    ]
    names = ["practice", "share", "cases", "low_share", "high_share", "change_share", "stands"]
    kinds = dict(zip(names, [pl.String, pl.Float64, pl.Int64, *[pl.Float64] * 3, pl.String], strict=True))
    return pl.DataFrame(rows, schema=kinds, orient="row").sort("share", "practice")


def largest_change(view: View, found: Sequence[Score]) -> str | None:
    """Return a sentence of the change that is least likely to be chance, and its cause; `None` if none is more."""
    changed = [score for score in found if is_far(score.now, score.before)]
    if not changed:
        return None
    score = max(changed, key=lambda score: distance(score.now, score.before))
    words, earlier = view.words, score.before[0] / score.before[1]
    verb = "rose" if (score.change or 0) > 0 else "fell"
    ends = _ends(view, score, [score.practice_id], score.before, before=True)
    return (
        f"**What changed most: {score.measure.label} at {plain(score.name)}** {verb} from "
        f"{words.percent(earlier)} to {words.percent(score.share)} "
        f"({words.number(score.now[0])} of {words.number(score.now[1])})."
        f"{_part(view, score, ends, score.change or 0)}"
    )


def outliers(view: View, found: Sequence[Score]) -> list[str]:
    """Return a sentence for each outlier, the farthest first: its share, that of the others, and the cause."""
    words, said = view.words, dict[str, float]()
    for score in found:
        if score.outlier is None:
            continue
        others = score.outlier.others
        ends = _ends(view, score, sorted(score.outlier.among), others)
        sentence = (
            f"**{plain(score.name)}**, {score.measure.label.lower()}: {words.percent(score.share)}, the others "
            f"{words.percent(others[0] / others[1])}."
            f"{_part(view, score, ends, score.outlier.difference)}"
        )
        said[sentence] = distance(score.now, others)
    return sorted(said, key=lambda sentence: -said[sentence])


def _part(view: View, score: Score, there: Ends, difference: float) -> str:
    here = _ends(view, score, [score.practice_id], score.now)
    said = largest_part(here, there, difference, view.words.number)
    return f" {plain(said)}" if said else ""


def _ends(view: View, score: Score, within: Sequence[str], sums: Counts, *, before: bool = False) -> Ends:
    if score.measure.causes is None:
        return {}
    # One statement for all practices, whose answer is kept: a hundred outliers would read the calls 200 times.
    rows, ends = view.ask(score.measure.causes, before=before), Counter[str | None]()
    for practice, cause, cases in rows.iter_rows():
        if practice in within:
            ends[cause] += cases
    return {end: cases / sums[1] for end, cases in ends.items()} if sums[1] else {}
