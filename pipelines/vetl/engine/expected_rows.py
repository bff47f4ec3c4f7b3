"""The number of rows that a list is expected to have, for the progress of a sync."""

from collections.abc import Hashable

from vetl.core.pages import CallsPage, Page
from vetl.core.steps import ReadCalls, ReadPage

WHOLE_PAGES = 20
"""Pages with a smaller page size are read for their total or for a proof, not for their rows."""


class ExpectedRows:
    """The sum of the totals of a list's windows, from which a sync reports its progress.

    A window that is read again counts once.
    """

    def __init__(self) -> None:
        self._totals: dict[Hashable, int] = {}

    def note(self, step: ReadPage | ReadCalls, page: Page | CallsPage) -> None:
        """Remember the total of a window from one of its pages."""
        if step.size >= WHOLE_PAGES and not step.lenient:
            window = tuple(sorted((name, str(value)) for name, value in step.query.items() if name != "page"))
            self._totals[window] = page.total_count

    def total(self, read: int) -> int | None:
        """Return the expected rows, at least as many as were `read`; `None` before the first page."""
        return max(read, sum(self._totals.values())) if self._totals else None
