"""What a commit did, by practice."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

import polars as pl

from pipelines.core.pages import Changes

Tally = Mapping[str, Changes]
"""What was done to the rows of each practice, by its id; a practice that nothing was done to may be missing."""


def added(tallies: Iterable[Tally]) -> dict[str, Changes]:
    """All of them together."""
    total: dict[str, Changes] = {}
    for tally in tallies:
        for practice_id, changes in tally.items():
            total[practice_id] = total.get(practice_id, Changes()) + changes
    return total


def counted(**rows: pl.DataFrame) -> dict[str, Changes]:
    """How many rows of each practice were `inserted`, `updated` and so on: frames with a `practice_id`."""
    counts = [
        (practice_id, replace(Changes(), **{name: count}))
        for name, frame in rows.items()
        if not frame.is_empty()
        for practice_id, count in frame.group_by("practice_id").len().rows()
    ]
    return added({practice_id: changes} for practice_id, changes in counts)
