"""Refuse a choice of rows of a mart that has no single value; each message names the option that mends it."""

from collections.abc import Iterator, Mapping, Sequence

from vetl.core.errors import WrongUse
from vetl.figures.comparisons import Comparison, frequent_values, unmatched, values_of
from vetl.publishing.marts import table_of
from vetl.publishing.query import Read

_TIMES = ("day", "week", "month")
_MOST_CHOICES = 100
_MEASURE = "measure"
"""The column that names the measure of a row. Values of several measures are never one value."""


def none_chosen(read: Read, mart: str, where: Sequence[Comparison], dimensions: Mapping[str, str]) -> WrongUse:
    """Return the error if no row is chosen; it names each comparison that no row fulfils."""
    first_and_last = [_days_of(read, mart, one, dimensions) for one in where if one.name in _TIMES]
    others = [one for one in where if one.name not in _TIMES]
    reasons = [line for line in first_and_last if line] + unmatched(read, mart, others, dimensions)
    if not read(f"select 1 from {table_of(mart)} limit 1").rows:
        reasons = ["it has no rows yet"]
    chosen = ", ".join(f"{one.name}{one.operator}{one.value}" for one in where)
    return WrongUse(f"{mart}: {'; '.join(reasons) or f'no row has all of {chosen}'}")


class SeveralChosen(WrongUse):
    """Rows are chosen whose values do not add up. The message ends with the options of the command line.

    `reason` is the message without the options. `choices` has the values of each dimension in which the rows
    differ, but for practice and time.
    """

    def __init__(self, reason: str, options: str, choices: Mapping[str, Sequence[str]]) -> None:
        super().__init__(f"{reason}; choose one by {options}")
        self.reason = reason
        self.choices = choices


def several_chosen(
    read: Read, mart: str, column: str, chosen: str, dimensions: Mapping[str, str]
) -> SeveralChosen:
    """Return the error if the values of several chosen rows do not add up; it names how the rows differ."""
    ((rows,),) = read(f"select count(*) from {table_of(mart)} where {chosen}").rows
    different = list(_different(read, mart, chosen, dimensions))
    return SeveralChosen(
        f"{mart}.{column}: {rows:,} rows are chosen, and its values do not add up",
        ", ".join(_option(name) for name in different) + _values(read, mart, chosen, different, dimensions),
        _choices(read, mart, chosen, {name: dimensions[name] for name in different}),
    )


def refuse_mixed(read: Read, mart: str, column: str, chosen: str, dimensions: Mapping[str, str]) -> None:
    """Return if the chosen rows are of one measure.

    Raises:
        SeveralChosen: they are of several.
    """
    measure = {name: expression for name, expression in dimensions.items() if name == _MEASURE}
    if list(_different(read, mart, chosen, measure)):
        raise SeveralChosen(
            f"{mart}.{column}: several measures are chosen",
            _option(_MEASURE) + _values(read, mart, chosen, [_MEASURE], dimensions),
            _choices(read, mart, chosen, measure),
        )


def _days_of(read: Read, mart: str, one: Comparison, dimensions: Mapping[str, str]) -> str | None:
    """Return the first and the last day of the mart if no row fulfils the comparison."""
    expression = dimensions[one.name]
    ((first, last, found),) = read(
        f"select min({expression}), max({expression}), count(*) filter (where {one.sql(expression)})"
        f" from {table_of(mart)}"
    ).rows
    return None if found else f"no row has {one.name}{one.operator}{one.value}; rows are from {first} to {last}"


def _different(read: Read, mart: str, chosen: str, dimensions: Mapping[str, str]) -> Iterator[str]:
    for name, expression in dimensions.items():
        values = f"select distinct {expression} from {table_of(mart)} where {chosen} limit 2"
        if len(read(values).rows) > 1:
            yield name


def _choices(read: Read, mart: str, chosen: str, dimensions: Mapping[str, str]) -> dict[str, Sequence[str]]:
    return {
        name: frequent_values(read, mart, expression, chosen, _MOST_CHOICES)
        for name, expression in dimensions.items()
        if name not in ("practice", *_TIMES)
    }


def _values(read: Read, mart: str, chosen: str, names: Sequence[str], dimensions: Mapping[str, str]) -> str:
    """Return the values of the only dimension in which rows differ."""
    (name,) = names if len(names) == 1 else ("",)
    return f"; {values_of(read, mart, dimensions[name], chosen)}" if name and name not in _TIMES else ""


def _option(name: str) -> str:
    return "--practice" if name == "practice" else "--day" if name in _TIMES else f"--where {name}=VALUE"
