"""The parts of a time line that were read whole, and the cursors that `control.cursors` stores."""

from dataclasses import dataclass
from datetime import date, datetime
from functools import reduce
from typing import Annotated, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, PlainSerializer

from vetl.core.steps import MoveCursor

T = TypeVar("T", date, datetime)
Span = tuple[T, T]


@dataclass(frozen=True, slots=True)
class Coverage(Generic[T]):
    """Disjoint, ascending, half-open spans `[start, end)`.

    Windows are certified in any order, and a run may end at any moment; the gaps between the spans are still to be
    read. If the settings move the start of history back, that is one more gap.
    """

    spans: tuple[Span[T], ...] = ()

    def add(self, start: T, end: T) -> "Coverage[T]":
        """Return the coverage with `[start, end)` added; spans that touch become one span."""
        if start >= end:
            return self
        before = tuple(span for span in self.spans if span[1] < start)
        after = tuple(span for span in self.spans if span[0] > end)
        touching = [span for span in self.spans if span[1] >= start and span[0] <= end]
        merged = (min([start, *(s for s, _ in touching)]), max([end, *(e for _, e in touching)]))
        return Coverage((*before, merged, *after))

    def union(self, other: "Coverage[T]") -> "Coverage[T]":
        """Return the union of both coverages."""
        return reduce(lambda coverage, span: coverage.add(*span), other.spans, self)

    def until(self, end: T) -> "Coverage[T]":
        """Return the coverage up to `end`."""
        return Coverage(tuple((start, min(stop, end)) for start, stop in self.spans if start < end))

    def without(self, start: T, end: T) -> "Coverage[T]":
        """Return the coverage with `[start, end)` removed."""
        before = ((first, min(last, start)) for first, last in self.spans if first < start)
        after = ((max(first, end), last) for first, last in self.spans if last > end)
        return Coverage((*before, *after)) if start < end else self

    def missing(self, start: T, end: T) -> list[Span[T]]:
        """Return the parts of `[start, end)` that are not covered, ascending."""
        gaps: list[Span[T]] = []
        at = start
        for covered_from, covered_to in self.spans:
            if covered_to <= at:
                continue
            if covered_from >= end:
                break
            if covered_from > at:
                gaps.append((at, covered_from))
            at = covered_to
        if at < end:
            gaps.append((at, end))
        return gaps

    def through(self, start: T) -> T | None:
        """Return the end of the span that contains `start`, or `None` if no span contains it."""
        return next((end for begin, end in self.spans if begin <= start < end), None)


_Instant = Annotated[datetime, PlainSerializer(datetime.isoformat)]


class _Cursor(BaseModel):
    model_config = ConfigDict(frozen=True)

    def move(self) -> MoveCursor:
        """Return the step that stores this cursor."""
        return MoveCursor(self.model_dump(mode="json"))


class WindowsCursor(_Cursor):
    """The cursor of a list with a filter by `updated_at`: its certified spans of time."""

    covered: tuple[tuple[_Instant, _Instant], ...] = ()


class TopCursor(_Cursor):
    """The cursor of a list that is read from the top: every row from before `through` is stored."""

    through: _Instant | None = None


class WholeCursor(TopCursor):
    """The cursor of a list that is read whole once a day: `whole_on` is the practice-local day of the last one."""

    whole_on: date | None = None


class DaysCursor(_Cursor):
    """The cursor of the phone calls; `covered` are the closed days that were read whole.

    `recent_on` and `whole_on` are the days of the last daily and weekly re-read. `tried` counts by day the calls
    that the JSON list did not contain, so that the same day is not requested again today. `zone` is a time zone
    and the evidence against it, and `read_in` the time zone of the last sync.
    """

    covered: tuple[tuple[date, date], ...] = ()
    recent_on: date | None = None
    whole_on: date | None = None
    tried: dict[date, int] = {}
    zone: tuple[str, str] | None = None
    read_in: str | None = None
