"""What pages are made of: figures beside those of the period before, and charts with table and definition."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import polars as pl
import streamlit as st

from board.charts import Chart, localised
from board.published import MissingError, Published
from board.scope import Scope
from board.words import FEW, NOTHING, Words

_COLOURS: dict[str, Literal["normal", "inverse", "off"]] = {"more": "normal", "less": "inverse", "neither": "off"}

Column = tuple[str, str]
"""A mart and one of its columns: what a figure is defined by."""


@dataclass(frozen=True, slots=True)
class View:
    """What a page is drawn from."""

    file: Published
    scope: Scope
    words: Words

    def define(self, column: Column) -> str:
        """The catalogue's words for a figure, and where it stands."""
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
    better: Literal["more", "less", "neither"] = "more"
    of: str = ""
    is_hours: bool = False


@contextmanager
def part(title: str | None = None) -> Generator[None]:
    """A part of a page. Where the file lacks what it needs, one line says so, and the rest goes on."""
    if title:
        st.subheader(title, anchor=False)
    try:
        yield
    except MissingError as missing:
        st.warning(str(missing))


def figures(view: View, shown: Sequence[Figure]) -> None:
    """A row of figures; on a phone one below the other."""
    row = st.container(horizontal=True, key=f"figures-{shown[0].label.lower().replace(' ', '-')}")
    for figure in shown:
        with row.container(border=True, width=168):
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
    """A chart, its table with a download, and what it counts. `name` is the file's, `says` for who cannot see."""
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
            st.markdown(f"**{column[1].replace('_', ' ').capitalize()}**: {view.define(column)}")


def listed(table: pl.DataFrame, says: str) -> None:
    """A table to sort and to look through; shares as percentages, the rest as the reader's country writes it."""
    columns = {name: _column(name, table) for name in table.columns}
    st.dataframe(table, hide_index=True, placeholder=NOTHING, column_config=columns, alt=says)


def _column(name: str, table: pl.DataFrame) -> Any:  # noqa: ANN401 - Streamlit's own types
    label, kind = name.replace("_", " ").capitalize(), table.schema[name]
    if name.endswith(("_rate", "share")):
        return st.column_config.NumberColumn(label, format="percent")
    if kind.is_numeric():
        return st.column_config.NumberColumn(label, format="localized")
    if kind == pl.Date:
        return st.column_config.DateColumn(label, format="localized")
    if isinstance(kind, pl.Datetime):
        return st.column_config.DatetimeColumn(label, format="localized")
    return st.column_config.Column(label)


def download(table: pl.DataFrame, name: str) -> None:
    """A CSV that a spreadsheet opens without running anything in it."""
    st.download_button(
        "Download CSV",
        lambda: harmless(table).write_csv().encode("utf-8-sig"),
        f"{name}.csv",
        "text/csv",
        key=f"download-{name}",
        on_click="ignore",
    )


def harmless(table: pl.DataFrame) -> pl.DataFrame:
    """The same rows, with an apostrophe before text that a spreadsheet would take for a formula."""
    texts = [name for name, kind in table.schema.items() if kind == pl.String]
    return table.with_columns(
        pl.when(pl.col(name).str.contains(r"^[=+\-@\t\r]") & ~pl.col(name).str.contains(r"^\+[\d ()-]+$"))
        .then("'" + pl.col(name))
        .otherwise(pl.col(name))
        .alias(name)
        for name in texts
    )
