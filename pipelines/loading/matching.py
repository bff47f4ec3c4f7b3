"""Pairing two sides row by row, where equal rows are interchangeable: a multiset is matched, not a set."""

from collections.abc import Sequence
from typing import NamedTuple

import polars as pl

_NTH = "_nth"


class Matched(NamedTuple):
    """`pairs` has the columns of both sides, `left` and `right` are what found no partner, in their order."""

    pairs: pl.DataFrame
    left: pl.DataFrame
    right: pl.DataFrame


def pair(left: pl.DataFrame, right: pl.DataFrame, on: Sequence[str]) -> Matched:
    """Pair rows that agree in `on` (null agrees with null): the first with the first, and so on.

    Other columns must not have a name in common.
    """
    nth = pl.int_range(pl.len()).over(on).alias(_NTH)
    numbered_left, numbered_right = left.with_columns(nth), right.with_columns(nth)
    keys = [*on, _NTH]
    pairs = numbered_left.join(numbered_right, on=keys, nulls_equal=True, maintain_order="left_right").drop(_NTH)
    rest_left = numbered_left.join(numbered_right, on=keys, how="anti", nulls_equal=True, maintain_order="left")
    rest_right = numbered_right.join(numbered_left, on=keys, how="anti", nulls_equal=True, maintain_order="left")
    return Matched(pairs, rest_left.drop(_NTH), rest_right.drop(_NTH))


def only_one(frame: pl.DataFrame, on: Sequence[str]) -> pl.DataFrame:
    """The rows that no other row agrees with in `on`."""
    return frame.filter(pl.len().over(on) == 1)
