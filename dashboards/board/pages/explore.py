"""Explore: every measure of a subject, one of them by time and by a dimension, and the rows behind any mark."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any

import polars as pl
import streamlit as st
from vetl.core.errors import WrongUse
from vetl.figures.ask import FRAME, MetricAnswer, MetricQuestion, Values, dimensions_of
from vetl.figures.catalogue import Metric

from board import charts
from board.address import held, hold, pick, pick_at_once, pick_day, refuse
from board.downloads import download
from board.parts import draw_table, part
from board.saved_views import saved_views
from board.scope import OWN_DAYS, PERIODS, ends_of
from board.view import NULL, View
from board.words import NOTHING, label, named, plain

MOST = 2000
"""Rows of an answer that are shown and downloaded."""
MOST_BARS = 20
WEEKS = 13
LONG = 56
"""So many days are shown by week at first."""
USUAL = "new_booking_conversion_rate"
TIMES = ("day", "week", "month")
GRAINS = {"day": "By day", "week": "By week"}
AGAINST = {"before": "The days before", "year_ago": "The same weeks of last year", **PERIODS}
SUBJECTS = {
    "Phones": ("phone_calls", "call_endings_daily", "practice_daily"),
    "Booking requests": ("booking_requests", "first_responses_daily", "visit_waits_daily"),
    "Appointments": ("appointments", "visits_daily", "rebookings_daily"),
    "Online booking": ("booking_sessions", "booking_funnel_stages"),
    "Outreach": ("outreach_requests",),
    "Tasks": ("staff_tasks", "staff_task_turnaround_daily"),
    "Service reminders": ("recalls_daily",),
    "Acting": ("acts",),
}
"""The marts that a subject is counted from."""
WORDS = """
    select table_name, column_name from meta.catalogue
    where definition is not null and column_name is not null
          and (counted_as = $metric or column_name = $metric)
    order by counted_as is not distinct from $metric desc, table_name = $mart desc, table_name limit 1
"""


@dataclass(frozen=True, slots=True)
class Explored:
    """The chosen measure, the comparisons that filter the page, and the period to compare with."""

    view: View
    metrics: Mapping[str, Metric]
    metric: Metric
    only: tuple[str, ...]
    against: tuple[date, date]

    @property
    def values(self) -> dict[str, str]:
        """The value of each dimension that is filtered."""
        return dict(text.split("=", 1) for text in self.only)

    def question(self, by: Sequence[str], *, without: Sequence[str] = (), before: bool = False) -> MetricQuestion:
        """Return the question by these dimensions, without the filters of some."""
        where = [text for text in self.only if text.split("=", 1)[0] not in without]
        scope, is_now = self.view.scope, self.metric.is_of_now
        days = (None, None) if is_now else self.against if before else (scope.since, scope.until)
        ids = [practice.id for practice in scope.practices]
        return MetricQuestion(self.metric.name, by, where, *days, MOST, ids)


def draw(view: View) -> None:
    """Draw the page."""
    with part():
        _draw(view)


def _draw(view: View) -> None:
    metrics = view.file.metrics()
    names, chosen = _subject(metrics)
    known = {name for one in names for name in dimensions_of(metrics, metrics[one])}
    only = _known_filters(held("only"), known)
    one = Explored(view, metrics, metrics[chosen], only, _against(view))
    if st.session_state.pop("wants_rows", False):
        st.switch_page(st.session_state.pages["rows"], query_params=rows_address(one))
    _filters(one)
    _tiles(one, names)
    st.header(one.metric.words, anchor=False)
    st.markdown(one.metric.definition)
    try:
        _over_time(one)
        _leaderboard(one)
    except WrongUse as refused:
        st.info(plain(refused))
    _what_it_counts(one)
    saved_views(view)


def _known_filters(texts: Sequence[str], known: Collection[str]) -> tuple[str, ...]:
    """Return the filters by dimensions of the subject; if another is chosen by hand, those of the last one go."""
    found = tuple(text for text in texts if "=" in text and text.split("=", 1)[0] in known)
    if st.session_state.address.opened is not None:
        for text in set(texts) - set(found):
            refuse("a filter", text)
    hold("only", found)
    return found


def _subject(metrics: Mapping[str, Metric]) -> tuple[list[str], str]:
    """Choose a subject, and return its measures and the chosen one."""
    subject_of = {mart: subject for subject, marts in SUBJECTS.items() for mart in marts}
    subjects: dict[str, list[str]] = {}
    for name, metric in metrics.items():
        mart = (metrics[metric.numerator] if metric.numerator else metric).mart
        subjects.setdefault(subject_of.get(mart, "Other"), []).append(name)
    usual = USUAL if USUAL in metrics else next(iter(metrics))
    asked = held("metric")
    if asked and asked[-1] not in metrics:
        refuse("measure", asked[-1])
    metric = asked[-1] if asked and asked[-1] in metrics else usual
    of_metric = next(subject for subject, names in subjects.items() if metric in names)
    with st.container(horizontal=True, key="explore-choices"):
        offered = {subject: subject for subject in (*SUBJECTS, "Other") if subject in subjects}
        chosen = pick("about", "About", offered, usual=of_metric, width=220) or of_metric
    names = sorted(subjects[chosen], key=lambda name: (metrics[name].aggregation != "ratio", metrics[name].words))
    metric = metric if metric in names else names[0]
    hold("metric", [metric] if metric != usual else [])
    return names, metric


def _against(view: View) -> tuple[date, date]:
    scope = view.scope
    name = pick("against", "Compared with", AGAINST, usual="before", width=260) or "before"
    if name == "before":
        return scope.before
    if name == "year_ago":
        return scope.since - timedelta(days=364), scope.until - timedelta(days=364)
    if name == OWN_DAYS:
        first = min(practice.history_start for practice in scope.practices)
        since = pick_day("against_from", "Compared from", max(first, scope.before[0]), first, scope.read_through)
        return since, pick_day("against_to", "Compared to", max(since, scope.before[1]), since, scope.read_through)
    return ends_of(name, scope.read_through)


def _filters(one: Explored) -> None:
    """Draw the filters, each with a button that removes it, and the link to the rows."""
    with st.container(horizontal=True, key="explore-filters"):
        for text in one.only:
            name, value = text.split("=", 1)
            st.button(
                f"{label(name)}: {plain(one.view.said(name, value))}",
                icon=":material/close:",
                key=f"without-{name}",
                on_click=_filter,
                args=(name, None),
                help="Remove this filter",
            )
    st.page_link(
        st.session_state.pages["rows"],
        label=f"Show the rows of \u201c{one.metric.words}\u201d",
        icon=":material/receipt_long:",
        query_params=rows_address(one),
    )


def rows_address(one: Explored) -> dict[str, Any]:
    """Return the address of the rows that the measure counts, with the filters and days of the page."""
    scope = one.view.scope
    days: dict[str, Any] = {"period": OWN_DAYS, "from": str(scope.since), "to": str(scope.until)}
    practices = {"practice": [practice.id for practice in scope.practices]}
    return {**days, **practices, "measure": one.metric.name, "only": list(one.only)}


def _filter(name: str, value: str | None) -> None:
    """Filter the page by a value; the value that it is filtered by already leads to the rows."""
    texts = list(st.session_state.get("only", []))
    if value is not None and f"{name}={value}" in texts:
        st.session_state.wants_rows = True
        return
    kept = [text for text in texts if not text.startswith(f"{name}=")]
    hold("only", kept if value is None else [*kept, f"{name}={value}"])


def _tiles(one: Explored, names: Sequence[str]) -> None:
    """Draw every measure of the subject: its figure, that of the other period, and its last weeks."""
    view, words = one.view, one.view.words
    now, before, weekly = _values(one, names)
    st.caption(f"Compared with {words.days(*one.against)}. The lines are the last {WEEKS} whole weeks.")
    rows: list[tuple[str, float | None, float | None]] = []
    with st.container(horizontal=True, key="figures-explore"):
        for name in (name for name in names if one.metrics[name].aggregation != "people"):
            metric = one.metrics[name]
            line = [value for value in (weekly[week].get(name) for week in sorted(weekly)) if value is not None]
            with st.container(border=True):
                _choice(one, name)
                st.metric(
                    metric.words,
                    _number(view, metric, now.get(name)),
                    label_visibility="collapsed",
                )
                if len(line) > 1:
                    says = f"{metric.words} by week, the last {len(line)} weeks"
                    st.altair_chart(charts.localised(charts.sparkline(line), words), width="stretch", alt=says)
                st.caption(_beside(one, metric, now, before))
            rows.append((metric.words, now.get(name), before.get(name)))
    people = [name for name in names if one.metrics[name].aggregation == "people"]
    if people:
        st.caption("Counts of people, each once a day or week, so they have no sum. Choose one:")
        with st.container(horizontal=True, key="explore-people"):
            for name in people:
                _choice(one, name)
    kinds = {"measure": pl.String, "value": pl.Float64, "value_before": pl.Float64}
    download(pl.DataFrame(rows, kinds, orient="row"), "explore-measures")


def _choice(one: Explored, name: str) -> None:
    kind = "secondary" if name == one.metric.name else "tertiary"
    words = one.metrics[name].words
    st.button(words, key=f"measure-{name}", type=kind, on_click=hold, args=("metric", [name]))


def _values(one: Explored, names: Sequence[str]) -> tuple[Values, Values, Mapping[Any, Values]]:
    """Return the values of the period, those of the other one, and those by week: one pass over each mart each."""
    ask, scope = one.view.file.side_by_side, one.view.scope
    untimed = [text for text in one.only if text.split("=", 1)[0] not in TIMES]
    always = replace(one.question(()), where=untimed, since=None, until=None)
    asked = replace(always, where=one.only, since=scope.since, until=scope.until)
    present = [name for name in names if one.metrics[name].is_of_now]
    now = {**ask(names, asked).get(None, {}), **ask(present, always).get(None, {})}
    earlier = replace(always, since=one.against[0], until=one.against[1])
    sunday = scope.until - timedelta(days=(scope.until.weekday() + 1) % 7)
    weeks = replace(always, by=("week",), since=sunday - timedelta(days=7 * WEEKS - 1), until=sunday)
    return now, ask(names, earlier).get(None, {}), ask(names, weeks)


def _number(view: View, metric: Metric, value: float | None) -> str:
    words = view.words
    if metric.aggregation == "ratio":
        return words.percent(value)
    return NOTHING if value is None else words.number(value, 0 if metric.additive else 1)


def _beside(one: Explored, metric: Metric, now: Values, before: Values) -> str:
    """Return the line under a figure: its value in the other period, or why it has none."""
    if metric.is_of_now:
        return "the present state"
    if metric.name not in now:
        missing = [name for name in one.values if name not in dimensions_of(one.metrics, metric)]
        needs = (one.metrics[metric.numerator] if metric.numerator else metric).needs
        return f"does not know {' and '.join(label(name).lower() for name in missing or needs)}"
    return f"before {_number(one.view, metric, before.get(metric.name))}"


def _needs(one: Explored) -> list[str]:
    """Return the dimensions without which the values do not add up, and that are not filtered."""
    needs = (one.metrics[one.metric.numerator] if one.metric.numerator else one.metric).needs
    if one.metric.aggregation == "people":
        return ["practice"]
    return [name for name in needs if name not in one.values]


def _over_time(one: Explored) -> None:
    """Draw the measure by day or week, beside the same days of the other period."""
    if one.metric.is_of_now:
        st.caption("This counts the present state, whatever the days above.")
        return
    usual = "week" if one.view.scope.days > LONG or one.metric.aggregation == "people" else "day"
    grain = pick_at_once("grain", "Shown", GRAINS, usual=usual)
    by = [*_needs(one), grain]
    answer = one.view.file.metric(one.question(by, without=TIMES))
    table = _table(one, answer)
    if table.is_empty():
        st.info("Nothing in this period.")
        return
    drawn = table.with_columns(pl.col(grain).cast(pl.String).alias(charts.ON))
    colour = by[0] if len(by) > 1 else None
    if colour is None:
        drawn, colour = _with_other_period(one, drawn, grain), "period"
    elif drawn.get_column(colour).n_unique() > MOST_BARS:
        drawn = drawn.filter(
            pl.col(colour).is_in(drawn.get_column(colour).unique(maintain_order=True)[:MOST_BARS])
        )
    share = one.metric.aggregation == "ratio"
    says = f"{one.metric.words} {GRAINS[grain].lower()}"
    chart = charts.over_time(drawn, grain, one.metric.name, colour, share=share)
    _draw_clickable(one, chart, table, grain, says)
    for note in (*answer.notes, *answer.doubts):
        st.caption(plain(note))


def _with_other_period(one: Explored, table: pl.DataFrame, grain: str) -> pl.DataFrame:
    """Add the days of the other period, each at the place of the day that is as far from its beginning."""
    other = _table(one, one.view.file.metric(one.question((grain,), without=TIMES, before=True)))
    words, value = one.view.words, one.metric.name
    this = table.select(
        grain, value, charts.ON, pl.lit(words.days(one.view.scope.since, one.view.scope.until)).alias("period")
    )
    if other.is_empty():
        return this
    shift = one.view.scope.since - one.against[0]
    if grain == "week":
        shift = timedelta(days=round(shift.days / 7) * 7)
    moved = other.select(
        pl.col(grain) + shift,
        value,
        pl.lit(None, pl.String).alias(charts.ON),
        pl.lit(words.days(*one.against)).alias("period"),
    )
    return pl.concat([this, moved.filter(pl.col(grain) <= one.view.scope.until)])


def _leaderboard(one: Explored) -> None:
    """Draw the measure by a dimension, the largest first, with the number at each bar."""
    offered = {name: label(name) for name in dimensions_of(one.metrics, one.metric) if name not in TIMES}
    if one.metric.aggregation == "people":
        st.caption("It counts each person once a day or week, so its values do not add up to one for each bar.")
        return
    several = len(one.view.scope.practices) > 1
    needs = _needs(one)
    own = [name for name in offered if name not in FRAME]
    usual = needs[0] if needs else "practice" if several or not own else own[0]
    kept = st.session_state.get("by")
    if kept is not None and kept not in offered and st.session_state.address.opened is None:
        st.session_state["by"] = usual  # the dimension of another measure
    by = pick("by", "By", offered, usual=usual, width=260) or usual
    answer = one.view.file.metric(one.question([*(name for name in needs if name != by), by], without=(by,)))
    table = _table(one, answer)
    if table.is_empty():
        st.info("Nothing in this period.")
        return
    place = answer.columns.index(by)
    raw = [NULL if row[place] is None else str(row[place]) for row in answer.rows]
    raw = [text.lower() if text in {"True", "False"} else text for text in raw]
    drawn = table.with_columns(
        pl.Series(charts.ON, raw),
        pl.Series("is_chosen", [one.values.get(by, text) == text for text in raw]),
    ).sort(one.metric.name, descending=True, nulls_last=True)
    if drawn.height > MOST_BARS:
        st.caption(
            f"The chart has the first {MOST_BARS} of {one.view.words.number(drawn.height)}; the table has all."
        )
    share = one.metric.aggregation == "ratio"
    bars = drawn.head(MOST_BARS).with_columns(pl.col(by).cast(pl.String).fill_null(named(None)))
    chart = charts.bars(bars, one.metric.name, by, share=share)
    _draw_clickable(one, chart, table, by, f"{one.metric.words} by {label(by).lower()}")


def _draw_clickable(one: Explored, chart: charts.Chart, table: pl.DataFrame, by: str, says: str) -> None:
    """Draw a chart whose marks filter the page, and its table with a download."""
    # With another filter it is another chart, so that a second click on a mark is a click.
    key = f"explore-{by}-{'-'.join((one.metric.name, *one.only))}"
    chart_tab, table_tab = st.tabs(["Chart", "Table"])
    with chart_tab:
        st.altair_chart(
            charts.localised(charts.clickable(chart, [charts.ON]), one.view.words),
            width="stretch",
            alt=says,
            key=key,
            on_select=lambda: _clicked(key, by),
        )
        st.caption("A click on a mark filters the page, a second one shows its rows.")
    with table_tab:
        draw_table(table, says)
        download(table, f"{one.metric.name}-by-{by}".replace("_", "-"))


def _clicked(key: str, by: str) -> None:
    mark = charts.clicked(st.session_state.get(key)) or {}
    if mark.get(charts.ON) is not None:
        _filter(by, str(mark[charts.ON]))


def _table(one: Explored, answer: MetricAnswer) -> pl.DataFrame:
    """Return the rows of an answer, in words."""
    metric = answer.metric
    renamed = {"numerator": metric.numerator, "denominator": metric.denominator, "value": metric.name}
    columns = [renamed.get(name) or name for name in answer.columns]
    table = pl.DataFrame(answer.rows, columns, orient="row", infer_schema_length=None)
    by = answer.columns[: len(columns) - (5 if metric.aggregation == "ratio" else 3)]
    nothing = [name for name in columns if table.schema[name] == pl.Null]
    table = table.with_columns(pl.col(name).cast(pl.String if name in by else pl.Float64) for name in nothing)
    if "practice" in by:
        names = {practice.id: practice.name for practice in one.view.scope.chosen}
        table = table.with_columns(pl.col("practice").replace(names))
    return charts.worded(table, *(name for name in by if name != "practice" and table.schema[name] == pl.String))


def _what_it_counts(one: Explored) -> None:
    """Draw the words about what the measure, and of a rate its two counts, leave out and how they mislead."""
    metric = one.metric
    counts = [metric, *(one.metrics[name] for name in (metric.numerator, metric.denominator) if name)]
    with st.expander("What it counts"):
        for count in counts:
            found = one.view.file.ask(WORDS, metric=count.name, mart=count.mart).rows()
            text = one.view.define(found[0]) if found else f"{count.definition}  \n`vetl metric {count.name}`"
            st.markdown(f"**{count.words}**: {text}")
