"""Rows that change: every version of every row with the time from which it holds.

A row's whole life is drawn at its birth, so a list at any time is a pure function of that time. The clock
never goes back: versions that ended before it started are not kept, so old history is one version a row.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sandbox.world.vocabulary import Vocabulary

Millis = NDArray[np.int64]
"""Instants, in milliseconds since 1970 UTC."""

Mask = NDArray[np.bool_]

NEVER = 253_402_300_799_999
"""An instant that does not come (the end of the year 9999); shown as null."""

INSTANT = pl.Datetime("ms", "UTC")


class Plain(Enum):
    """Columns that are not an enum of the contract."""

    INSTANT = auto()
    REFERENCE = auto()  # place of a row in a table of the world, -1: none
    NUMBER = auto()  # the number behind an id, -1: none
    SMALL = auto()  # 0 to 65534, 65535: none
    FLAG = auto()


Schema = Mapping[str, "Plain | Vocabulary"]

NO_REFERENCE = -1
NO_SMALL = 65535


@dataclass(frozen=True)
class Phase:
    """One change in the lives of some rows: from `at` on, the rows in `of` have these fields."""

    at: Millis
    fields: Mapping[str, Any]
    of: Mask | None = None


def column(values: NDArray[Any], kind: "Plain | Vocabulary") -> pl.Series:
    """An array as a column of the smallest fitting type, with nulls for its missing values."""
    match kind:
        case Vocabulary():
            return kind.column(values)
        case Plain.INSTANT:
            return _nulls(values.astype(np.int64), NEVER).cast(INSTANT)
        case Plain.REFERENCE:
            return _nulls(values.astype(np.int32), NO_REFERENCE)
        case Plain.NUMBER:
            return _nulls(values.astype(np.int64), NO_REFERENCE)
        case Plain.SMALL:
            return _nulls(values.astype(np.uint16), NO_SMALL)
        case Plain.FLAG:
            return pl.Series(values.astype(np.bool_))


def _nulls(values: NDArray[Any], missing: int) -> pl.Series:
    series = pl.Series(values)
    return series.replace(missing, None) if (values == missing).any() else series


def lives(schema: Schema, born: Mapping[str, Any], phases: Sequence[Phase], horizon: int) -> pl.DataFrame:
    """The versions of all rows, ordered by row and time, with `valid_from` and `valid_to` beside the fields.

    Args:
        schema: The kind of each column, those of `born` and those of the phases.
        born: Columns that never change, one value a row.
        phases: The changes; each gives every changing field. At equal times a later phase wins.
        horizon: Versions that ended before this instant are left out.
    """
    size = len(next(iter(born.values())))
    rows = [np.arange(size) if phase.of is None else np.flatnonzero(phase.of) for phase in phases]
    row = np.concatenate(rows)
    since = np.concatenate([phase.at[chosen] for phase, chosen in zip(phases, rows, strict=True)])
    order = np.lexsort((since, row))
    row, since = row[order], since[order]
    until = np.full(len(row), NEVER)
    until[:-1] = np.where(row[1:] == row[:-1], since[1:], NEVER)
    kept = np.flatnonzero((until > horizon) & (until > since))
    order, row = order[kept], row[kept]
    columns = {
        "valid_from": pl.Series(since[kept]).cast(INSTANT),
        "valid_to": pl.Series(until[kept]).cast(INSTANT),
    }
    for name, values in born.items():
        columns[name] = column(np.asarray(values)[row], schema[name])
    for name in phases[0].fields:
        drawn = [_spread(phase.fields[name], size)[chosen] for phase, chosen in zip(phases, rows, strict=True)]
        columns[name] = column(np.concatenate(drawn)[order], schema[name])
    return pl.DataFrame(columns)


def _spread(values: Any, size: int) -> NDArray[Any]:  # noqa: ANN401 - an array or one value for all rows
    return np.broadcast_to(np.asarray(values), size)


def at(versions: pl.DataFrame, now: pl.Expr) -> pl.DataFrame:
    """The rows as they are at `now`."""
    return versions.filter((pl.col("valid_from") <= now) & (pl.col("valid_to") > now))
