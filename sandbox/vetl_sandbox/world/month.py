"""One month of a practice: its source of randomness, and the rows that one list's rows create in another."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vetl_sandbox.world.dice import Dice
from vetl_sandbox.world.hours import Busy, draw_times
from vetl_sandbox.world.ids import first_number
from vetl_sandbox.world.lives import Mask, Millis
from vetl_sandbox.world.people import People
from vetl_sandbox.world.practices import Practice
from vetl_sandbox.world.vocabulary import Codes


@dataclass(frozen=True)
class Month:
    """One month of one practice.

    Attributes:
        number: Months since January 2000.
        calls_a_day: Calls on an average day; the other lists follow from it.
        since: Nothing is born before this instant (milliseconds).
        horizon: Versions that ended before this instant need not be kept.
    """

    practice: Practice
    people: People
    number: int
    seed: int
    calls_a_day: float
    since: int
    horizon: int

    def dice(self, stream: int) -> Dice:
        """Return the randomness of one list."""
        return Dice(self.seed, self.practice.number, self.number, stream)

    def times(self, a_call: float, dice: Dice, of: Busy) -> Millis:
        """Draw instants of birth, `a_call` for each call; `of` names what the spells of the practice change."""
        drawn = draw_times(self.practice, self.number, self.calls_a_day * a_call, dice.rng, of)
        return drawn[drawn >= self.since]

    def clients(self, at: Millis, dice: Dice, new: float = 0.2) -> NDArray[np.int32]:
        """Draw clients for instants. A client who is new then comes for the first visit soon.

        Args:
            at: The instants, in milliseconds.
            dice: The randomness of the list.
            new: The share, among the clients drawn whose first visit is far away, that a client with a first visit
                soon replaces; existing clients replace the others.
        """
        drawn = dice.place(len(self.people), len(at))
        soon = dice.happens(new, len(at))
        return self.people.due(drawn, at, soon, dice.luck(len(at)))

    def numbers(self, count: int) -> NDArray[np.int64]:
        """Return the numbers behind the ids of one list's first rows."""
        return first_number(self.practice.number, self.number) + np.arange(count)


@dataclass(frozen=True)
class Referral:
    """Codes of source, campaign and medium."""

    source: Codes
    campaign: Codes
    medium: Codes

    def __getitem__(self, of: Mask) -> "Referral":
        return Referral(self.source[of], self.campaign[of], self.medium[of])


@dataclass(frozen=True)
class Births:
    """Rows of another list that these rows lead to: their times and clients.

    `client` and `patient` are places in the practice's people, -1 if unknown.
    """

    at: Millis
    client: NDArray[np.int32]
    patient: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.at)
