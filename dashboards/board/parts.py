"""The parts of pages: figures beside those of the period before, and charts with table and definition."""

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

import polars as pl
import streamlit as st

from board.charts import Chart, bars, localised, shortened, worded
from board.downloads import download
from board.freshness import NAMED_AT_MOST
from board.published import REBUILD, MissingError, Published
from board.scope import Scope
from board.words import FEW, NOTHING, VALUED, Words, label
from pipelines.core.errors import WrongUse
from pipelines.core.noise import Interval, count_interval, difference_interval, is_more_than_noise
from pipelines.loading.published.figures.ask import MetricQuestion

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
    """The file, the scope and the words of a page; who looks, the log of people shown, the ledger of `[watch]`."""

    file: Published
    scope: Scope
    words: Words
    audit: Path | None = None
    user: str = ""
    watch: Path | None = None

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

    def define(self, column: Column) -> str:
        """Return the catalogue's words for a figure, and its mart and column."""
        text = self.file.definitions().get(column, "This file does not say what it counts.")
        named = f"`marts.{column[0]}.{column[1]}`"
        return f"{' '.join(text.split())}  \n{named}{self._link(column)}"

    def _link(self, column: Column) -> str:
        """Return a link to the rows behind a figure in this period; none if the file does not declare them."""
        if column not in explained_columns(self):
            return ""
        days = f"period=own&from={self.scope.since}&to={self.scope.until}"
        practices = "".join(f"&practice={quote(practice.id)}" for practice in self.scope.practices)
        return f" [rows behind it](rows?{days}{practices}&figure={column[0]}.{column[1]})"

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
            """select table_name, column_name from marts.catalogue
               where counting is not null or counted_as in (select metric from marts.metrics) order by all"""
        )
    except MissingError:
        return []
    return [(mart, column) for mart, column in rows.iter_rows()]


@dataclass(frozen=True, slots=True)
class Figure:
    """A share (`part` of `whole`), or without `whole` a count or hours.

    `now` and `before` are the same sums of the practices that are in both periods: only these are compared.
    `window` names the days after which the figure changes no more, if it has such days.
    """

    label: str
    defined_by: Column
    part: float | None
    whole: int | None = None
    now: tuple[float | None, int | None] = (None, None)
    before: tuple[float | None, int | None] = (None, None)
    better: Better = "more"
    of: str = ""
    is_hours: bool = False
    window: str | None = None

    @property
    def difference(self) -> float | None:
        """The difference to the period before: of shares, of counts or of hours."""
        if self.whole is None:
            now, before = self.now[0], self.before[0]
        else:
            now, before = (
                part_of / whole if part_of is not None and whole else None
                for part_of, whole in (self.now, self.before)
            )
        return None if now is None or before is None else now - before

    @property
    def interval(self) -> Interval | None:
        """The 95 % interval of the difference; a median has none here."""
        if self.difference is None or self.is_hours:
            return None
        (part_of, whole), (part_before, whole_before) = self.now, self.before
        if whole is None or whole_before is None:
            return count_interval(part_of or 0, part_before or 0)
        return difference_interval(part_of or 0, whole, part_before or 0, whole_before)

    @property
    def is_change(self) -> bool:
        """Whether the difference is more than noise."""
        return self.interval is not None and is_more_than_noise(self.interval)


Sums = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Compared:
    """The sums of a statement: of all practices, and of the lasting ones now and before."""

    mart: str
    all: Sums
    now: Sums
    before: Sums

    def count(
        self,
        name: str,
        total: str,
        of: str,
        *,
        better: Better = "neither",
        by: str = "",
        is_hours: bool = False,
        window: str | None = None,
    ) -> Figure:
        """Return the sum `total` as a figure; `by` is the column of its definition, if it has another name."""
        return Figure(
            name,
            (self.mart, by or total),
            self.all[total] if is_hours else self.all[total] or 0,
            None,
            now=(self.now[total], None),
            before=(self.before[total], None),
            better=better,
            of=of,
            is_hours=is_hours,
            window=window,
        )

    def share(
        self,
        name: str,
        some: str,
        whole: str,
        of: str,
        *,
        better: Better = "more",
        by: str = "",
        window: str | None = None,
    ) -> Figure:
        """Return the sum `some` of the sum `whole` as a figure."""
        return Figure(
            name,
            (self.mart, by or some),
            self.all[some] or 0,
            self.all[whole] or 0,
            now=(self.now[some], self.now[whole]),
            before=(self.before[some], self.before[whole]),
            better=better,
            of=of,
            window=window,
        )


def compared(view: View, mart: str, sql: str, more: Mapping[str, Any] | None = None) -> Compared:
    """Return the one row of a statement, for all practices, and for the lasting ones now and before."""
    whole, now, before = (
        view.ask(sql, more, before=is_before, lasting=lasting).row(0, named=True)
        for is_before, lasting in ((False, False), (False, True), (True, True))
    )
    return Compared(mart, whole, now, before)


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
    _compared_with(view, shown)


def _figure(view: View, figure: Figure) -> None:
    words = view.words
    closed = view.scope.closed_days(figure.window) if figure.window else view.scope.days
    is_share = figure.whole is not None
    value = figure.part
    if is_share:
        value = (figure.part or 0) / figure.whole if figure.whole else None
    wording = words.percent if is_share else words.hours if figure.is_hours else words.number
    delta, chance = (_delta(view, figure) if closed and view.scope.lasting else None), not figure.is_change
    st.metric(
        figure.label,
        wording(value if closed else None),
        delta,
        "off" if chance else _COLOURS[figure.better],
        help=_help(view, figure, shows_change=bool(delta)),
        delta_arrow="off" if chance else "auto",
    )
    st.caption(_basis(view, figure, closed))


def _delta(view: View, figure: Figure) -> str | None:
    words, difference = view.words, figure.difference
    if difference is None:
        return None
    is_share = figure.whole is not None
    if not round(difference * 100 if is_share else difference, 1):
        return "no change"
    return words.points(difference) if is_share else words.signed(difference, "h" * figure.is_hours)


def _help(view: View, figure: Figure, *, shows_change: bool) -> str:
    text = view.define(figure.defined_by)
    if not shows_change or figure.interval is None:
        return text
    words = view.words
    low, high = ((words.points if figure.whole is not None else words.signed)(end) for end in figure.interval)
    return f"{text}  \nThe change lies between {low} and {high} (95 times of 100)."


def _basis(view: View, figure: Figure, closed: int) -> str:
    """Return a figure's cases, and the days that are left out because they may still change."""
    words, days = view.words, view.scope.days
    if not closed:
        return f"no day is {view.scope.windows[figure.window or '']} days old yet"
    basis = [figure.of]
    if figure.whole is not None:
        basis = [f"{words.number(figure.part)} of {words.number(figure.whole)} {figure.of}"]
        if not figure.whole:
            basis = [f"none of the {figure.of}" if figure.of.startswith("the ") else f"no {figure.of} here"]
        elif figure.whole < view.few:
            basis.append("**few: says little**")
    if closed < days:
        basis.append(f"{words.number(closed)} of {words.number(days)} days")
    return " \u00b7 ".join(basis)


def _compared_with(view: View, shown: Sequence[Figure]) -> None:
    """Draw the line under figures: the period before, the days and the practices that are left out."""
    scope, words = view.scope, view.words
    if not scope.lasting:
        st.caption("There is no earlier period to compare with.")
        return
    lines = [f"Compared with {words.days(*scope.before)}; without an arrow it may be chance."]
    new = [practice.name for practice in scope.practices if practice not in scope.lasting]
    if new:
        names = ", ".join(new[:NAMED_AT_MOST]) + (" and others" if len(new) > NAMED_AT_MOST else "")
        lines.append(f"The comparison leaves out {names}, whose data begins later.")
    if any(scope.closed_days(figure.window) < scope.days for figure in shown if figure.window):
        lines.append(
            "A figure that names fewer days leaves out the newest, whose callers and clients may still be booked; "
            "it is compared with equally many days."
        )
    st.caption(" ".join(lines))


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
        listed(worded(table, *_valued(table)), says)
        download(table, name)
    with tabs["What it counts"]:
        for column in defined_by:
            st.markdown(f"**{label(column[1])}**: {view.define(column)}")


def enough(view: View, table: pl.DataFrame, cases: str) -> pl.DataFrame:
    """Return the rows with enough `cases` for a chart of shares; a line says how many stay in the table alone."""
    is_enough = pl.col(cases) >= view.few
    few = table.filter(~is_enough).height
    if few:
        least = f"{view.few} {label(cases).lower()}"
        st.caption(f"{few} with fewer than {least} are in the table alone: their shares say little.")
    return table.filter(is_enough)


def _valued(table: pl.DataFrame) -> list[str]:
    """Return the columns with values of the marts: `session` is for tools, people read "Online booking"."""
    return [name for name in table.columns if name in VALUED]


def by_value(view: View, table: pl.DataFrame, by: str, amount: str, **said: Any) -> None:  # noqa: ANN401 - as `shown`
    """Draw `shown` with a bar for each value of the column `by`."""
    shown(view, table, bars(worded(table, by), amount, by), **said)


def listed(table: pl.DataFrame, says: str) -> None:
    """Draw a table to sort and search; shares as percentages, numbers in the format of the reader's country."""
    columns = {name: _column(name, table) for name in table.columns}
    # Streamlit shows up to two decimals of a percentage, so 75.84% would stand above 77.7%.
    table = table.with_columns(pl.col(name).round(3) for name in table.columns if _is_share(name))
    st.dataframe(table, hide_index=True, placeholder=NOTHING, column_config=columns, alt=says)


def _is_share(name: str) -> bool:
    return name.endswith(("_rate", "share"))


def _column(name: str, table: pl.DataFrame) -> Any:  # noqa: ANN401 - Streamlit's own types
    title, kind = label(name), table.schema[name]
    if _is_share(name):
        return st.column_config.NumberColumn(title, format="percent")
    if kind.is_numeric():
        return st.column_config.NumberColumn(title, format="localized")
    if kind == pl.Date:
        return st.column_config.DateColumn(title, format="localized")
    if isinstance(kind, pl.Datetime):
        return st.column_config.DatetimeColumn(title, format="localized")
    return st.column_config.Column(title)
