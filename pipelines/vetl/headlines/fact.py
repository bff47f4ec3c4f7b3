"""A fact: something unusual at a practice, and how far and how large it must be to be one."""

from dataclasses import dataclass
from datetime import date
from typing import Literal

from vetl.headlines import surprise

Shape = Literal["hours", "shift", "weekday"]

FAR = 4.0
"""A share must be so many standard errors from its usual value, of the practice's own scatter."""

STILL = 2.5
"""A fact that was stated stays as long as it is so far from its usual level."""

FEWEST = 4.0
"""Fewer people are worth no line."""

_LOOKS = 1_000
"""So many places that do not hang together are looked at in a quarter of a practice."""

_NAMES = {"hours": "hours", "weekday": "weekday", "shift": "level"}


@dataclass(frozen=True, slots=True)
class Fact:
    """Something unusual at a practice.

    Attributes:
        until: The last day; `None` if it goes on.
        value: The level since then; `usual` the one before, or of other days.
        some: The cases behind `value`, of `whole`; for a count the count, of the expected one.
        people: How many it cost in the last four weeks, or in its hours.
        distance: How many standard errors it is from the usual level.
        hours: The first hour and the one after the last, of a fact about hours.
        weekday: 0 is Monday, of a fact about a weekday.
    """

    practice_id: str
    shape: Shape
    measure: str
    part: str | None
    since: date
    until: date | None
    value: float
    usual: float
    some: float
    whole: float
    people: float
    distance: float
    hours: tuple[int, int] | None = None
    weekday: int | None = None

    @property
    def key(self) -> str:
        """Return the name of the fact among those of its practice and its first day."""
        return f"{self.measure}_{_NAMES[self.shape]}"

    @property
    def sureness(self) -> float:
        """Return how sure it is that this is no chance, among all that is looked at in a quarter."""
        return surprise.sureness(self.distance, _LOOKS)
