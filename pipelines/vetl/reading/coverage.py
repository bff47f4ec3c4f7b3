"""The parts of a time line that were read whole: the cursor of every list with a date filter."""

from dataclasses import dataclass
from datetime import date, datetime
from functools import reduce
from typing import Generic, TypeVar

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
