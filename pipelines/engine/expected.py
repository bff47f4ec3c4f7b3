"""How many rows a list's windows were said to hold, so that a sync can tell how far it has come."""

from collections.abc import Hashable

from pipelines.core.pages import CallsPage, Page
from pipelines.core.steps import ReadCalls, ReadPage

WHOLE_PAGES = 20
"""A smaller page is read for its total or for a proof, not for its rows."""


class ExpectedRows:
    """The totals of the windows met so far. A window that is read again counts once."""

    def __init__(self) -> None:
        self._totals: dict[Hashable, int] = {}

    def note(self, step: ReadPage | ReadCalls, page: Page | CallsPage) -> None:
        """One page of a window, which tells the window's total."""
        if step.size >= WHOLE_PAGES and not step.lenient:
            window = tuple(sorted((name, str(value)) for name, value in step.query.items() if name != "page"))
            self._totals[window] = page.total_count

    def total(self, read: int) -> int | None:
        """At least as many as were `read`; `None` before the first page."""
        return max(read, sum(self._totals.values())) if self._totals else None
