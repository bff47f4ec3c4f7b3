"""The parts of pages: charts with their table and definition, and the view that they are drawn from."""

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import date
from typing import Any
from urllib.parse import quote

import polars as pl
import streamlit as st
from vetl.core.errors import WrongUse
from vetl.core.published_file import schema_of
from vetl.figures.ask import MetricQuestion

from board.behind import MADE_UP, Behind, draw_rows
from board.charts import Chart, bars, clickable, localised, shortened, worded
from board.config import Config
from board.downloads import download
from board.published import REBUILD, MissingError, Published
from board.scope import Scope
from board.words import FEW, NOTHING, VALUED, Words, label, named, without_code

Column = tuple[str, str]
"""A mart and one of its columns: the definition of a figure."""

NULL = "null"
"""The value of a dimension in comparisons, if rows have none."""


@dataclass(frozen=True, slots=True)
class View:
    """The file, the scope and the words of a page, the settings, and who looks."""

    file: Published
    scope: Scope
    words: Words
    config: Config
    user: str
    for_managers: bool

    def ask(
        self, sql: str, more: Mapping[str, Any] | None = None, *, before: bool = False, lasting: bool = False
    ) -> pl.DataFrame:
        """Return a statement's rows; it may use the parameters of the scope, and `more`.

        Raises:
            MissingError: The file has no such mart or column.
        """
        parameters = {**self.scope.parameters(before=before, lasting=lasting), **(more or {})}
        return self.file.ask(sql, **{name: value for name, value in parameters.items() if f"${name}" in sql})

    def rates(
        self, metric: str, where: Sequence[str] = (), window: str | None = None, *, before: bool = False
    ) -> dict[str, tuple[int, int]]:
        """Return the two counts of a rate by practice, as `vetl metric` counts them; of the days of a window.

        Raises:
            MissingError: The file has no such metric.
        """
        days, prefix = self.scope.parameters(before=before), f"{window}_" if window else ""
        question = MetricQuestion(
            metric,
            ("practice",),
            where,
            days[f"{prefix}since"],
            days[f"{prefix}until"],
            practices=days["practices"],
        )
        try:
            rows = self.file.metric(question).rows
        except WrongUse:
            raise MissingError(
                f"This file has no metric `{metric}`: an older vetl published it. {REBUILD}"
            ) from None
        return {row[0]: (int(row[1] or 0), int(row[2] or 0)) for row in rows}

    def define(self, column: Column, *, links: bool = True) -> str:
        """Return the catalogue's words for a figure; for analysts its mart and column, too."""
        link = self._link(column) if links else ""
        text = self.file.definitions().get(column, "This file does not say what it counts.")
        if self.for_managers:
            return f"{without_code(' '.join(text.split()))}{link}"
        named = f"`{schema_of(column[0])}.{column[0]}.{column[1]}`"
        return f"{' '.join(text.split())}  \n{named}{link}"

    def _link(self, column: Column) -> str:
        """Return a link to the rows behind a figure in this period; none if the file does not declare them."""
        if column not in explained_columns(self):
            return ""
        days = f"period=own&from={self.scope.since}&to={self.scope.until}"
        practices = "".join(f"&practice={quote(practice.id)}" for practice in self.scope.practices)
        return f" [rows behind it](rows?{days}{practices}&figure={column[0]}.{column[1]})"

    def said(self, dimension: str, value: str) -> str:
        """Return a value of a dimension in words."""
        if dimension == "practice":
            return next((practice.name for practice in self.scope.chosen if practice.id == value), value)
        with suppress(ValueError):
            return self.words.day(date.fromisoformat(value))
        return named(None if value == NULL else value)

    def named(self, table: pl.DataFrame) -> pl.DataFrame:
        """Return a table by `practice_id` with the practice's own name in the first column instead."""
        names = {practice.id: practice.name for practice in self.scope.chosen}
        name = pl.col("practice_id").replace_strict(names, default=None, return_dtype=pl.String).alias("practice")
        return table.select(name, pl.exclude("practice_id"))

    def short(self, table: pl.DataFrame) -> pl.DataFrame:
        """Return a table with names of practices that fit beside a chart."""
        short = shortened([practice.name for practice in self.scope.chosen])
        return table.with_columns(pl.col("practice").replace(short))

    @property
    def few(self) -> int:
        """The number of cases below which a share says little: `[definitions] small_sample`."""
        return self.file.setting("small_sample", FEW)


def explained_columns(view: View) -> list[Column]:
    """Return the marts and columns whose rows the file declares; none if an older vetl published it."""
    try:
        rows = view.file.ask(
            """select table_name, column_name from meta.catalogue
               where counting is not null or counted_as in (select metric from meta.metrics) order by all"""
        )
    except MissingError:
        return []
    return [(mart, column) for mart, column in rows.iter_rows()]


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
    empty: str = "Nothing in this period.",
) -> None:
    """Draw a chart, its table with a download named `name`, and its definition; `alt` describes the chart.

    A click on a mark shows the rows `behind` it, or this sentence about why there are none.
    """
    if table.is_empty():
        st.info(empty)
        return
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
        least = f"{view.few} {label(cases).lower()}"
        st.caption(f"{few} with fewer than {least} are in the table alone: their shares say little.")
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
