"""The rows behind a mark of a chart: a click on the mark shows them below, or says why there are none."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any

import streamlit as st
from babel.dates import get_day_names

from board.address import clicked_mark
from board.audit import note_people
from board.charts import clicked, shortened, worded
from board.downloads import download
from board.view import View
from board.words import VALUED, label, named, plain

MOST = 1000
"""Rows that are shown and downloaded."""
MADE_UP = "This mark is computed from more than one list or from earlier weeks, so it has no rows of its own."


@dataclass(frozen=True, slots=True)
class Behind:
    """The rows that a chart counts.

    `rows` is a table or a statement in brackets, of which `where` counts. `by` has SQL for each field of the chart
    that a mark has a value of. `steps` has a further condition for each value of the field `step`, a measure.
    `asked` are parameters beside those of the scope.
    """

    rows: str
    where: str
    by: Mapping[str, str] = field(default_factory=dict[str, str])
    asked: Mapping[str, Any] = field(default_factory=dict[str, Any])
    step: str = ""
    steps: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def fields(self) -> list[str]:
        """The fields of the chart that say which mark it is."""
        return [*self.by, *([self.step] if self.step else [])]


def draw_rows(view: View, behind: Behind | str, state: Any, name: str) -> None:  # noqa: ANN401 - Streamlit's own type
    """Draw the rows behind the clicked mark of the chart `name`, which is in the address; nothing if none is."""
    mark = clicked(state)
    if isinstance(behind, str):
        if mark:
            st.info(behind)
        return
    mark = clicked_mark(name, mark and _in_the_marts(view, behind, mark))
    if mark is None:
        return
    mark = _in_the_marts(view, behind, mark)
    chosen, asked = [behind.where], dict(behind.asked)
    for number, (of, sql) in enumerate(behind.by.items()):
        # As text: an address may name anything, and a day that is none is no error.
        chosen.append(f"({sql})::varchar is not distinct from $mark_{number}")
        asked[f"mark_{number}"] = mark.get(of)
    if behind.step:
        step = behind.steps.get(mark.get(behind.step, ""))
        if step is None:
            st.info(MADE_UP)
            return
        chosen.append(step)
    condition = " and ".join(f"({one})" for one in chosen)
    rows = view.ask(
        f"select *, count(*) over () as all_rows from {behind.rows} where {condition} limit {MOST}", asked
    )
    if rows.is_empty():
        st.info("No row is behind this mark.")
        return
    number = view.words.number(rows.item(0, "all_rows"))
    note_people(view.config.audit, view.user, name, rows, named=False)
    table = view.named(
        rows.drop("all_rows", *(one for one in ("practice_name", "group_name") if one in rows.columns))
    )
    table = table.drop(one for one in table.columns if table.get_column(one).is_null().all())
    first = "" if len(rows) < MOST else f"; the first {MOST} are here"
    st.markdown(f"**{number} rows** are behind the mark{first}: {_said(view, mark)}.")
    st.dataframe(worded(table, *(one for one in table.columns if one in VALUED)), hide_index=True)
    download(table, f"rows-of-{name}")


def _in_the_marts(view: View, behind: Behind, mark: Mapping[str, Any]) -> dict[str, str]:
    """Return the values of a mark as the marts have them, as text; a field without a value is left out."""
    values = {of: _value(view, behind, sql, of, mark[of]) for of, sql in behind.by.items() if of in mark}
    if behind.step in mark:
        values[behind.step] = mark[behind.step]
    return {of: str(value) for of, value in values.items() if value is not None}


def _value(view: View, behind: Behind, sql: str, of: str, shown: Any) -> Any:  # noqa: ANN401 - any value
    """Return the value of the marts that a chart shows in words."""
    if sql == "practice_id":
        short = shortened([practice.name for practice in view.scope.chosen])
        named_so = (one.id for one in view.scope.chosen if shown in {one.id, one.name, short[one.name]})
        return next(named_so, shown)
    if not isinstance(shown, str):
        # The browser sends a day as milliseconds, of its own midnight or of that of UTC.
        is_day = isinstance(shown, int | float) and of in {"week", "day", "month"} and shown > MOST
        return _day(shown) if is_day else shown
    known = view.ask(f"select distinct ({sql}) as value from {behind.rows} where {behind.where}", behind.asked)
    values = known.get_column("value").to_list()
    return next((one for one in values if shown in {one, named(one if one is None else str(one))}), shown)


def _said(view: View, mark: Mapping[str, str]) -> str:
    """Return a mark in words: an address that somebody sent shows no click."""
    days = get_day_names("wide", locale=view.words.locale)
    words = {of: view.said("practice" if of == "practice_id" else of, value) for of, value in mark.items()}
    if mark.get("weekday") in {str(number + 1) for number in range(7)}:
        words["weekday"] = days[int(mark["weekday"]) - 1]
    return ", ".join(f"{label(of).lower()} {plain(text)}" for of, text in words.items()) or plain(named(None))


def _day(milliseconds: float) -> date:
    return (datetime.fromtimestamp(milliseconds / 1000, UTC) + timedelta(hours=12)).date()
