"""Parse comparisons of a dimension with a value, such as `direction=inbound`, into SQL."""

import re
from calendar import day_name
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

from vetl.core.errors import WrongUse
from vetl.core.text import nearest
from vetl.endpoints import REGISTRY
from vetl.publishing.marts import table_of
from vetl.publishing.statements import Read
from vetl.store.connection import literal

_COMPARISON = re.compile(r"\s*(\w+)\s*(!=|<=|>=|=|<|>)(.*)", re.DOTALL)
_NULL = "null"
_PERIODS = ("day", "week", "month")
_WEEKDAYS = tuple(str(number) for number in range(1, 8))
_NUMBERS = {"weekday": _WEEKDAYS, "hour_of_day": tuple(str(hour) for hour in range(24))}
_BOOLEANS = frozenset({"true", "false"})

_KNOWN = 10
"""The most values in a note."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A dimension, an operator and a value. The value `null` stands for rows without a value."""

    name: str
    operator: str
    value: str

    def sql(self, expression: str) -> str:
        """Return SQL for the comparison; the value becomes a literal, so no SQL in it is run."""
        if self.value == _NULL:
            return f"({expression}) is {'not ' if self.operator == '!=' else ''}null"
        value = literal(self.value)
        operator = "is distinct from" if self.operator == "!=" else self.operator
        return f"(({expression}) {operator} {value})"


def parsed(texts: Sequence[str], known: Collection[str]) -> list[Comparison]:
    """Return the comparisons of `--where`; raise `WrongUse` if one does not name one of the `known` dimensions."""
    return [_parsed(text, known) for text in texts]


def with_ids(read: Read, comparisons: Sequence[Comparison]) -> list[Comparison]:
    """Return the comparisons with the id of a practice in place of its name, which only one may have."""
    return [replace(one, value=_id_of(read, one.value)) if one.name == "practice" else one for one in comparisons]


def _id_of(read: Read, practice: str) -> str:
    given = literal(practice)
    found = read(
        f"select practice_id, practice_id = {given} as is_exact from marts.practices"
        f" where is_exact or lower(name) = lower({given}) order by is_exact desc, practice_id"
    ).rows
    if len(found) > 1 and not found[0][1]:
        ids = ", ".join(name for name, _ in found)
        raise WrongUse(f"practice {practice}: several have this name; choose one by its id: {ids}")
    return found[0][0] if found else practice


def conditions(comparisons: Sequence[Comparison], expressions: Mapping[str, str]) -> str:
    """Return SQL for rows that fulfil all comparisons of dimensions in `expressions`."""
    parts = [one.sql(expressions[one.name]) for one in comparisons if one.name in expressions]
    return " and ".join(parts) or "true"


def refuse_unknown(name: str, known: Collection[str], option: str) -> None:
    """Raise `WrongUse` if the name is not known; the message has the nearest name, or all known names."""
    if name not in known:
        raise WrongUse(f"{option} {name}: not known here{nearest(name, known)}")


def _parsed(text: str, known: Collection[str]) -> Comparison:
    match = _COMPARISON.fullmatch(text)
    if not match:
        raise WrongUse(
            f"--where {text}: must be a dimension, one of = != < <= > >=, and a value: direction=inbound"
        )
    name, operator, value = match.groups()
    refuse_unknown(name, known, "--where")
    if value != _NULL and name in _VALUES:
        value = _VALUES[name](value, f"--where {name}{operator}{value}")
    if value == _NULL and operator not in {"=", "!="}:
        raise WrongUse(f"--where {text}: null can only be compared by = and !=")
    return Comparison(name, operator, value)


def _weekday(value: str, text: str) -> str:
    """Return the number of a day of the week, from its number or its name: 1 is Monday."""
    names = [name for name in day_name if value and name.lower().startswith(value.lower())]
    if value in _WEEKDAYS:
        return value
    if len(names) != 1 or len(value) < 3:  # noqa: PLR2004 - Mon, Tue, Wed ...
        raise WrongUse(f"{text}: not known here; values are {', '.join(day_name)}, or 1 to 7")
    return str(list(day_name).index(names[0]) + 1)


def _hour(value: str, text: str) -> str:
    if value not in _NUMBERS["hour_of_day"]:
        raise WrongUse(f"{text}: not known here; values are 0 to 23")
    return value


def _day(value: str, text: str) -> str:
    try:
        return date.fromisoformat(value).isoformat()
    except ValueError:
        raise WrongUse(f"{text}: must be a day such as 2025-12-01, a week by its Monday") from None


def _month(value: str, text: str) -> str:
    """Return the first day of a month, from it or from `2025-12`."""
    try:
        return date.fromisoformat(f"{value}-01" if value.count("-") == 1 else value).isoformat()
    except ValueError:
        raise WrongUse(f"{text}: must be a month such as 2025-12") from None


_VALUES = {"weekday": _weekday, "hour_of_day": _hour, "day": _day, "week": _day, "month": _month}
"""How the value of a dimension is read that is no text in the marts."""


def refuse_unknown_values(
    read: Read, mart: str, comparisons: Sequence[Comparison], expressions: Mapping[str, str], lists: Sequence[str]
) -> list[str]:
    """Return a line for each comparison by `=` with a value that no row has, though it is a value of its list.

    Raise `WrongUse` if no row has a value, and no enum of the contract either: a slip of the pen, which is no
    0.
    """
    lines: list[str] = []
    for one in (one for one in comparisons if one.name not in _PERIODS):
        source, expression = ("practices", "group_name") if one.name == "group" else (mart, expressions[one.name])
        found = unmatched(read, source, [one], {one.name: expression})
        if found and not _is_possible(one, frequent_values(read, source, expression, "true", 2), lists):
            raise WrongUse("; ".join(found))
        lines += found
    return lines


def _is_possible(one: Comparison, seen: Collection[str], lists: Sequence[str]) -> bool:
    """Return whether a dimension with the values `seen` can have a value that no row has."""
    if not seen or one.value == _NULL:
        return True
    if one.name in _NUMBERS:
        return one.value in _NUMBERS[one.name]
    if _BOOLEANS.issuperset(seen):
        return one.value in _BOOLEANS
    return any(
        one.value in (column.values or ())
        for endpoint in REGISTRY
        if endpoint.name in lists
        for column in endpoint.columns()
        if column.name == one.name
    )


def unmatched(
    read: Read, mart: str, comparisons: Sequence[Comparison], expressions: Mapping[str, str]
) -> list[str]:
    """Return a line for each comparison by `=` with a value that no row of the mart has.

    Raise `WrongUse` if no row has this practice, and neither is it configured.
    """
    lines: list[str] = []
    for one in comparisons:
        if one.operator != "=":
            continue
        matching = f"from {table_of(mart)} as counted where {one.sql(expressions[one.name])} limit 1"
        if read(f"select 1 {matching}").rows:
            continue
        if one.name != "practice":
            lines.append(f"no row has {one.name}={one.value}; {values_of(read, mart, expressions[one.name])}")
        elif not read(f"select 1 from marts.practices where practice_id = {literal(one.value)}").rows:
            known = values_of(read, "practices", "concat(practice_id, ' (', name, ')')")
            raise WrongUse(f"practice {one.value}: not known here; {known}")
    return lines


def values_of(read: Read, mart: str, expression: str, chosen: str = "true") -> str:
    """Return the frequent values of a dimension among the rows that the SQL `chosen` chooses, in words."""
    values = frequent_values(read, mart, expression, chosen, _KNOWN + 1)
    more = " and more" if len(values) > _KNOWN else ""
    return f"values are {', '.join(values[:_KNOWN])}{more}" if values else "it has no values"


def frequent_values(read: Read, mart: str, expression: str, chosen: str, most: int) -> list[str]:
    """Return the values of a dimension among the rows that the SQL `chosen` chooses, the most frequent first."""
    rows = read(
        f"select cast({expression} as varchar) as value from {table_of(mart)} as counted"
        f" where ({expression}) is not null and ({chosen}) group by all"
        f" order by count(*) desc, value limit {most}"
    ).rows
    return [value for (value,) in rows]
