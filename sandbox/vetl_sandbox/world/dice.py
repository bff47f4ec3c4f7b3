"""Reproducible randomness for one list of one practice's month."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from vetl_sandbox.world.lives import Mask
from vetl_sandbox.world.vocabulary import NONE, Codes, Vocabulary

Shares = Mapping[str, float] | Mapping[str | None, float]
"""How likely each value is; `None`: that there is none."""


class Dice:
    """Draws arrays; two with the same seeds draw the same."""

    def __init__(self, *seeds: int) -> None:
        self.rng = np.random.default_rng(seeds)

    def luck(self, size: int) -> NDArray[np.float64]:
        """Draw numbers from 0 to below 1."""
        return self.rng.random(size)

    def happens(self, chance: float, size: int) -> Mask:
        """Draw whether something with this chance happens."""
        return self.rng.random(size) < chance

    def between(self, low: float, high: float, size: int) -> NDArray[np.int64]:
        """Draw whole milliseconds, evenly spread."""
        return self.rng.integers(int(low), int(high), size)

    def around(self, median: float, size: int) -> NDArray[np.int64]:
        """Draw whole milliseconds about a median, some much longer."""
        return (median * self.rng.lognormal(0.0, 0.8, size)).astype(np.int64)

    def place(self, count: int, size: int) -> NDArray[np.int32]:
        """Draw places in a table of `count` rows."""
        return self.rng.integers(0, count, size, dtype=np.int32)

    def pick(self, vocabulary: Vocabulary, shares: Shares, size: int) -> Codes:
        """Draw codes of a vocabulary; `None` among the shares is a missing value."""
        codes = np.array([NONE if value is None else vocabulary[value] for value in shares], dtype=np.uint8)
        bounds = np.cumsum(list(shares.values()))
        return codes[
            np.searchsorted(bounds / bounds[-1], self.rng.random(size), side="right").clip(0, len(codes) - 1)
        ]

    def pick_where(self, vocabulary: Vocabulary, cases: Sequence[tuple[Mask, Shares]], size: int) -> Codes:
        """Draw codes with the shares of the first case that holds; missing if none does."""
        codes = np.full(size, NONE, dtype=np.uint8)
        for holds, shares in reversed(cases):
            codes = np.where(holds, self.pick(vocabulary, shares, size), codes)
        return codes
