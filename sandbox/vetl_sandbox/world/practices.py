"""The practices: their countries, opening hours and management systems."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

import numpy as np

from vetl_sandbox.world.characters import Character, character_of

ZONES: Final = (
    ("America/New_York", "+1", "212"),
    ("America/Phoenix", "+1", "602"),  # no summer time
    ("Australia/Sydney", "+61", "29"),  # summer in January
    ("Europe/London", "+44", "207"),
    ("America/Los_Angeles", "+1", "310"),
    ("America/Chicago", "+1", "312"),
    ("America/Denver", "+1", "303"),
    ("America/St_Johns", "+1", "709"),  # half an hour off
)
_PLACES: Final = (
    "Harbor", "Saguaro", "Coogee Bay", "St Mary's", "Sunset", "Lakeside", "Front Range", "Signal Hill",
    "Maple Street", "Old Mill", "Riverbend", "Côte d'Or", "Green Valley", "Northgate", "Willow Creek",
    "Pinecrest",
)  # fmt: skip
_KINDS: Final = ("Animal Hospital", "Veterinary Clinic", "Pet Care, Inc.", "Vets")
_UNQUALIFIED_EVERY: Final = 4


@dataclass(frozen=True)
class Practice:
    """One practice. `server_id` qualifies its remote ids; None if its management system has none.

    `character` has the parameters in which it differs from other practices.
    """

    number: int
    id: str
    name: str
    time_zone: str
    country_code: str
    area_code: str
    opens: int
    closes: int
    open_sunday: bool
    server_id: str | None
    character: Character

    @property
    def rcs_live(self) -> bool:
        """Whether its RCS sender is live: every third practice's is not, from the second on."""
        return self.number % 3 != 2  # noqa: PLR2004 - see above

    @property
    def zone(self) -> ZoneInfo:
        """Its time zone."""
        return ZoneInfo(self.time_zone)

    def has_left(self, now: datetime) -> bool:
        """Return whether the partner may no longer act for it."""
        left = self.character.left
        return left is not None and now.astimezone(self.zone).date() >= left


def practices(count: int, seed: int, characters: Mapping[int, Character] | None = None) -> tuple[Practice, ...]:
    """Return the first `count` practices; the first ones stay the same when more are asked for.

    Args:
        count: How many.
        seed: Another seed, other opening hours.
        characters: The characters of some of them, by number; those of the others take turns.
    """
    own = characters or {}
    return tuple(
        _practice(number, seed, own.get(number) or character_of(number)) for number in range(1, count + 1)
    )


def _practice(number: int, seed: int, character: Character) -> Practice:
    rng = np.random.default_rng([seed, number])
    zone, country, area = ZONES[(number - 1) % len(ZONES)]
    place = _PLACES[(number - 1) % len(_PLACES)]
    branch = (number - 1) // len(_PLACES)
    return Practice(
        number=number,
        id=f"loc-{number:03d}",
        name=f"{place} {_KINDS[(number - 1) % len(_KINDS)]}" + (f" {branch + 1}" if branch else ""),
        time_zone=zone,
        country_code=country,
        area_code=area,
        opens=int(rng.integers(7, 9)),
        closes=int(rng.integers(17, 20)),
        open_sunday=bool(rng.random() < 0.2),  # noqa: PLR2004 - one practice in five
        server_id=str(100 + number * 17 % 900) if number % _UNQUALIFIED_EVERY else None,
        character=character,
    )
