"""A made-up world of veterinary practices: a pure function of its seed and of the time."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Final, TypedDict

import polars as pl

from vetl_sandbox.clock import START
from vetl_sandbox.world import practices as places
from vetl_sandbox.world.appointments import draw_appointments
from vetl_sandbox.world.calls import draw_calls
from vetl_sandbox.world.characters import Character
from vetl_sandbox.world.hours import millis, month_of
from vetl_sandbox.world.lives import at
from vetl_sandbox.world.month import Month
from vetl_sandbox.world.outreach import draw_outreach
from vetl_sandbox.world.people import People, people
from vetl_sandbox.world.practices import Practice
from vetl_sandbox.world.sessions import draw_sessions
from vetl_sandbox.world.tasks import draw_tasks

MAX_PRACTICES: Final = 500
_CALLS_A_DAY: Final = 40.0
_LEAST_CLIENTS, _CALLS_A_CLIENT, _MOST_CLIENTS = 120, 16, 2_000_000


class WorldArguments(TypedDict, total=False):
    """The arguments of a world; see `World`."""

    practices: int
    days: int
    calls: int | None
    seed: int
    start: datetime
    characters: Mapping[int, Character]


class World:
    """The past, present and future of some practices.

    A month is drawn on first use, from the seed, the practice and the month alone: the result does not depend on
    when it is drawn.

    Args:
        practices: How many practices, 1 to 500.
        days: Days of history before `start`.
        calls: Phone calls in that history, all practices together, about; 40 a day and practice if not given.
        seed: Another seed, another world.
        start: The present; older versions of rows are not known, only the rows as they are from then on.
        characters: The characters of some practices, by number, in place of `vetl_sandbox.world.characters`.
    """

    def __init__(
        self,
        *,
        practices: int = 3,
        days: int = 365,
        calls: int | None = None,
        seed: int = 1,
        start: datetime = START,
        characters: Mapping[int, Character] | None = None,
    ) -> None:
        if not 1 <= practices <= MAX_PRACTICES:
            raise ValueError(f"practices must be 1 to {MAX_PRACTICES}, not {practices}")
        if days < 1:
            raise ValueError(f"days must be at least 1, not {days}")
        self.start = start
        self.days = days
        self.seed = seed
        self.practices = {practice.id: practice for practice in places.practices(practices, seed, characters)}
        self.calls_a_day = calls / practices / days if calls else _CALLS_A_DAY
        self._month = lru_cache(maxsize=None)(self._draw_month)
        self.people = lru_cache(maxsize=None)(self._draw_people)

    def since(self, practice: Practice) -> datetime:
        """Return the local midnight at which a practice's history begins."""
        first = (self.start.astimezone(practice.zone) - timedelta(days=self.days)).date()
        return datetime(first.year, first.month, first.day, tzinfo=practice.zone)

    def rows(self, practice_id: str, name: str, now: datetime) -> tuple[pl.DataFrame, datetime]:
        """Return one list's rows as they are at `now`, month by month, and until when that holds."""
        practice = self.practices[practice_id]
        last = month_of(now.astimezone(practice.zone))
        months = [
            self._month(practice_id, number)[name] for number in range(month_of(self.since(practice)), last + 1)
        ]
        moment = pl.lit(now).cast(pl.Datetime("ms", "UTC"))
        coming = [
            frame.select(pl.col("valid_from").filter(pl.col("valid_from") > moment).min()).item()
            for frame in months
        ]
        next_month = datetime(2000 + (last + 1) // 12, (last + 1) % 12 + 1, 1, tzinfo=practice.zone)
        until = min([next_month.astimezone(now.tzinfo), *(change for change in coming if change is not None)])
        return pl.concat([at(frame, moment) for frame in months]), until

    def coming(self, practice_id: str, name: str, since: datetime, until: datetime) -> pl.DataFrame:
        """Return the versions of one list's rows that begin after `since`, up to `until`."""
        practice = self.practices[practice_id]
        months = range(month_of(self.since(practice)), month_of(until.astimezone(practice.zone)) + 1)
        first, last = (pl.lit(moment).cast(pl.Datetime("ms", "UTC")) for moment in (since, until))
        begins = (pl.col("valid_from") > first) & (pl.col("valid_from") <= last)
        return pl.concat([self._month(practice_id, number)[name].filter(begins) for number in months])

    def warm(self) -> None:
        """Draw all of the history now rather than on demand."""
        for practice_id in self.practices:
            self.rows(practice_id, "phone_calls", self.start)

    def _draw_people(self, practice_id: str) -> People:
        practice = self.practices[practice_id]
        count = int(self.calls_a_day * self.days / _CALLS_A_CLIENT)
        count = min(max(count, _LEAST_CLIENTS), _MOST_CLIENTS)
        return people(practice, count, self.seed, millis(self.since(practice)), millis(self.start))

    def _draw_month(self, practice_id: str, number: int) -> dict[str, pl.DataFrame]:
        """Return a month of each list; clients and patients are there from the beginning."""
        practice = self.practices[practice_id]
        month = Month(
            practice=practice,
            people=self.people(practice_id),
            number=number,
            seed=self.seed,
            calls_a_day=self.calls_a_day,
            since=millis(self.since(practice)),
            horizon=millis(self.start),
        )
        calls, sessions = draw_calls(month), draw_sessions(month)
        outreach = draw_outreach(month, len(sessions.bookings) + len(calls.bookings))
        return {
            "phone_calls": calls.versions,
            "booking_sessions": sessions.versions,
            "appointments": draw_appointments(month, sessions, [calls.bookings, outreach.bookings]),
            "ai_outbound": outreach.versions,
            "staff_tasks": draw_tasks(month, calls),
        }
