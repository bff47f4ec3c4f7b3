"""The shapes of charts. Colours come from the theme, so they are readable in light and in dark."""

from collections.abc import Sequence
from datetime import date
from typing import Any

import altair as alt
import polars as pl
import streamlit as st
from babel.dates import get_day_names, get_month_names

from board.words import Words, label, named

Chart = alt.Chart | alt.LayerChart | alt.FacetChart
HEIGHT = 200
_SMALL = 40
_PLOT_KEEPS_ITS_HEIGHT = alt.AutoSizeParams(type="fit-x", contains="padding")
"""A legend of four lines on a phone would leave 40 pixels for the plot."""
_BAR = 26
_TEXT = {"light": "#4a5552", "dark": "#b9c6c1"}
"""The colour of words on a chart: at least 7 to 1; Streamlit's own is 3.7 to 1."""

_BAND = "#8a9994"
"""The colour of a band, which is seen on white and on black."""

_LEGEND = alt.Legend(
    orient="top", title=None, columns=alt.ExprRef("width < 300 ? 1 : width < 520 ? 2 : 8"), labelLimit=240
)
"""One name or two a line on a phone, because one line would be cut."""

_NAMES = alt.Axis(labelLimit=alt.ExprRef("containerSize()[0] < 500 ? 150 : 240"))
"""Names beside bars take less than half of a phone, so that the bars have the rest."""
_LONGEST_NAME = 26


def shortened(names: Sequence[str]) -> dict[str, str]:
    """Return a short name for each name, without its middle: names of many practices differ at their end."""
    half = (_LONGEST_NAME - 1) // 2
    short = {
        name: f"{name[:half].rstrip()}\u2026{name[-half:].lstrip()}" if len(name) > _LONGEST_NAME else name
        for name in names
    }
    taken = list(short.values())
    return {name: text if taken.count(text) == 1 else name for name, text in short.items()}


_FORTNIGHT = 14
ON = "on"
"""The column that says what a mark of Explore stands for. It is not shown; a click on the mark returns it."""
_MARK = "mark"


def clickable(chart: Chart, fields: Sequence[str]) -> Chart:
    """Return the chart with marks that can be clicked; a click returns these fields. Chosen marks stand out."""
    point = alt.selection_point(name=_MARK, fields=list(fields))
    if not isinstance(chart, alt.LayerChart):
        return chart.add_params(point)
    layers = list(chart.layer)
    # Lines and texts are no marks of one row each.
    place = next(n for n, one in enumerate(layers) if getattr(one.mark, "type", one.mark) in {"bar", "point"})
    chosen = alt.condition("datum.is_chosen === false", alt.value(0.4), alt.value(1))
    layers[place] = layers[place].add_params(point).encode(opacity=chosen)
    chart = chart.copy()
    chart.layer = layers
    return chart


def clicked(state: Any) -> dict[str, Any] | None:  # noqa: ANN401 - Streamlit's own type
    """Return the fields of the clicked mark; `None` if a click chose nothing."""
    marks = state.selection.get(_MARK) if state else None
    return marks[0] if marks else None


def _ticks(values: pl.Series, *, share: bool) -> dict[str, Any]:
    """Return the ticks of an axis, with as many decimals as they need: counts have none between whole numbers."""
    if share:
        return {"tickCount": 6, "format": "~%"}
    return {"tickCount": 6} if values.dtype.is_float() else {"tickCount": 6, "tickMinStep": 1}


def worded(table: pl.DataFrame, *columns: str) -> pl.DataFrame:
    """Replace values of the marts by words for people."""
    return table.with_columns(pl.col(name).map_elements(named, pl.String, skip_nulls=False) for name in columns)


def by_measure(table: pl.DataFrame, by: str, measures: Sequence[str], step: str, amount: str) -> pl.DataFrame:
    """Return one row for each of `by` and each measure: its label in `step`, its value in `amount`."""
    long = table.select(by, *measures).unpivot(index=by, variable_name=step, value_name=amount)
    return long.with_columns(pl.col(step).replace_strict({name: label(name) for name in measures}))


def bars(table: pl.DataFrame, amount: str, by: str, *, colour: str | None = None, share: bool = False) -> Chart:
    """Return horizontal bars, the longest first; `share`: values are of 0 to 1."""
    axis = alt.Axis(**_ticks(table[amount], share=share))
    chart = alt.Chart(table, height=alt.Step(_BAR)).mark_bar()
    encoded: dict[str, Any] = {
        "x": alt.X(f"{amount}:Q", axis=axis, title=label(amount)),
        "y": alt.Y(f"{by}:N", sort=None, title=None, axis=_NAMES),
        "tooltip": _tooltips(table),
    }
    if colour:
        order = table.get_column(colour).unique(maintain_order=True).to_list()
        encoded["color"] = alt.Color(f"{colour}:N", sort=order, legend=_LEGEND)
        encoded["order"] = alt.Order(f"color_{colour}_sort_index:Q")
        return chart.encode(**encoded)
    return alt.layer(chart.encode(**encoded), _numbers(table, amount, share=share).encode(y=encoded["y"]))


def _numbers(table: pl.DataFrame, amount: str, *, share: bool) -> alt.Chart:
    """Return the number behind the end of each bar."""
    form = ".1%" if share else ",.1f" if table.schema[amount].is_float() else ",.0f"
    written = alt.Chart(table).mark_text(align="left", baseline="middle", dx=4)
    return written.encode(x=f"{amount}:Q", text=alt.Text(f"{amount}:Q", format=form), tooltip=_tooltips(table))


def over_time(table: pl.DataFrame, day: str, amount: str, by: str | None = None, *, share: bool = False) -> Chart:
    """Return lines over days or weeks, with points, so that a single value is visible too."""
    encoded: dict[str, Any] = {
        "x": alt.X(
            f"{day}:T",
            title=None,
            axis=alt.Axis(values=_dates(table, day), format=_date_format(table, day), labelOverlap=True),
        ),
        "y": alt.Y(f"{amount}:Q", axis=alt.Axis(**_ticks(table[amount], share=share)), title=label(amount)),
        "tooltip": _tooltips(table),
    }
    if by:
        order = table.get_column(by).unique(maintain_order=True).to_list()
        encoded["color"] = alt.Color(f"{by}:N", sort=order, legend=_LEGEND)
    base = alt.Chart(table, height=HEIGHT)
    points = base.mark_point(filled=True, size=40, opacity=1)
    return alt.layer(base.mark_line(), points, autosize=_PLOT_KEEPS_ITS_HEIGHT).encode(**encoded)


def within(lines: Chart, table: pl.DataFrame, day: str, low: str, high: str) -> Chart:
    """Return lines over days with the band from `low` to `high` behind them; days without one have none."""
    ends = table.select(day, low, high).drop_nulls()
    if not isinstance(lines, alt.LayerChart) or ends.is_empty():
        return lines
    # The lines have axes and colours in common with every layer; the band has a colour of its own.
    band = (
        alt.Chart(ends)
        .mark_area(opacity=0.25)
        .encode(x=f"{day}:T", y=f"{low}:Q", y2=f"{high}:Q", color=alt.value(_BAND), tooltip=alt.value(None))
    )
    lines = lines.copy()
    lines.layer = [band, *lines.layer]
    return lines


def sparkline(values: Sequence[float]) -> Chart:
    """Return a small line without axes: the shape of some weeks beside a figure."""
    table = pl.DataFrame({"week": range(len(values)), "value": values})
    chart = alt.Chart(table, height=_SMALL).mark_line(strokeWidth=1.5)
    return chart.encode(
        x=alt.X("week:Q", axis=None, scale=alt.Scale(nice=False)),
        y=alt.Y("value:Q", axis=None, scale=alt.Scale(zero=False)),
    ).properties(view=alt.ViewConfig(stroke=None))


def intervals(table: pl.DataFrame, by: str, others: float | None) -> Chart:
    """Return for each of `by` its `share` with its interval, and a line at the share of all."""
    axis = alt.X(
        "low_share:Q",
        axis=alt.Axis(**_ticks(table["low_share"], share=True)),
        title="Share; the line is how sure it is",
    )
    place = alt.Y(f"{by}:N", sort=None, title=None, axis=_NAMES)
    base = alt.Chart(table, height=alt.Step(_BAR))
    layers = [
        base.mark_rule(strokeWidth=3, opacity=0.5).encode(
            x=axis, x2="high_share:Q", y=place, tooltip=_tooltips(table)
        ),
        base.mark_point(filled=True, size=90, opacity=1).encode(
            x="share:Q",
            y=place,
            tooltip=_tooltips(table),
            color=alt.Color("stands:N", sort=["As the others", "Stands out"], legend=_LEGEND),
        ),
    ]
    if others is not None:
        line = alt.Chart(pl.DataFrame({"all": [others]})).mark_rule(strokeDash=[4, 4]).encode(x="all:Q")
        layers.append(line)
    return alt.layer(*layers)


def _tooltips(table: pl.DataFrame) -> list[alt.Tooltip]:
    def form(name: str, kind: pl.DataType) -> dict[str, Any]:
        if kind == pl.Date:
            return {"format": "%-d %B %Y"}
        if not kind.is_numeric():
            return {}
        return {"format": ".1%" if name.endswith(("_rate", "share")) else ",.1f" if kind.is_float() else ",.0f"}

    shown = ((name, kind) for name, kind in table.schema.items() if name not in {ON, "is_chosen", "weekday"})
    return [alt.Tooltip(name, title=label(name), **form(name, kind)) for name, kind in shown]


def _date_format(table: pl.DataFrame, day: str) -> str:
    """Return the format of dates on an axis: a few days in a row have their weekday, too."""
    days: list[date] = table.get_column(day).unique().sort().to_list()
    return "%a %-d %b" if days and (days[-1] - days[0]).days < _FORTNIGHT else "%-d %b"


def _dates(table: pl.DataFrame, day: str) -> list[alt.DateTime]:
    days: list[date] = table.get_column(day).unique().sort().to_list()
    return [alt.DateTime(year=item.year, month=item.month, date=item.day) for item in days]


def hours_of_the_week(table: pl.DataFrame, amount: str, words: Words, digits: int = 0) -> Chart:
    """Return a heat map, Monday first. `table` has the columns `weekday` (1 to 7), `hour` (0 to 23), `amount`."""
    days = get_day_names("abbreviated", locale=words.locale)
    hours = pl.DataFrame({"weekday": range(1, 8)}).join(pl.DataFrame({"hour": range(24)}), how="cross")
    labelled = hours.join(table, on=["weekday", "hour"], how="left").select(
        pl.col("weekday").replace_strict({number + 1: days[number] for number in range(7)}).alias("day"),
        "weekday",
        "hour",
        pl.exclude("weekday", "hour").fill_null(0),
    )
    return (
        alt.Chart(labelled, height=alt.Step(_BAR))
        .mark_rect()
        .encode(
            x=alt.X(
                "hour:O", title="Hour of the practice's clock", axis=alt.Axis(labelAngle=0, labelOverlap=True)
            ),
            y=alt.Y(
                "day:N",
                sort=[days[number] for number in range(7)],
                title=None,
                axis=alt.Axis(labelOverlap=False),
            ),
            color=alt.Color(
                f"{amount}:Q",
                title=None,
                legend=alt.Legend(orient="top", format=f",.{digits}f", tickMinStep=1 / 10**digits),
            ),
            tooltip=_tooltips(labelled),
        )
    )


def localised(chart: Chart, words: Words) -> Any:  # noqa: ANN401 - Altair's own types
    """Return the same chart with numbers, days and months in the format of the reader's country."""
    names, symbols = words.locale, words.locale.number_symbols["latn"]
    text = _TEXT.get(st.context.theme.type or "light", _TEXT["light"])
    return chart.configure(
        axis=alt.AxisConfig(labelColor=text, titleColor=text),
        legend=alt.LegendConfig(labelColor=text, titleColor=text),
        rule=alt.MarkConfig(color=text),
        text=alt.MarkConfig(color=text),
        locale=alt.Locale(
            number=alt.NumberLocale(
                decimal=symbols["decimal"], thousands=symbols["group"], grouping=[3], currency=["", ""]
            ),
            time=alt.TimeLocale(
                dateTime="%x, %X",
                date="%d.%m.%Y",
                time="%H:%M",
                periods=["AM", "PM"],
                days=_sunday_first(get_day_names("wide", locale=names)),
                shortDays=_sunday_first(get_day_names("abbreviated", locale=names)),
                months=_in_order(get_month_names("wide", locale=names)),
                shortMonths=_in_order(get_month_names("abbreviated", locale=names)),
            ),
        ),
    )


def _sunday_first(names: Any) -> list[str]:  # noqa: ANN401 - Babel's lazy mapping
    return [names[number] for number in (6, 0, 1, 2, 3, 4, 5)]


def _in_order(names: Any) -> list[str]:  # noqa: ANN401 - Babel's lazy mapping
    return [names[number] for number in range(1, 13)]
