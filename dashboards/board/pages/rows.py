"""The rows behind a figure, as `vetl explain` shows them, with their certificates and open doubts."""

import polars as pl
import streamlit as st

from board.address import pick, pick_day
from board.audit import note_people
from board.charts import worded
from board.downloads import download
from board.parts import View, draw_table, explained_columns
from board.words import VALUED, label
from pipelines.core.errors import VetlError
from pipelines.loading.published.figures.explain import CellQuestion, Explanation, explain

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
    st.markdown(view.define((mart, column)))
    try:
        _explained(view, explain(view.file.path, question, view.file.within(practices)))
    except VetlError as refused:
        st.info(str(refused) if span == "day" else f"{refused}. Or choose one day of one practice above.")


def _explained(view: View, found: Explanation) -> None:
    value, words = found.value, view.words
    is_share = found.metric.aggregation == "ratio"
    said = words.percent(value) if is_share else words.number(value) if isinstance(value, int) else str(value)
    st.metric(label(found.column), said if value is not None else words.number(None))
    if not found.agrees:
        st.error(
            "The rows do not give this figure: the file was changed after it was published. See `vetl verify`."
        )
    table = view.named(_with_names(view, found))
    empty = {name for name in table.columns if table.get_column(name).is_null().all()}
    kept = [name for name in table.columns if name not in {"counts", *empty}]
    if "count" in kept and table.get_column("count").n_unique() == 1:
        kept.remove("count")  # the rows of a count are of one kind, those of a rate of two
    st.caption(f"{words.number(len(table))} rows of `marts.{found.metric.mart}`, of each count at most {MOST}.")
    draw_table(worded(table.select(kept), *(name for name in kept if name in VALUED)), "The rows that are counted")
    download(table.select(kept), "rows-behind-a-figure")
    for item in found.certificates:
        through = (
            f"certified through {words.moment(item.certified_through)}"
            if item.certified_through
            else "not certified"
        )
        st.caption(f"{item.practice_id} {item.endpoint}: {through} ({item.evidence or 'no evidence'})")
    for line in found.may_change or ("Nothing that vetl knows of will change it.",):
        st.caption(line)


def _with_names(view: View, found: Explanation) -> pl.DataFrame:
    """Return the rows, with the names of the people if the contacts may be read. Note who saw them."""
    table = pl.DataFrame(found.rows, schema=list(found.columns), orient="row", infer_schema_length=None)
    key = next((name for name in _NAMED_BY if name in table.columns), None)
    if key is None or table.is_empty():
        return table
    note_people(view.audit, view.user, "rows", table, named=view.file.names_people)
    if not view.file.names_people:
        return table
    names = view.ask(NAMES.format(key=key, table=_NAMED_BY[key]))
    return table.join(
        names.unique(["practice_id", key]), on=["practice_id", key], how="left", maintain_order="left"
    )
