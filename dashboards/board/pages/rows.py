"""The rows behind a figure, as `vetl explain` shows them, with their certificates and open doubts."""

from collections.abc import Sequence
from dataclasses import replace

import polars as pl
import streamlit as st
from vetl.core.errors import VetlError
from vetl.figures.ask import MetricQuestion
from vetl.figures.catalogue import Metric
from vetl.figures.counting import SeveralChosen
from vetl.figures.explanation import CellQuestion, Explanation, explain, rows_of_metric

from board.address import held, pick, pick_day
from board.audit import note_people
from board.parts import draw_list, part
from board.view import View, explained_columns
from board.words import VALUED, label, named, plain

MOST = 1000
"""Rows of each count that are shown and downloaded."""

USUAL = "booking_intent_daily.missed_intent_calls"
SPANS = {"period": "The whole period", "day": "One day, or its week"}
NAMES = """
    select practice_id, {key}, name from contacts.{table} where practice_id in (select unnest($practices))
"""
_NAMED_BY = {"call_key": "phone_calls", "client_id": "clients"}
"""The tables of the contacts with a name, by their key."""


def draw(view: View) -> None:
    """Draw the page."""
    with part():
        measure = _measure(view)
        if measure:
            _rows_of_measure(view, measure)
            return
    known = {f"{mart}.{column}": f"{label(column)} ({mart})" for mart, column in explained_columns(view)}
    if not known:
        st.info("This file does not say which rows its figures count: `vetl build` publishes another.")
        return
    figure = pick("figure", "Figure", known, usual=USUAL if USUAL in known else next(iter(known))) or USUAL
    span = pick("span", "Days", SPANS, usual="period", width=260)
    mart, _, column = figure.partition(".")
    practices = [practice.id for practice in view.scope.practices]
    if span == "day":
        ids = {practice.id: practice.name for practice in view.scope.practices}
        practice = pick("of", "Of practice", ids, usual=practices[0])
        day = pick_day("on", "Day", view.scope.until, view.scope.since, view.scope.until)
        question = CellQuestion(mart, column, practice, day, most=MOST)
    else:
        name = next((one for one in ("day", "week", "month") if (mart, one) in view.file.definitions()), None)
        since = view.scope.since.replace(day=1) if name == "month" else view.scope.since
        where = (f"{name}>={since}", f"{name}<={view.scope.until}") if name else ()
        question = CellQuestion(mart, column, where=where, most=MOST)
    st.markdown(view.define((mart, column), links=False))
    try:
        _draw_explanation(view, _narrowed(view, question, practices))
    except SeveralChosen as refused:
        missing = " and ".join(f"one {label(name).lower()}" for name in refused.choices)
        st.info(f"{plain(refused.reason)}. Choose {missing or 'one day of one practice'} above.")
    except VetlError as refused:
        st.info(plain(refused))


def _measure(view: View) -> Metric | None:
    """Choose a measure of Explore, whose rows are shown in place of those of a mart's column."""
    metrics = view.file.metrics()
    offered = {name: metric.words for name, metric in metrics.items() if metric.aggregation != "people"}
    name = pick("measure", "Measure", offered, empty="A figure of a mart, below", width=420)
    return metrics[name] if name else None


def _rows_of_measure(view: View, metric: Metric) -> None:
    """Show the rows that a measure counts in the period, with the filters of Explore."""
    only = held("only")
    ids = [practice.id for practice in view.scope.practices]
    days = (None, None) if metric.is_of_now else (view.scope.since, view.scope.until)
    parts = [text.partition("=") for text in only]
    filters = [f"{label(name)}: {view.said(name, value)}" for name, _, value in parts]
    st.markdown(f"**{metric.words}**: {metric.definition}")
    if filters:
        st.caption(plain("Only " + ", ".join(filters)))
    st.page_link(st.session_state.pages["explore"], label="Back to Explore", icon=":material/query_stats:")
    try:
        found = rows_of_metric(
            view.file.path, MetricQuestion(metric.name, (), only, *days, MOST, view.file.within(ids))
        )
        _draw_explanation(view, found)
    except VetlError as refused:
        st.info(plain(refused))


def _narrowed(view: View, question: CellQuestion, practices: Sequence[str]) -> Explanation:
    """Explain a figure. If its rows differ in more than practice and day, offer a choice for each dimension.

    Raises:
        SeveralChosen: A value is not chosen yet, or the rows differ in practice or day.
    """
    try:
        return explain(view.file.path, question, view.file.within(practices))
    except SeveralChosen as refused:
        picked = {
            name: pick(f"only_{name}", label(name), _in_words(name, values), empty="Choose one", width=260)
            for name, values in refused.choices.items()
        }
        if not picked or None in picked.values():
            raise
        where = (*question.where, *(f"{name}={value}" for name, value in picked.items()))
        return _narrowed(view, replace(question, where=where), practices)


def _in_words(dimension: str, values: Sequence[str]) -> dict[str, str]:
    """Return the text of each value of a dimension; a measure is named by its column."""
    words = {"measure": label, **dict.fromkeys(VALUED, named)}.get(dimension, str)
    return {value: words(value) for value in values}


def _draw_explanation(view: View, found: Explanation) -> None:
    value, words = found.value, view.words
    is_share = found.metric.aggregation == "ratio"
    said = words.percent(value) if is_share else words.number(value) if isinstance(value, int) else plain(value)
    is_metric = "." not in found.metric.name
    name = found.metric.words if is_metric else f"{label(found.column)} ({found.mart})"
    st.metric(name, said if value is not None else words.number(None))
    if not found.agrees:
        st.error(
            "The rows do not give this figure: the file was changed after it was published. See `vetl verify`."
        )
    table = view.named(_with_names(view, found))
    hidden = {name for name in table.columns if table.get_column(name).is_null().all()}
    if table.get_column("count").n_unique() == 1:
        hidden.add("count")  # the rows of a count are of one kind, those of a rate of two
    counts = table.get_column("counts")
    if not counts.dtype.is_numeric() or (counts == 1).all():
        hidden.add("counts")  # each row counts once, or stands for a person by a key
    # As plain text: code in a caption is too faint to read.
    rows, most = words.number(len(table)), words.number(MOST)
    st.caption(plain(f"{rows} rows of marts.{found.metric.mart}; at most {most} of each count are shown."))
    draw_list(table.drop(hidden), "The rows that are counted", "rows-behind-a-figure")
    for item in found.certificates:
        through = (
            f"certified through {words.moment(item.certified_through)}"
            if item.certified_through
            else "not certified"
        )
        st.caption(plain(f"{item.practice_id} {item.endpoint}: {through} ({item.evidence or 'no evidence'})"))
    for line in found.may_change or ("Nothing that vetl knows of will change it.",):
        st.caption(plain(line))


def _with_names(view: View, found: Explanation) -> pl.DataFrame:
    """Return the rows, with the names of the people if the contacts may be read. Note who saw them."""
    table = pl.DataFrame(found.rows, schema=list(found.columns), orient="row", infer_schema_length=None)
    key = next((name for name in _NAMED_BY if name in table.columns), None)
    if key is None or table.is_empty():
        return table
    note_people(view.config.audit, view.user, "rows", table, named=view.file.names_people)
    if not view.file.names_people:
        return table
    names = view.ask(NAMES.format(key=key, table=_NAMED_BY[key]))
    return table.join(
        names.unique(["practice_id", key]), on=["practice_id", key], how="left", maintain_order="left"
    )
