"""Any measure by any dimension: what `vetl metric` answers, as a table and a chart."""

from collections.abc import Mapping, Sequence

import polars as pl
import streamlit as st
from vetl.core.errors import WrongUse
from vetl.figures.ask import MetricAnswer, MetricQuestion, dimensions_of
from vetl.figures.catalogue import Metric

from board import charts
from board.address import pick
from board.downloads import download
from board.parts import View, draw_table, part
from board.words import NOTHING, label, named, plain

MOST = 2000
"""Rows that are shown and downloaded."""

LINES = 8
"""The most lines or kinds of bars on a chart."""

USUAL = "new_booking_conversion_rate"
TIMES = ("day", "week", "month")
WORDS = """
    select table_name, column_name from meta.catalogue
    where definition is not null and column_name is not null
          and (counted_as = $metric or column_name = $metric)
    order by counted_as is not distinct from $metric desc, table_name = $mart desc, table_name limit 1
"""


def draw(view: View) -> None:
    """Draw the page."""
    with part():
        _draw(view)


def _draw(view: View) -> None:
    try:
        metrics = view.file.metrics()
        metric = metrics[_chosen(metrics)]
        by = _dimensions(view, metrics, metric)
        st.markdown(f"**{metric.words}**: {metric.definition}")
        if metric.is_of_now:
            st.caption("This counts the present state, whatever the days above.")
        if metric.aggregation != "people" and not _needs(metrics, metric):
            _total(view, metrics, _answer(view, metric, ()))
        if by:
            _table(view, _answer(view, metric, by), by)
        _what_it_counts(view, metrics, metric)
    except WrongUse as refused:
        st.info(plain(refused))


def _chosen(metrics: Mapping[str, Metric]) -> str:
    names = {name: metric.words for name, metric in sorted(metrics.items(), key=lambda item: item[1].words)}
    usual = USUAL if USUAL in names else next(iter(names))
    return pick("metric", "Measure", names, usual=usual) or usual


def _dimensions(view: View, metrics: Mapping[str, Metric], metric: Metric) -> list[str]:
    """Choose one or two dimensions of the measure: those without which it adds up wrongly come first."""
    known = {name: label(name) for name in dimensions_of(metrics, metric)}
    is_people = metric.aggregation == "people"
    usual = "practice" if is_people or metric.is_of_now or len(view.scope.practices) > 1 else "week"
    first_of = {name: known[name] for name in ("practice",)} if is_people else known
    with st.container(horizontal=True, key="measure-dimensions"):
        first = _pick("by", "By", first_of, next(iter(_needs(metrics, metric)), usual))
        others = {name: text for name, text in known.items() if name != first}
        if is_people:
            others = {name: known[name] for name in metric.by}
        second = _pick("and", "And by", others, "week" if is_people else None)
    return [name for name in (first, second) if name]


def _needs(metrics: Mapping[str, Metric], metric: Metric) -> tuple[str, ...]:
    """Return the dimensions without which the values do not add up."""
    return (metrics[metric.numerator] if metric.numerator else metric).needs


def _pick(name: str, title: str, options: Mapping[str, str], usual: str | None) -> str | None:
    """Choose a dimension. After another measure was chosen by hand, one that it does not have is dropped."""
    kept = st.session_state.get(name)
    if kept is not None and kept not in options and st.session_state.address.opened is None:
        st.session_state[name] = usual
    return pick(name, title, options, usual=usual, empty="Nothing more", width=260)


def _answer(view: View, metric: Metric, by: Sequence[str]) -> MetricAnswer:
    practices = [practice.id for practice in view.scope.practices]
    days = (None, None) if metric.is_of_now else (view.scope.since, view.scope.until)
    return view.file.metric(MetricQuestion(metric.name, by, (), *days, MOST, practices))


def _total(view: View, metrics: Mapping[str, Metric], answer: MetricAnswer) -> None:
    """Draw the value of the whole period, of a rate with its two counts."""
    words, metric = view.words, answer.metric
    [row] = [dict(zip(answer.columns, row, strict=True)) for row in answer.rows] or [{}]
    value = row.get("value")
    if metric.aggregation == "ratio":
        st.metric(metric.words, words.percent(value))
        top, bottom = metrics[metric.numerator or ""], metrics[metric.denominator or ""]
        counts = [words.number(row.get(name) or 0) for name in ("numerator", "denominator")]
        st.caption(f"{top.words}: {counts[0]}, of {bottom.words.lower()}: {counts[1]}")
    else:
        st.metric(metric.words, NOTHING if value is None else words.number(value, 0 if metric.additive else 1))
        st.caption(metric.unit)


def _table(view: View, answer: MetricAnswer, by: Sequence[str]) -> None:
    metric = answer.metric
    share = metric.aggregation == "ratio"
    renamed = {"numerator": metric.numerator, "denominator": metric.denominator, "value": metric.name}
    columns = [renamed.get(name) or name for name in answer.columns]
    table = pl.DataFrame(answer.rows, columns, orient="row", infer_schema_length=None)
    if table.is_empty():
        st.info("Nothing in this period.")
        return
    nothing = [name for name in columns if table.schema[name] == pl.Null]
    table = table.with_columns(pl.col(name).cast(pl.String if name in by else pl.Float64) for name in nothing)
    if "practice" in by:
        names = {practice.id: practice.name for practice in view.scope.chosen}
        table = table.with_columns(pl.col("practice").replace(names))
    texts = [name for name in by if name != "practice" and table.schema[name] == pl.String]
    table = charts.worded(table, *texts)
    numbers = [name for name in by if table.schema[name].is_numeric() or table.schema[name] == pl.Boolean]
    drawn = table.with_columns(pl.col(name).cast(pl.String) for name in numbers)
    chart_tab, table_tab = st.tabs(["Chart", "Table"])
    says = f"{metric.words} by {' and '.join(label(name).lower() for name in by)}"
    with chart_tab:
        chart = _chart(view, drawn, metric.name, by, share=share)
        st.altair_chart(charts.localised(chart, view.words), width="stretch", alt=says)
    with table_tab:
        draw_table(table, says)
        download(table, f"{metric.name}-by-{'-and-'.join(by)}".replace("_", "-"))
    for note in (*answer.notes, *answer.doubts):
        st.caption(plain(note))


def _chart(view: View, table: pl.DataFrame, value: str, by: Sequence[str], *, share: bool) -> charts.Chart:
    """Return lines over time, else bars; a second dimension has the colours, of the largest groups."""
    time = next((name for name in by if name in TIMES), None)
    others = [name for name in by if name != time]
    if len(by) > 1:
        groups = table.group_by(others[-1], maintain_order=True).agg(pl.col(value).sum())
        largest = groups.sort(value, descending=True, maintain_order=True).head(LINES).get_column(others[-1])
        if len(groups) > LINES:
            st.caption(
                f"The chart has the {LINES} largest of {view.words.number(len(groups))}; the table has all."
            )
            table = table.filter(pl.col(others[-1]).is_in(largest.implode()))
    table = table.with_columns(pl.col(name).fill_null(named(None)) for name in others)
    if time:
        return charts.over_time(table, time, value, others[0] if others else None, share=share)
    if len(by) > 1:
        return charts.grouped_bars(table, value, by[0], by[1], share=share)
    return charts.bars(table.sort(value, descending=True, nulls_last=True), value, by[0], share=share)


def _what_it_counts(view: View, metrics: Mapping[str, Metric], metric: Metric) -> None:
    """Draw the words about what the measure, and of a rate its two counts, leave out and how they mislead."""
    counts = [metric, *(metrics[name] for name in (metric.numerator, metric.denominator) if name)]
    with st.expander("What it counts"):
        for one in counts:
            found = view.file.ask(WORDS, metric=one.name, mart=one.mart).rows()
            text = view.define(found[0]) if found else f"{one.definition}  \n`vetl metric {one.name}`"
            st.markdown(f"**{one.words}**: {text}")
