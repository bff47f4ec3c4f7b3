"""Filters and the address of a page. The address holds ids, and an address opens the same view.

Streamlit's own binding writes labels, drops values that it does not know in silence, and forgets the filters of a
page that was left. Here the filters of every page are kept for the tab, and the address is written after each run.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Literal
from urllib.parse import parse_qsl, urlencode

import streamlit as st

from board.words import plain

CLICKED = "clicked"
"""The name of the clicked marks in the address, of each chart one: `visits-weeks?week=2026-01-05`."""
_ON_ITS_WAY = 2.0
"""Seconds in which a choice may come with the address before the one that was written."""
_SHOWN = "marks_shown"
"""The marks that the browser shows as clicked, by chart."""


@dataclass(slots=True)
class Address:
    """The values of all filters of this tab, under the names that stand in the address.

    `opened` is the address if it was opened in this run, and `None` if the filters changed by hand or another page
    was opened by the navigation. `of_page` are the values of the filters of this page.
    """

    kept: dict[str, list[str]]
    opened: dict[str, list[str]] | None
    of_page: dict[str, list[str]] = field(default_factory=dict)
    drawn: set[str] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)
    is_link: bool = False
    """Whether a link on this same page opened it: then the browser does not show the address by itself."""

    def values(self, name: str) -> list[str]:
        """Return the values of a filter: of an opened address, else of the page, else the kept ones."""
        self.drawn.add(name)
        if self.opened is not None:
            return self.opened.get(name, [])
        if name not in st.session_state:
            return self.kept.get(name, [])
        chosen = st.session_state[name]
        several = chosen if isinstance(chosen, list) else [chosen]
        return [str(one) for one in several if one is not None]

    def keep(self, name: str, values: Sequence[str]) -> None:
        """Keep the values of a filter; no values are the usual ones, which the address leaves out."""
        self.kept[name] = list(values)
        if values:
            self.of_page[name] = list(values)

    def refuse(self, label: str, value: str) -> None:
        """Note a value that cannot be shown."""
        self.notes.append(f"The address names “{plain(value)}” for {label}, which cannot be shown here.")


def follow(page: str) -> Address:
    """Return the address of this run. The navigation opens a page without filters: then the kept ones count."""
    state = st.session_state
    now = _now()
    has_moved = state.get("address_page") != page
    seen = state.get("address_seen", [])
    if time.monotonic() - state.get("address_written", 0.0) > _ON_ITS_WAY:
        seen = seen[:1]  # the browser has had the new address for long: an earlier one is its button Back
    is_opened = now not in seen and (bool(now) or not has_moved)
    before: Address | None = state.get("address")
    state.address = Address(before.kept if before else {}, now if is_opened else None)
    state.address.is_link = is_opened and not has_moved and before is not None
    state.address_page = page
    if has_moved:  # Streamlit forgets the clicks of a page that was left; the address keeps them
        state[_SHOWN] = {}
    return state.address


def write(address: Address) -> list[str]:
    """Write the address of the shown view. Return what the opened address named and the page cannot show."""
    opened = address.opened or {}
    unknown = [name for name in opened if name not in address.drawn]
    for mark in opened.get(CLICKED, []):
        if mark not in address.of_page.get(CLICKED, []) and CLICKED in address.drawn:
            address.refuse("a mark", mark)
    address.notes += [f"This page has no filter “{plain(name)}”: it is not applied." for name in unknown]
    # A choice that is made before the browser has the new address comes with the old one: nobody opened that.
    st.session_state.address_seen = [dict(address.of_page), _now()]
    st.session_state.address_written = time.monotonic()
    if address.of_page != _now() or address.is_link:
        st.query_params.from_dict(address.of_page)
    return address.notes


def _now() -> dict[str, list[str]]:
    return {name: st.query_params.get_all(name) for name in st.query_params}


def _current() -> Address:
    return st.session_state.address


def pick(
    name: str,
    label: str,
    options: Mapping[str, str],
    *,
    usual: str | None = None,
    empty: str = "All",
    width: int | Literal["stretch"] = "stretch",
) -> str | None:
    """Choose one of `options`, which are labels by id; `usual` is the choice of an address without the filter."""
    _take_over(name, label, options, usual)
    chosen = st.selectbox(
        label, list(options), None, options.__getitem__, key=name, placeholder=empty, width=width
    )
    _current().keep(name, [chosen] if chosen and chosen != usual else [])
    return chosen


def pick_at_once(name: str, label: str, options: Mapping[str, str], *, usual: str) -> str:
    """Choose one of a few options that are all in sight."""
    _take_over(name, label, options, usual)
    chosen = st.segmented_control(
        label,
        list(options),
        format_func=options.__getitem__,
        key=name,
        required=True,
        label_visibility="collapsed",
    )
    _current().keep(name, [chosen] if chosen and chosen != usual else [])
    return chosen or usual


def pick_several(name: str, label: str, options: Mapping[str, str]) -> list[str]:
    """Choose any number of `options`, which are labels by id."""
    address = _current()
    values = address.values(name)
    for value in values:
        if value not in options:
            address.refuse(label.lower(), value)
    st.session_state[name] = [value for value in values if value in options]
    chosen = st.multiselect(label, list(options), key=name, placeholder="All", format_func=options.__getitem__)
    address.keep(name, chosen)
    return chosen


def pick_day(name: str, label: str, usual: date, first: date, last: date) -> date:
    """Choose a day; a day outside of `first` to `last` is said."""
    address = _current()
    values = address.values(name)
    day = _day(values[-1]) if values else usual
    if day is None or not first <= day <= last:
        address.refuse(f"“{label}”", values[-1])
        day = usual
    st.session_state[name] = day
    chosen = st.date_input(label, None, first, last, key=name, format="YYYY-MM-DD")
    picked = chosen if isinstance(chosen, date) else usual
    address.keep(name, [str(picked)])
    return picked


def pick_number(name: str, label: str, least: int, most: int) -> int:
    """Choose a number; the least is the usual one."""
    address = _current()
    text = (address.values(name) or [str(least)])[-1]
    is_known = text.isdecimal() and least <= int(text) <= most
    if not is_known:
        address.refuse(f"“{label}”", text)
    st.session_state[name] = int(text) if is_known else least
    chosen = int(st.number_input(label, least, most, key=name))
    address.keep(name, [str(chosen)] if chosen != least else [])
    return chosen


def held(name: str) -> list[str]:
    """Return the values of a filter that no widget shows; `hold` sets them from a click."""
    values = list(_current().values(name))
    hold(name, values)
    return values


def hold(name: str, values: Sequence[str]) -> None:
    """Set the values of a filter that no widget shows."""
    st.session_state[name] = list(values)
    _current().keep(name, values)


def clicked_mark(chart: str, mark: Mapping[str, str] | None) -> dict[str, str] | None:
    """Return the clicked mark of a chart: the one in the browser if it changed, else that of the address."""
    address = _current()
    address.drawn.add(CLICKED)
    own = f"{chart}?"
    marks = address.kept.get(CLICKED, []) if address.opened is None else address.opened.get(CLICKED, [])
    clicked = [one for one in marks if one.startswith(own)][-1:]
    shown, now = st.session_state.setdefault(_SHOWN, {}), f"{own}{urlencode(mark)}" if mark else ""
    if now != shown.get(chart, ""):
        shown[chart], clicked = now, [now] if now else []
    others = [one for one in address.kept.get(CLICKED, []) if not one.startswith(own)]
    address.kept[CLICKED] = [*others, *clicked]
    if clicked:
        address.of_page.setdefault(CLICKED, []).extend(clicked)
    return dict(parse_qsl(clicked[0].removeprefix(own), keep_blank_values=True)) if clicked else None


def shown_address() -> str:
    """Return the filters of the page as they stand in its address."""
    return urlencode(_current().of_page, doseq=True)


def refuse(label: str, value: str) -> None:
    """Note a value that cannot be shown."""
    _current().refuse(label, value)


def _take_over(name: str, label: str, options: Mapping[str, str], usual: str | None) -> None:
    """Set the value of a widget from the address, or from the page that was left."""
    address = _current()
    values = address.values(name)
    found = values[-1] if values else usual
    if values and found not in options:
        address.refuse(label.lower(), values[-1])
        found = usual
    st.session_state[name] = found


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None
