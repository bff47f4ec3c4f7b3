"""Numbers, days and hours in the format of the reader's country; names for values of the marts."""

import re
from dataclasses import dataclass
from datetime import date, datetime
from functools import cache

from babel import Locale, UnknownLocaleError
from babel.dates import format_date, format_interval, format_time
from babel.numbers import format_decimal, format_percent

NOTHING = "\u2013"
_SMALL_SHARE, _DAYS_FROM_HOURS = 0.1, 48

_MARKED = re.compile(r"[!-/:-@\[-`{-~]")
"""The signs of ASCII: a backslash before any of them makes it a sign, as CommonMark says."""

_BREAKABLE = re.compile(r"[:@]|(?<=\b)www(?=\.)", re.IGNORECASE)
_SETTINGS = re.compile(r"\s*\((?:(?:the )?variables? [^)]*|episodes?)\)")
_CODE = re.compile(r"`?\b(?:[a-z]+_[a-z_]+\.)?([a-z]+(?:_[a-z0-9]+)+)\b`?|`([^`]*)`")
_JOINER = "\u2060"
"""A word joiner is not seen. Without one an address becomes a link, and `:name:` a picture, after all."""

FEW = 30
"""Rates of fewer cases than this are marked, if the file does not have its own `small_sample`."""

NAMES = {
    "above_cap": "Above the cap of the day",
    "ai_outbound": "AI outreach",
    "call": "Phone call",
    "callback_followup": "Call-back follow-up",
    "failed_undispatched": "Failed before it was sent",
    "has_task": "Has a task already",
    "holdout": "Left alone to compare with",
    "not_built": "Newer than the marts",
    "practice_not_allowed": "The practice is not in [act]",
    "rx_refill": "Prescription refill",
    "online": "Online booking",
    "sms": "Text message",
    "sms_opted_out": "Opted out of texts",
    "task": "Staff task",
    "unreachable": "Nothing to reach them by",
}
VALUED = frozenset(
    {
        "booked_via",
        "call_classification",
        "channel",
        "client_type",
        "attendance",
        "direction",
        "first_channel",
        "list",
        "mart",
        "not_actionable_because",
        "outcome",
        "purpose",
        "reason",
        "stage",
        "status",
        "suppression_reason",
        "task_type",
        "wanted",
    }
)
"""Columns whose values are words of the marts."""

LABELS = {
    "acts": "Acted on",
    "acts_booked": "Acted on, booked",
    "acts_booked_rate": "Acted on, booked, share",
    "answered_share": "Calls answered",
    "callers_share": "Callers booked",
    "online_share": "Online, completed",
    "outreach_share": "Outreach, booked",
    "won_back_share": "Missed, won back",
    "change_share": "Change",
    "low_share": "Chance, from",
    "high_share": "Chance, to",
    "stands": "Beside the others",
    "counts": "Value of the row",
    "p90_days_pending": "Nine of ten wait at most, days",
    "p90_hours_to_finalize": "Nine of ten within, hours",
    "median_days_pending": "Half wait at most, days",
    "no_show_share": "No-show rate",
    "usual_at_once": "Calls at once, usually",
    "most_at_once": "Calls at once, at most",
    "staff_hours_needed": "People who speak all the time",
    "assumed_value_low": "Worth by assumption, from",
    "assumed_value_high": "Worth by assumption, to",
    "age_days": "Days ago",
    "age_hours": "Hours ago",
    "booked_within_7_days": "Callers booked within 7 days",
    "call_classification": "What the call was about",
    "change": "Difference",
    "drop_off_rate": "Left here, share",
    "difference_share": "Difference of the shares",
    "episode_id": "Booking request",
    "episodes": "Booking requests",
    "error_share": "Error beside last week's",
    "expected_bookable_calls": "Calls to book expected",
    "expected_calls": "Calls expected",
    "held_out": "Left alone",
    "held_out_booked": "Left alone, booked",
    "is_final": "Final",
    "is_mature": "Mature",
    "median_hours_to_finalize": "Median hours to completion",
    "median_open_hours_to_finalize": "Median opening hours to completion",
    "missed_new_booking_calls": "Wanted a new appointment, not booked",
    "missed_callers": "Callers missed",
    "new_booking_callers": "Callers who wanted a new appointment",
    "new_booking_calls": "Wanted a new appointment, booked",
    "new_booking_intent_calls": "Wanted a new appointment",
    "not_actionable_because": "Reason",
    "recovered_within_7_days": "Won back within 7 days",
    "restated_rows": "Rows changed late",
    "sessions": "Online sessions",
    "unanswered_calls": "Not answered",
    "unanswered_share": "Not answered, share",
    "within_share": "Within the interval",
}
"""The labels of columns on tables, axes and legends, if the column's own name is unclear."""


@dataclass(frozen=True, slots=True)
class Words:
    """The format of one locale; a missing value is a dash."""

    locale: Locale

    def number(self, value: float | None, digits: int = 0) -> str:
        """Format a count: `1,234`."""
        return NOTHING if value is None else format_decimal(round(value, digits), locale=self.locale)

    def signed(self, value: float, unit: str = "") -> str:
        """Format a difference with its sign."""
        value = round(value, 1) + 0.0  # no negative zero
        return f"{'+' * (value >= 0)}{self.number(value, 1)} {unit}".strip()

    def percent(self, value: float | None) -> str:
        """Format a share of 0 to 1 as `42%`, with one digit below ten percent."""
        if value is None:
            return NOTHING
        pattern = self.locale.percent_formats[None].pattern
        finer = pattern.replace("0", "0.#", 1) if abs(value) < _SMALL_SHARE else pattern
        return format_percent(value, format=finer, locale=self.locale)

    def count(self, value: int, one: str, more: str) -> str:
        """Format a count with its noun: `1 day`, `2 days`."""
        return f"{self.number(value)} {one if value == 1 else more}"

    def points(self, value: float) -> str:
        """Format the difference of two shares, in percentage points, with its sign."""
        return self.signed(value * 100, "points")

    def day(self, value: date | None) -> str:
        """Format a day: `16 Jan 2026`."""
        return NOTHING if value is None else format_date(value, "medium", self.locale)

    def days(self, since: date, until: date) -> str:
        """Format both ends of a period; a shared month or year is written once."""
        return self.day(since) if since == until else format_interval(since, until, "yMMMd", locale=self.locale)

    def moment(self, value: datetime | None) -> str:
        """Format a time of a practice's own clock, without a zone."""
        return (
            NOTHING if value is None else f"{self.day(value)}, {format_time(value, 'short', locale=self.locale)}"
        )

    def hours(self, value: float | None) -> str:
        """Format hours as minutes, hours or days, in the most readable unit."""
        if value is None:
            return NOTHING
        if value < 1:
            return f"{self.number(value * 60)} min"
        return f"{self.number(value, 1)} h" if value < _DAYS_FROM_HOURS else f"{self.number(value / 24, 1)} days"


def words_for(locale: str | None) -> Words:
    """Return the words for a browser's language, such as `de-DE`; American English for an unknown one."""
    return Words(_locale(locale or "en-US"))


@cache
def _locale(name: str) -> Locale:
    try:
        return Locale.parse(name, sep="-")
    except (ValueError, UnknownLocaleError):
        return Locale.parse("en_US")


def plain(value: object) -> str:
    """Return a text that is not vetl's own, so that Markdown draws it letter by letter: no picture, no link."""
    text = " ".join(str(value).split())
    text = _BREAKABLE.sub(lambda match: f"{match[0]}{_JOINER}", text)
    return _MARKED.sub(r"\\\g<0>", text)


def named(value: str | None) -> str:
    """Turn `price_shopping` into `Price shopping`; null is a group of its own."""
    if value is None:
        return "(not said)"
    return NAMES.get(value) or value.replace("_", " ").capitalize()


def without_code(text: str) -> str:
    """Return a definition without the names of columns and settings, for managers."""
    return _CODE.sub(lambda match: f"\u201c{label(match[1] or match[2]).lower()}\u201d", _SETTINGS.sub("", text))


def label(column: str) -> str:
    """Turn a column of a mart into words: `answered_calls` into `Answered calls`."""
    return LABELS.get(column) or column.replace("_", " ").capitalize()
