"""What is looked at: the counts of the marts, which direction of each costs people, and the line about a fact.

A measure is a share (`some` of `whole`) or a count (`some`, without a whole). `{value}` and `{usual}` in its words
are the level and the usual one.

The name of a part, such as a source of bookings, comes from outside. It is said only if it is a single word
without digits; parts that few people share are not even looked at.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Literal

from vetl.core.published_file import COMMON_WORDS
from vetl.core.text import is_label
from vetl.headlines.surprise import Fact

Direction = Literal["low", "high"]


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure.

    Attributes:
        worse: The direction that costs people.
        words: What is so, after the practice and the time.
        is_share: Whether it is a share; else a count by day.
        least: The smallest change that is worth a line: of a share in points, of a count as a part of it.
        of_part_of: The measure of which this one is a part: a fact of the part says more than one of the whole.
        of: The list that is counted, and a word for its cases.
    """

    worse: Direction
    words: str
    is_share: bool = True
    least: float = 0.08
    of_part_of: str | None = None
    of: tuple[str, str] = ("phone_calls", "calls")

    @property
    def list_name(self) -> str:
        """Return the list that is counted; days after its certificate are not judged."""
        return self.of[0]

    @property
    def cases(self) -> str:
        """Return a word for the cases."""
        return self.of[1]


_ONLINE = ("booking_sessions", "sessions")
_OUTREACH = ("ai_outbound", "clients")
_VISITS = ("appointments", "visits")
_TASKS = ("staff_tasks", "tasks")

MEASURES: Mapping[str, Measure] = {
    "answered": Measure("low", "{value} of calls in opening hours are answered; usual are {usual}"),
    "calls": Measure("low", "{value} calls a day come; usual are {usual}", is_share=False, least=0.4),
    "handed_over": Measure(
        "high", "{value} of answered calls are handed over instead of settled; usual are {usual}"
    ),
    "after_hours": Measure("high", "{value} of calls come when the practice is closed; usual are {usual}"),
    "emergency_lost": Measure("high", "{value} of emergency calls end without help; usual are {usual}"),
    "call_booked": Measure(
        "low", "{value} of callers for a new appointment book it in the call; usual are {usual}", least=0.1
    ),
    "sessions": Measure(
        "low", "{value} online bookings a day are begun; usual are {usual}", is_share=False, least=0.4, of=_ONLINE
    ),
    "completed": Measure("low", "{value} of online bookings are completed; usual are {usual}", of=_ONLINE),
    "step_left": Measure(
        "high",
        "{value} of online bookings are left at {part}; usual are {usual}",
        of_part_of="completed",
        of=_ONLINE,
    ),
    "source": Measure(
        "low", "{value} of online bookings come from {part}; usual are {usual}", least=0.04, of=_ONLINE
    ),
    "outreach": Measure(
        "low",
        "{value} clients a day are contacted by outreach; usual are {usual}",
        is_share=False,
        least=0.5,
        of=_OUTREACH,
    ),
    "purpose": Measure(
        "low",
        "{value} outreach requests a day are about {part}; usual are {usual}",
        is_share=False,
        least=0.7,
        of_part_of="outreach",
        of=_OUTREACH,
    ),
    "opted_out": Measure(
        "high", "{value} of contacted clients opt out; usual are {usual}", least=0.05, of=_OUTREACH
    ),
    "no_show": Measure(
        "high", "{value} of visits are missed by the client; usual are {usual}", least=0.05, of=_VISITS
    ),
    "task_done": Measure("low", "{value} of staff tasks are done within three days; usual are {usual}", of=_TASKS),
}
"""The measures by name. Those with parts have a series for each part."""

BY_HOUR = ("answered", "calls")
"""The measures whose hours are looked at: a telephone line fails for a morning."""

BY_WEEKDAY = ("answered", "no_show")
"""The measures of which one weekday may differ from the others."""


_WEEKDAYS = ("Mondays", "Tuesdays", "Wednesdays", "Thursdays", "Fridays", "Saturdays", "Sundays")
_PARTS = {"source": "one source", "step_left": "one step", "purpose": "one purpose"}


def words_of(fact: Fact, practice: str) -> str:
    """Return the line of a fact: the practice, since when, and its level beside the usual one."""
    measure = MEASURES[fact.measure]
    if fact.shape == "hours":
        return f"{practice}: {_hours(fact)}"
    level = measure.words.format(
        value=_amount(fact.value, is_share=measure.is_share),
        usual=_amount(fact.usual, is_share=measure.is_share),
        part=_part(fact),
    )
    if fact.weekday is not None:
        level = level.replace("usual are", "on other days")
        return f"{practice}: on {_WEEKDAYS[fact.weekday]} {level} (since {_day(fact.since)})"
    return f"{practice}: since {_day(fact.since)} {level}"


def made_of(fact: Fact) -> str:
    """Return the cases behind a fact."""
    measure = MEASURES[fact.measure]
    if measure.is_share:
        return f"{fact.some:,.0f} of {fact.whole:,.0f} {measure.cases}"
    return f"{fact.some:,.0f} {measure.cases}, {fact.whole:,.0f} expected"


def _hours(fact: Fact) -> str:
    assert fact.hours is not None
    when = f"on {_day(fact.since)} from {fact.hours[0]}:00 to {fact.hours[1]}:00"
    if fact.measure == "calls":
        return f"{when} {fact.some:.0f} calls came; usual are {fact.usual:.0f}"
    unanswered, usual = fact.whole - fact.some, (1 - fact.usual) * fact.whole
    return f"{when} {unanswered:.0f} of {fact.whole:.0f} calls were unanswered; usual are {usual:.0f}"


def _part(fact: Fact) -> str:
    part = fact.part or ""
    if part.lower() in COMMON_WORDS or is_label(part):
        return part.replace("_", " ")
    return _PARTS.get(fact.measure, "one part")


def _amount(value: float, *, is_share: bool) -> str:
    if not is_share:
        return f"{value:.0f}" if value >= 10 else f"{value:.1f}"  # noqa: PLR2004
    percent = 100 * value
    return f"{percent:.0f} %" if percent >= 10 or percent == 0 else f"{percent:.1f} %"  # noqa: PLR2004


def _day(day: date) -> str:
    return f"{day.day} {day:%B %Y}"
