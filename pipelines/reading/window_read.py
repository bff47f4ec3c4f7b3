"""What a window is read for, and what reading it has found."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import reduce
from operator import add

from pipelines.core.pages import Page, Window, WindowKind
from pipelines.core.steps import MoveCursor
from pipelines.reading.coverage import Coverage

WINDOWS_ALLOWED = 256
ROWS_PER_WINDOW_ALLOWED = 20
"""Windows that one purpose may be split into, and one more for so many rows that came: a server that tells the
same total for every part would otherwise be split down to the second."""
NOTHING: Coverage[datetime] = Coverage()
OnCertified = Callable[[Window], MoveCursor]


@dataclass(frozen=True, slots=True)
class WindowOutcome:
    """What reading a window has found.

    `covered`: the parts of it that are certified. `doubts`: why others are not. `ids`: all that were met, where
    they are wanted. `lies`: a total was caught lying. `strays`: rows came that the range does not hold.
    """

    covered: Coverage[datetime] = NOTHING
    doubts: tuple[str, ...] = ()
    ids: frozenset[str] = frozenset()
    lies: bool = False
    strays: bool = False

    @property
    def certified(self) -> bool:
        """Whether no part is in doubt."""
        return not self.doubts

    def __add__(self, other: "WindowOutcome") -> "WindowOutcome":
        return WindowOutcome(
            self.covered.union(other.covered),
            self.doubts + other.doubts,
            self.ids | other.ids,
            self.lies or other.lies,
            self.strays or other.strays,
        )


@dataclass(slots=True)
class Shared:
    """What the parts of a window learn while they are read side by side, each for all of them.

    `windows`, `pages`, `came`: how many windows and pages were read so far, and how many rows came.
    """

    lies: bool = False
    strays: bool = False
    windows: int = 0
    pages: int = 0
    came: int = 0

    @property
    def may_split(self) -> bool:
        """Whether one window more may be split: by the rows that came, not by what totals promise."""
        allowed = WINDOWS_ALLOWED + self.came // ROWS_PER_WINDOW_ALLOWED
        return not self.strays and self.windows < allowed

    def meet(self, pages: Sequence[Page]) -> None:
        """Count what was read."""
        self.pages += len(pages)
        self.came += sum(len(page.rows) for page in pages)


@dataclass(frozen=True, slots=True)
class Purpose:
    """What a window is read for, which the parts that it is split into share.

    `kind` names them in `control.windows`. `sealed_before`: a changed row from before it came late.
    `settled`: rows that were changed before this do not appear any more, not even late. `on_certified`: how the
    cursor moves with each certified part, so that a run that ends early resumes behind it. The tail moves none, so
    it is neither split nor insisted upon while it keeps moving.
    `hidden`: rows of the window may not be shown, since no end is known to work, so it cannot be certified.
    `wants_ids`: all ids that are met are returned.
    """

    kind: WindowKind
    sealed_before: datetime | None = None
    settled: datetime | None = None
    on_certified: OnCertified | None = None
    hidden: bool = False
    wants_ids: bool = False
    shared: Shared = field(default_factory=Shared)

    @property
    def insists(self) -> bool:
        """Whether a window that keeps moving is split, and read until it is certain."""
        return self.kind is not WindowKind.TAIL

    def unsettled(self, window: Window) -> bool:
        """Whether rows may still come late into a window."""
        return self.settled is not None and isinstance(window.end, datetime) and window.end > self.settled


def together(outcomes: Iterable[WindowOutcome]) -> WindowOutcome:
    """What several windows brought."""
    return reduce(add, outcomes, WindowOutcome())
