"""The parts of pages: charts with their table and definition."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

import polars as pl
import streamlit as st

from board.behind import MADE_UP, Behind, draw_rows
from board.charts import Chart, bars, clickable, localised, worded
from board.downloads import download
from board.published import MissingError
from board.view import Column, View
from board.words import NOTHING, VALUED, label


@contextmanager
def part(title: str | None = None) -> Generator[None]:
    """Draw a part of a page. If the file lacks a mart or column, one line says so, and the rest goes on."""
    if title:
        st.header(title, anchor=False)
    try:
        yield
    except MissingError as missing:
        st.warning(str(missing))


def draw_chart(  # noqa: PLR0913 - a chart, its words, and what leads on from it
    view: View,
    table: pl.DataFrame,
    chart: Chart | None,
    *,
    name: str,
    alt: str,
    defined_by: Sequence[Column],
    behind: Behind | str = MADE_UP,
    weekly: bool = False,
    empty: str | None = None,
) -> None:
    """Draw a chart, its table with a download named `name`, and its definition; `alt` describes the chart.

    A click on a mark shows the rows `behind` it, or this sentence about why there are none. `weekly`: the table
    has whole weeks alone.
    """
    if table.is_empty():
        st.info(empty or ("Nothing in the whole weeks of this period." if weekly else "Nothing in this period."))
        return
    if weekly:
        st.caption("Whole weeks, named by their Monday.")
    titles = [*(["Chart"] if chart else []), "Table", "What it counts"]
    tabs = dict(zip(titles, st.tabs(titles), strict=True))
    if chart:
        with tabs["Chart"]:
            fields = table.columns[:1] if isinstance(behind, str) else behind.fields
            drawn = localised(clickable(chart, fields), view.words)
            state = st.altair_chart(drawn, width="stretch", alt=alt, key=f"chart-{name}", on_select="rerun")
            draw_rows(view, behind, state, name)
    with tabs["Table"]:
        draw_list(table, alt, name)
    with tabs["What it counts"]:
        draw_definitions(view, defined_by)


def enough(view: View, table: pl.DataFrame, cases: str) -> pl.DataFrame:
    """Return the rows with enough `cases` for a chart of shares; a line says how many stay in the table alone."""
    is_enough = pl.col(cases) >= view.few
    few = table.filter(~is_enough).height
    if few:
        rows = view.words.count(few, "row", "rows")
        least = f"{view.few} {label(cases).lower()}"
        st.caption(f"The table has {rows} more with fewer than {least}, whose shares say little.")
    return table.filter(is_enough)


def draw_definitions(view: View, columns: Sequence[Column]) -> None:
    """Draw a line for each figure: what it counts."""
    for column in columns:
        st.markdown(f"**{label(column[1])}**: {view.define(column)}")


def draw_list(table: pl.DataFrame, alt: str, name: str) -> None:
    """Draw a table with a download named `name`: `online` is for tools, people read "Online booking"."""
    draw_table(worded(table, *(column for column in table.columns if column in VALUED)), alt)
    download(table, name)


def draw_by_value(view: View, table: pl.DataFrame, by: str, amount: str, **details: Any) -> None:  # noqa: ANN401 - as `draw_chart`
    """Draw a chart with a bar for each value of the column `by`."""
    draw_chart(view, table, bars(worded(table, by), amount, by), **details)


def draw_table(table: pl.DataFrame, alt: str) -> None:
    """Draw a table to sort and search; shares as percentages, numbers in the format of the reader's country."""
    if "phone_number" in table.columns:
        table = _with_dial(table)
    columns = {name: _column(name, table) for name in table.columns}
    # Streamlit shows up to two decimals of a percentage, so 75.84% would stand above 77.7%.
    table = table.with_columns(pl.col(name).round(3) for name in table.columns if _is_share(name))
    st.dataframe(table, hide_index=True, placeholder=NOTHING, column_config=columns, alt=alt)


def _with_dial(table: pl.DataFrame) -> pl.DataFrame:
    """Return the table with a link to dial beside each number: the text of a link itself would lose its "+"."""
    number = pl.col("phone_number")
    dial = pl.when(number.str.starts_with("+")).then("tel:" + number).alias("dial")
    place = table.columns.index("phone_number") + 1
    return table.select(*table.columns[:place], dial, *table.columns[place:])


def _is_share(name: str) -> bool:
    return name.endswith(("_rate", "share"))


def _column(name: str, table: pl.DataFrame) -> Any:  # noqa: ANN401 - Streamlit's own types
    title, kind = label(name), table.schema[name]
    if name == "dial":
        return st.column_config.LinkColumn(title, display_text=":material/call:", width="small")
    if _is_share(name):
        return st.column_config.NumberColumn(title, format="percent")
    if kind.is_numeric():
        return st.column_config.NumberColumn(title, format="localized")
    if kind == pl.Date:
        return st.column_config.DateColumn(title, format="localized")
    if isinstance(kind, pl.Datetime):
        return st.column_config.DatetimeColumn(title, format="localized")
    return st.column_config.Column(title)
