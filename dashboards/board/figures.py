"""Figures: a large number beside that of the period before, and whether the difference is more than chance."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import streamlit as st
from vetl.core.significance import Interval, count_interval, difference_interval, is_significant

from board.charts import localised, sparkline
from board.freshness import NAMED_AT_MOST
from board.view import Column, View
from board.words import plain

Better = Literal["more", "less", "neither"]
_COLOURS: dict[Better, Literal["normal", "inverse", "off"]] = {
    "more": "normal",
    "less": "inverse",
    "neither": "off",
}


@dataclass(frozen=True, slots=True)
class Figure:
    """A share (`part` of `whole`), or without `whole` a count or hours.

    `now` and `before` are the same sums of the practices that are in both periods: only these are compared.
    `window` names the days after which the figure changes no more, if it has such days. `weeks` are its values
    of the last closed weeks.
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
    weeks: Sequence[float] = ()

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
        """Whether the difference is significant."""
        return self.interval is not None and is_significant(self.interval)


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


def figures(view: View, tiles: Sequence[Figure]) -> None:
    """Draw a row of figures; on a phone two beside each other."""
    row = st.container(horizontal=True, key=f"figures-{tiles[0].label.lower().replace(' ', '-')}")
    for figure in tiles:
        with row.container(border=True):
            _figure(view, figure)
    _compared_with(view, tiles)


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
    if len(figure.weeks) > 1:
        says = f"{figure.label} by week, the last {len(figure.weeks)} weeks"
        st.altair_chart(localised(sparkline(figure.weeks), words), width="stretch", alt=says)
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


def _compared_with(view: View, tiles: Sequence[Figure]) -> None:
    """Draw the line under figures: the period before, the days and the practices that are left out."""
    scope, words = view.scope, view.words
    if not scope.lasting:
        st.caption("There is no earlier period to compare with.")
        return
    lines = [f"Compared with {words.days(*scope.before)}; without an arrow it may be chance."]
    new = [plain(practice.name) for practice in scope.practices if practice not in scope.lasting]
    if new:
        names = ", ".join(new[:NAMED_AT_MOST]) + (" and others" if len(new) > NAMED_AT_MOST else "")
        lines.append(f"The comparison leaves out {names}, whose data begins later.")
    if any(scope.closed_days(figure.window) < scope.days for figure in tiles if figure.window):
        lines.append(
            "A figure that names fewer days leaves out the newest, whose callers and clients may still be booked; "
            "it is compared with equally many days."
        )
    st.caption(" ".join(lines))
