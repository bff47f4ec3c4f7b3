"""The characters of practices: all parameters in which one practice differs from another."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Final

from vetl_sandbox.world.call_shares import INBOUND_ENDS, OUTBOUND_ENDS, SCHEDULING_OUTCOMES
from vetl_sandbox.world.dice import Shares

_REACHES: Final = {
    "started": 0.22,
    "client_details": 0.14,
    "pet_details": 0.12,
    "reason_selected": 0.1,
    "slot_selected": 0.07,
    "confirmed": 0.35,
}
_VISITS: Final = {"COMPLETED": 0.84, "CANCELED": 0.1, "NO_SHOW": 0.06}
_OVERFLOW: Final = {
    "completed": 0.5,
    "no_answer": 0.14,
    "voicemail": 0.1,
    "busy": 0.16,
    "failed": 0.02,
    "canceled": 0.08,
}


@dataclass(frozen=True)
class Spell:
    """Local days on which a practice has so many times its calls, sessions, outreach and work at the desk."""

    first: date
    last: date = date.max
    calls: float = 1.0
    sessions: float = 1.0
    outreach: float = 1.0
    desk: float = 1.0


@dataclass(frozen=True, eq=False)  # a character is equal to itself alone, so that practices can be keys of caches
class Character:
    """The parameters of a practice. The defaults are those of a practice without peculiarities.

    Attributes:
        inbound_ends: The shares of the states in which inbound calls end.
        rush_ends: The same on Mondays, when the telephone line may be too small.
        outbound_ends: The same of outbound calls.
        broken_days_ago: How many days ago the telephone was out of order in the morning; None if never.
        scheduling_outcomes: The shares of the outcomes of calls about an appointment.
        calls_back: The share of outbound calls made to the last inbound caller who got no appointment.
        reaches: The shares of the last stages of online booking sessions.
        visits: The shares of the ends of appointments.
        season: By how much the busiest month exceeds an average one.
        spells: Days unlike others: a telephone line that is dead, a campaign, the time before the practice opened.
        left: The local day from which the partner may no longer act for the practice; None if never.
    """

    inbound_ends: Shares = field(default_factory=lambda: INBOUND_ENDS)
    rush_ends: Shares = field(default_factory=lambda: INBOUND_ENDS)
    outbound_ends: Shares = field(default_factory=lambda: OUTBOUND_ENDS)
    broken_days_ago: int | None = None
    scheduling_outcomes: Shares = field(default_factory=lambda: SCHEDULING_OUTCOMES)
    calls_back: float = 0.1
    reaches: Shares = field(default_factory=lambda: _REACHES)
    visits: Shares = field(default_factory=lambda: _VISITS)
    season: float = 0.2
    spells: tuple[Spell, ...] = ()
    left: date | None = None


def _with(shares: Mapping[str, float], **changed: float) -> Shares:
    """Return shares with some of them changed; they need not add up to 1."""
    return {**shares, **changed}


BUSY_LINE: Final = Character(rush_ends=_OVERFLOW, broken_days_ago=0, season=0.15)
LOSING_FORM: Final = Character(
    reaches=_with(_REACHES, pet_details=0.42, confirmed=0.17),
    visits=_with(_VISITS, NO_SHOW=0.1),
    season=0.3,
)
GOOD_DESK: Final = Character(
    inbound_ends=_with(INBOUND_ENDS, completed=1.3),
    outbound_ends=_with(OUTBOUND_ENDS, completed=1.1),
    scheduling_outcomes=_with(SCHEDULING_OUTCOMES, appointment_booked=0.62),
    calls_back=0.8,
    visits=_with(_VISITS, COMPLETED=1.0, NO_SHOW=0.04),
)
_CHARACTERS: Final = (BUSY_LINE, LOSING_FORM, GOOD_DESK, Character())


def character_of(number: int) -> Character:
    """Return the character of a practice by its number: the characters take turns."""
    return _CHARACTERS[(number - 1) % len(_CHARACTERS)]
