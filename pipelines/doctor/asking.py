"""Questions to one list, and the query they share."""

from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from pipelines.endpoint import QueryNames
from pipelines.errors import PracticeRefused, RequestRefused
from pipelines.pages import Page
from pipelines.steps import ReadPage, Step
from pipelines.strategies.dialect import Bounds
from pipelines.strategies.reading import Reading

Asking = Generator[Step, Any, Page | None]
LARGEST = 100
"""Rows on a page of JSON at most (contract: Limits)."""


@dataclass(slots=True)
class Known:
    """What is known of a list so far. `whole` is the query under which it shows every row.

    `names` are proven where their key is in `proven`, else still as configured.
    """

    reading: Reading
    names: QueryNames
    whole: dict[str, str] = field(default_factory=dict[str, str])
    proven: set[str] = field(default_factory=set[str])
    bounds: Bounds = "none"
    page_base: int | None = None
    page_size: int | None = None
    largest: dict[str, str] = field(default_factory=dict[str, str])
    """The parameter that asks for the largest page, where one works."""
    smallest: dict[str, str] = field(default_factory=dict[str, str])
    """The parameter that asks for a page of one row, where one works."""

    @property
    def endpoint(self) -> str:
        """The name of the list."""
        return self.reading.endpoint.name


def ask(query: Mapping[str, str]) -> Asking:
    """One page, or nothing where the server refuses this question.

    Raises:
        PracticeRefused: it answers nothing for this practice.
    """
    try:
        page: Page = yield ReadPage(query, 0, LARGEST, lenient=True)
    except PracticeRefused:
        raise
    except RequestRefused:
        return None
    return page


def fields_at_fault(query: Mapping[str, str]) -> Generator[Step, Any, Sequence[str]]:
    """The parameters that the server's refusal of a query names, beside those that were sent.

    Raises:
        PracticeRefused, NotFound: it answers nothing for this practice, or has no such list.
    """
    try:
        yield ReadPage(query, 0, LARGEST, lenient=True)
    except RequestRefused as refusal:
        if not refusal.fields and refusal.status != 400:  # noqa: PLR2004 - no validation error
            raise
        return [name for name, _ in refusal.fields if name and name not in query]
    return ()


def candidates(*groups: Iterable[str]) -> list[str]:
    """Names to try, in this order, each once."""
    return list(dict.fromkeys(name for group in groups for name in group))


def written(at: datetime, bounds: Bounds, *, sharp: bool = False) -> str:
    """A bound as text: an instant (to the microsecond where `sharp`), or the UTC day it is on."""
    at = at.astimezone(UTC)
    if bounds == "day":
        return at.date().isoformat()
    text = at.replace(tzinfo=None).isoformat(timespec="microseconds" if sharp else "seconds")
    return f"{text}Z"


def far_ahead(now: datetime) -> datetime:
    """When no row can have been updated yet."""
    return now + timedelta(days=400)
