"""Reading a list page by page, and what one pass over it proves.

A certificate rests on distinct ids, never on counted rows: while a list moves, a skipped row and a repeated
one cancel each other in a count (design §8).
"""

from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from json import dumps
from typing import Any

from pipelines.pages import Certificate, Page, Row, Window
from pipelines.steps import SideBySide, Step
from pipelines.strategies.dialect import Dialect


def key_of(row: Row) -> str:
    """The id of a row; a row without one counts as itself, so that the certificate still counts it."""
    identity = row.get("id")
    return dumps(row, sort_keys=True, default=str) if identity is None else str(identity)


@dataclass(frozen=True, slots=True)
class Pass:
    """One pass over one window, in the order of the pages."""

    window: Window
    pages: tuple[Page, ...]
    started: datetime

    @property
    def rows(self) -> list[Row]:
        """All rows, those met twice included."""
        return [row for page in self.pages for row in page.rows]

    @property
    def keys(self) -> set[str]:
        """The distinct ids among the rows."""
        return {key_of(row) for row in self.rows}

    @property
    def total(self) -> int:
        """What the first page said the window holds."""
        return self.pages[0].total_count

    @property
    def steady(self) -> bool:
        """Whether every page told the same total."""
        return all(page.total_count == self.total for page in self.pages)

    @property
    def whole(self) -> bool:
        """In a window that rows only leave, an unmoved total met by as many distinct ids skips nothing."""
        return self.steady and len(self.keys) == self.total

    @property
    def read_at(self) -> datetime:
        """The source's clock at the last answer."""
        return max(page.server_time for page in self.pages)

    @property
    def finding(self) -> str:
        """What this pass shows, in the words of a certificate."""
        if not self.steady:
            return f"the total moved between pages ({self.total} to {self.pages[-1].total_count})"
        if not self.whole:
            return f"{len(self.keys)} distinct ids where the total is {self.total}"
        return "one page is one snapshot" if len(self.pages) == 1 else "distinct ids equal an unmoved total"


def certificate(done: Pass, kind: str, *, retries: int = 0, reason: str | None = None) -> Certificate:
    """The evidence of a pass. A reason of its own says why it counts although the pass alone does not."""
    return Certificate(
        window=done.window,
        kind=kind,
        total_first=done.total,
        total_last=done.pages[-1].total_count,
        rows=sum(len(page.rows) for page in done.pages),
        distinct_ids=len(done.keys),
        requests=sum(page.requests for page in done.pages),
        retries=retries,
        certified=done.whole or reason is not None,
        reason=reason or done.finding,
        started=done.started,
        finished=done.read_at,
    )


def uncertified(evidence: Certificate, reason: str) -> Certificate:
    """The same evidence, which is not enough."""
    return replace(evidence, certified=False, reason=reason)


def one(step: Step) -> Generator[Step, Any, Any]:
    """A reader of a single step, for reading steps side by side."""
    return (yield step)


def first_page(dialect: Dialect, window: Window) -> Generator[Step, Any, Page]:
    """The first page of a window; its total tells how many there are."""
    page: Page = yield dialect.page(window, 0)
    return page


def remaining_pages(
    dialect: Dialect, window: Window, first: Page, *, side_by_side: bool = True
) -> Generator[Step, Any, Pass]:
    """The pages after the first, as many as its total promises."""
    size = min(dialect.page_size, first.per_page or dialect.page_size)
    count = -(-first.total_count // size) if size else 1
    steps = [dialect.page(window, number) for number in range(1, count)]
    if side_by_side and len(steps) > 1:
        rest: Sequence[Page] = yield SideBySide([one(step) for step in steps])
    else:
        rest = []
        for step in steps:
            rest = [*rest, (yield step)]
    return Pass(window, (first, *rest), first.server_time)


def read_pass(dialect: Dialect, window: Window) -> Generator[Step, Any, Pass]:
    """One pass over a window: its first page, then the others side by side."""
    first = yield from first_page(dialect, window)
    return (yield from remaining_pages(dialect, window, first))


def united(passes: Iterable[Pass]) -> set[str]:
    """The distinct ids of several passes over one closed window."""
    return {key for done in passes for key in done.keys}
