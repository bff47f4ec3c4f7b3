"""The promises of the warehouse for phone calls, as a dictionary of days: saves count after a flush."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from zoneinfo import ZoneInfo

from support.model_calls import Call, CsvRow
from support.model_store import WaitingSaves
from vetl.core.steps import (
    AttachDetails,
    CallsHere,
    CallsPerDay,
    DaysLackingDetails,
    DaysWithState,
    ReplaceDays,
    Save,
    Step,
)
from vetl.store.instants import days_between as span

Details = tuple[str, str | None, str | None]
STATE = 2
"""The place of a call's state in the row of the CSV."""
UNTOLD = dict.fromkeys(("direction", "patient_name", "duration_seconds"))


@dataclass(slots=True)
class Kept:
    """A stored call, with its details from the JSON list."""

    row: CsvRow
    details: Details | None = None


class CallStore(WaitingSaves):
    """The days of one practice. `stale` are days that changed since the JSON list last showed them."""

    def __init__(self, zone: ZoneInfo) -> None:
        super().__init__()
        self.zone = zone
        self.days: dict[date, list[Kept]] = {}
        self.stale: set[date] = set()

    def rows(self, first: date, last: date) -> Counter[CsvRow]:
        return Counter(kept.row for day in span(first, last) for kept in self.days.get(day, []))

    def attached(self) -> Counter[tuple[CsvRow, Details | None]]:
        return Counter((kept.row, kept.details) for calls in self.days.values() for kept in calls)

    def answer(self, question: Step[Any]) -> Any:
        match question:
            case CallsPerDay(first, last):
                return {day: len(self.days[day]) for day in span(first, last) if self.days.get(day)}
            case CallsHere(first, last):
                return [_as_call(kept.row) for day in span(first, last) for kept in self.days.get(day, [])]
            case DaysWithState(states):
                return sorted(
                    day for day, calls in self.days.items() if any(k.row[STATE] in states for k in calls)
                )
            case DaysLackingDetails(first, last):
                return {day: len(self.days[day]) for day in span(first, last) if self._lacks(day)}
            case _:
                raise AssertionError(question)

    def _lacks(self, day: date) -> bool:
        calls = self.days.get(day, [])
        return any(kept.details is None for kept in calls) or (day in self.stale and bool(calls))

    def keep(self, save: Save) -> None:
        if isinstance(save, ReplaceDays):
            self._replace(save)
        elif isinstance(save, AttachDetails):
            self._attach(save)
        super().keep(save)

    def _replace(self, step: ReplaceDays) -> None:
        fresh: dict[date, list[CsvRow]] = defaultdict(list)
        shown = [Call.from_record(record).csv_row(self.zone) for record in step.rows]
        for row in [*shown, *(row for frame in step.frames for row in frame)]:
            fresh[date.fromisoformat(row[0][:10])].append(row)
        for day in span(step.first_day, step.last_day):
            here, there = self.days.get(day, []), fresh[day]
            if Counter(kept.row for kept in here) == Counter(there):
                continue
            details_by_row = _by_row([(kept.row, kept.details) for kept in here if there.count(kept.row) == 1])
            self.days[day] = [Kept(row, next(details_by_row[row], None)) for row in there]
            self.stale.add(day)

    def _attach(self, step: AttachDetails) -> None:
        calls = [Call.from_record(record) for record in step.rows]
        details_by_row = _by_row([(call.csv_row(self.zone), call.details) for call in calls])
        for day in span(step.first_day, step.last_day):
            self.stale.discard(day)
            for kept in self.days.get(day, []):
                kept.details = next(details_by_row[kept.row], kept.details)


def _as_call(row: CsvRow) -> dict[str, Any]:
    minute, phone, _, client, _, summary = row
    fields = {"phone_number": phone or None, "client_name": client or None, "summary": summary or None}
    return {**UNTOLD, **fields, "called_at_local": datetime.strptime(minute, "%Y-%m-%d %H:%M")}  # noqa: DTZ007


def _by_row(pairs: Sequence[tuple[CsvRow, Any]]) -> Mapping[CsvRow, Iterator[Any]]:
    """Group values of equal rows, one after the other."""
    values_by_row: dict[CsvRow, list[Any]] = defaultdict(list)
    for row, value in pairs:
        values_by_row[row].append(value)
    return defaultdict(lambda: iter(()), {row: iter(values) for row, values in values_by_row.items()})
