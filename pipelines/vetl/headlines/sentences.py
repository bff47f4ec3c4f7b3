"""Say a fact in a line: figures, days and vetl's own words.

The name of a part, such as a source of bookings, comes from outside. It is said only if it is a single word
without digits; parts that few people share are not even looked at.
"""

from datetime import date

from vetl.core.published_file import COMMON_WORDS
from vetl.core.text import is_label
from vetl.headlines.fact import Fact
from vetl.headlines.measures import MEASURES

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
