"""Parse comparisons of a dimension with a value, such as `direction=inbound`, into SQL."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from vetl.core.errors import WrongUse
from vetl.loading.connection import literal, quoted
from vetl.loading.published.query import Read

_COMPARISON = re.compile(r"\s*(\w+)\s*(!=|<=|>=|=|<|>)(.*)", re.DOTALL)
_NULL = "null"


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


def parsed(texts: Sequence[str], known: Collection[str], option: str = "--where") -> list[Comparison]:
    """Return the comparisons; each must name one of the `known` dimensions.

    Raises:
        WrongUse: a text is no comparison, or names something else.
    """
    return [_parsed(text, known, option) for text in texts]


def conditions(comparisons: Sequence[Comparison], expressions: Mapping[str, str]) -> str:
    """Return SQL for rows that fulfil all comparisons of dimensions in `expressions`."""
    parts = [one.sql(expressions[one.name]) for one in comparisons if one.name in expressions]
    return " and ".join(parts) or "true"


def refuse_unknown(name: str, known: Collection[str], option: str) -> None:
    """Return if the name is known.

    Raises:
        WrongUse: it is not; the message has the nearest name, or all known names.
    """
    if name not in known:
        nearest = get_close_matches(name, known, n=1)
        hint = f"did you mean {nearest[0]}?" if nearest else f"known are {', '.join(known)}"
        raise WrongUse(f"{option} {name}: not known here; {hint}")


def _parsed(text: str, known: Collection[str], option: str) -> Comparison:
    match = _COMPARISON.fullmatch(text)
    if not match:
        raise WrongUse(
            f"{option} {text}: must be a dimension, one of = != < <= > >=, and a value: direction=inbound"
        )
    name, operator, value = match.groups()
    refuse_unknown(name, known, option)
    if value == _NULL and operator not in {"=", "!="}:
        raise WrongUse(f"{option} {text}: null can only be compared by = and !=")
    return Comparison(name, operator, value)


_KNOWN = 10
"""The most values in a note."""


def unmatched(
    read: Read, mart: str, comparisons: Sequence[Comparison], expressions: Mapping[str, str]
) -> list[str]:
    """Return a line for each comparison by `=` with a value that no row of the mart has.

    Raises:
        WrongUse: no row has this practice, and neither is it configured.
    """
    lines: list[str] = []
    for one in comparisons:
        if one.operator != "=":
            continue
        matching = f"from marts.{quoted(mart)} as counted where {one.sql(expressions[one.name])} limit 1"
        if read(f"select 1 {matching}").rows:
            continue
        if one.name != "practice":
            lines.append(f"no row has {one.name}={one.value}; {values_of(read, mart, expressions[one.name])}")
        elif not read(f"select 1 from marts.practices where practice_id = {literal(one.value)}").rows:
            known = values_of(read, "practices", "practice_id")
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
        f"select cast({expression} as varchar) as value from marts.{quoted(mart)} as counted"
        f" where ({expression}) is not null and ({chosen}) group by all"
        f" order by count(*) desc, value limit {most}"
    ).rows
    return [value for (value,) in rows]
