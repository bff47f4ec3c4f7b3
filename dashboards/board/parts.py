"""The parts of pages: figures beside those of the period before, and charts with table and definition."""

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import polars as pl
import streamlit as st

from board.charts import Chart, bars, localised, worded
from board.downloads import download
from board.published import MissingError, Published
from board.scope import Scope
from board.words import FEW, NOTHING, Words, label

Better = Literal["more", "less", "neither"]
_COLOURS: dict[Better, Literal["normal", "inverse", "off"]] = {
    "more": "normal",
    "less": "inverse",
    "neither": "off",
}

Column = tuple[str, str]
"""A mart and one of its columns: the definition of a figure."""


@dataclass(frozen=True, slots=True)
class View:
    """The file, the scope and the words that a page is drawn from."""

    file: Published
    scope: Scope
    words: Words

    def ask(self, sql: str, *, before: bool = False) -> pl.DataFrame:
        """Return a statement's rows; it may use `$practices`, `$since`, `$until` and `$channel`.

        Raises:
            MissingError: The file has no such mart or column.
        """
        days = self.scope.earlier if before else self.scope.parameters
        parameters = {**days, "channel": self.scope.channel}
        return self.file.ask(sql, **{name: value for name, value in parameters.items() if f"${name}" in sql})

    def define(self, column: Column) -> str:
        """Return the catalogue's words for a figure, and its mart and column."""
        text = self.file.definitions().get(column, "This file does not say what it counts.")
        return f"{' '.join(text.split())}  \n`marts.{column[0]}.{column[1]}`"


@dataclass(frozen=True, slots=True)
class Figure:
    """A share (`part` of `whole`), or without `whole` a count or hours; now and in the period before."""

    label: str
    defined_by: Column
    part: float | None
    whole: int | None = None
    part_before: float | None = None
    whole_before: int | None = None
    better: Better = "more"
    of: str = ""
    is_hours: bool = False


@dataclass(frozen=True, slots=True)
class Compared:
    """The sums of a statement in the period and in the period before; figures are made of them."""

    mart: str
    now: Mapping[str, Any]
    before: Mapping[str, Any]

    def count(
        self, name: str, total: str, of: str, *, better: Better = "neither", by: str = "", is_hours: bool = False
    ) -> Figure:
        """Return the sum `total` as a figure; `by` is the column of its definition, if it has another name."""
        now = self.now[total] if is_hours else self.now[total] or 0
        defined_by = (self.mart, by or total)
        return Figure(name, defined_by, now, None, self.before[total], better=better, of=of, is_hours=is_hours)

    def share(self, name: str, some: str, whole: str, of: str, *, better: Better = "more", by: str = "") -> Figure:
        """Return the sum `some` of the sum `whole` as a figure."""
        sums = (self.now[some] or 0, self.now[whole] or 0, self.before[some], self.before[whole])
        return Figure(name, (self.mart, by or some), *sums, better=better, of=of)


def compared(view: View, mart: str, sql: str) -> Compared:
    """Return the one row of a statement, for the period and for the period before."""
    now, before = (view.ask(sql, before=earlier).row(0, named=True) for earlier in (False, True))
    return Compared(mart, now, before)


@contextmanager
def part(title: str | None = None) -> Generator[None]:
    """Draw a part of a page. If the file lacks a mart or column, one line says so, and the rest goes on."""
    if title:
        st.header(title, anchor=False)
    try:
        yield
    except MissingError as missing:
        st.warning(str(missing))


def figures(view: View, shown: Sequence[Figure]) -> None:
    """Draw a row of figures; on a phone two beside each other."""
    row = st.container(horizontal=True, key=f"figures-{shown[0].label.lower().replace(' ', '-')}")
    for figure in shown:
        with row.container(border=True):
            _figure(view, figure)


def _figure(view: View, figure: Figure) -> None:
    words = view.words
    is_share = figure.whole is not None
    value = _share(figure.part, figure.whole) if is_share else figure.part
    before = _share(figure.part_before, figure.whole_before) if is_share else figure.part_before
    wording = words.percent if is_share else words.hours if figure.is_hours else words.number
    delta = None
    if value is not None and before is not None and view.scope.has_before:
        delta = (
            words.points(value - before)
            if is_share
            else words.signed(value - before, "h" if figure.is_hours else "")
        )
    st.metric(
        figure.label,
        wording(value),
        delta,
        _COLOURS[figure.better],
        help=view.define(figure.defined_by),
    )
    basis = f"{words.number(figure.part)} of {words.number(figure.whole)} {figure.of}" if is_share else figure.of
    few = is_share and (figure.whole or 0) < FEW
    st.caption(f"{basis} · **few: says little**" if few else basis)


def _share(part_of: float | None, whole: int | None) -> float | None:
    return part_of / whole if part_of is not None and whole else None


def shown(
    view: View,
    table: pl.DataFrame,
    chart: Chart | None,
    *,
    name: str,
    says: str,
    defined_by: Sequence[Column],
    empty: str = "Nothing in this period.",
) -> None:
    """Draw a chart, its table with a download, and its definition. `name` is the file's, `says` is its caption."""
    if table.is_empty():
        st.info(empty)
        return
    titles = [*(["Chart"] if chart else []), "Table", "What it counts"]
    tabs = dict(zip(titles, st.tabs(titles), strict=True))
    if chart:
        with tabs["Chart"]:
            st.altair_chart(localised(chart, view.words), width="stretch", alt=says)
    with tabs["Table"]:
        listed(table, says)
        download(table, name)
    with tabs["What it counts"]:
        for column in defined_by:
            st.markdown(f"**{label(column[1])}**: {view.define(column)}")


def by_value(view: View, table: pl.DataFrame, by: str, amount: str, **said: Any) -> None:  # noqa: ANN401 - as `shown`
    """Draw `shown` with a bar for each value of the column `by`."""
    shown(view, table, bars(worded(table, by), amount, by), **said)


def listed(table: pl.DataFrame, says: str) -> None:
    """Draw a table to sort and search; shares as percentages, numbers in the format of the reader's country."""
    columns = {name: _column(name, table) for name in table.columns}
    st.dataframe(table, hide_index=True, placeholder=NOTHING, column_config=columns, alt=says)


def _column(name: str, table: pl.DataFrame) -> Any:  # noqa: ANN401 - Streamlit's own types
    title, kind = label(name), table.schema[name]
    if name.endswith(("_rate", "share")):
        return st.column_config.NumberColumn(title, format="percent")
    if kind.is_numeric():
        return st.column_config.NumberColumn(title, format="localized")
    if kind == pl.Date:
        return st.column_config.DateColumn(title, format="localized")
    if isinstance(kind, pl.Datetime):
        return st.column_config.DatetimeColumn(title, format="localized")
    return st.column_config.Column(title)
