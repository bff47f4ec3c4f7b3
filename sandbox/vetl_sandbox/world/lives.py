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

from vetl_sandbox.world.vocabulary import Vocabulary, known

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


def typed(columns: Mapping[str, NDArray[Any]], schema: Schema) -> pl.DataFrame:
    """Return arrays as columns of the smallest fitting types, with nulls for their missing values."""
    return pl.DataFrame(dict(columns)).select(_typed(name, schema[name]) for name in columns)


def _typed(name: str, kind: "Plain | Vocabulary") -> pl.Expr:
    match kind:
        case Vocabulary():
            return kind.typed(name)
        case Plain.INSTANT:
            return known(name, NEVER).cast(INSTANT)
        case Plain.REFERENCE:
            return known(name, NO_REFERENCE).cast(pl.Int32)
        case Plain.NUMBER:
            return known(name, NO_REFERENCE).cast(pl.Int64)
        case Plain.SMALL:
            return known(name, NO_SMALL).cast(pl.UInt16)
        case Plain.FLAG:
            return pl.col(name).cast(pl.Boolean)


def lives(schema: Schema, born: Mapping[str, Any], phases: Sequence[Phase], horizon: int) -> pl.DataFrame:
    """Return the versions of all rows by row and time, with `valid_from` and `valid_to` beside the fields.

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
    lasting = np.flatnonzero((until > horizon) & (until > since))
    order, row = order[lasting], row[lasting]
    columns = {name: np.asarray(values)[row] for name, values in born.items()}
    for name in phases[0].fields:
        drawn = [_spread(phase.fields[name], size)[chosen] for phase, chosen in zip(phases, rows, strict=True)]
        columns[name] = np.concatenate(drawn)[order]
    span = pl.DataFrame({"valid_from": since[lasting], "valid_to": until[lasting]}).cast(INSTANT)
    return pl.concat([span, typed(columns, schema)], how="horizontal")


def _spread(values: Any, size: int) -> NDArray[Any]:  # noqa: ANN401 - an array or one value for all rows
    return np.broadcast_to(np.asarray(values), size)


def at(versions: pl.DataFrame, now: pl.Expr) -> pl.DataFrame:
    """Return the rows as they are at `now`."""
    return versions.filter((pl.col("valid_from") <= now) & (pl.col("valid_to") > now))
