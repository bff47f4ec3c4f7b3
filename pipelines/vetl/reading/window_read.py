"""The purpose of the read of a window, and its result."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import reduce
from operator import add

from vetl.core.pages import Page, Window, WindowKind
from vetl.core.steps import MoveCursor
from vetl.reading.coverage import Coverage

WINDOWS_ALLOWED = 256
ROWS_PER_WINDOW_ALLOWED = 20
"""Windows into which one purpose may be split: 256, and one more for every 20 rows that came. If a server answers
the same total for every part, the split would otherwise go down to the second."""
NOTHING: Coverage[datetime] = Coverage()
OnCertified = Callable[[Window], MoveCursor]


@dataclass(frozen=True, slots=True)
class WindowOutcome:
    """The result of the read of a window.

    `covered` are its certified parts, `doubts` the reasons why other parts are not certified, and `ids` all ids
    that came, if the purpose wants them. `lies`: a total was wrong. `strays`: rows from outside the range came.
    """

    covered: Coverage[datetime] = NOTHING
    doubts: tuple[str, ...] = ()
    ids: frozenset[str] = frozenset()
    lies: bool = False
    strays: bool = False

    @property
    def certified(self) -> bool:
        """Return whether no part is in doubt."""
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
    """The observations that the parts of a window share while they are read concurrently.

    `windows`, `pages` and `came` count the windows, pages and rows so far.
    """

    lies: bool = False
    strays: bool = False
    windows: int = 0
    pages: int = 0
    came: int = 0

    @property
    def may_split(self) -> bool:
        """Return whether one more window may be split, by the number of rows that really came."""
        allowed = WINDOWS_ALLOWED + self.came // ROWS_PER_WINDOW_ALLOWED
        return not self.strays and self.windows < allowed

    def meet(self, pages: Sequence[Page]) -> None:
        """Count pages that were read and their rows."""
        self.pages += len(pages)
        self.came += sum(len(page.rows) for page in pages)


@dataclass(frozen=True, slots=True)
class Purpose:
    """The purpose of the read of a window, which all of its parts share.

    `kind` is the kind in `control.windows`. A changed row from before `sealed_before` came late. No row with a
    change before `settled` can still appear. `on_certified` moves the cursor behind each certified part, so that
    the next run resumes there if this run ends early. `hidden`: the answers may lack rows of the window, because
    no end is known to work, so that the window cannot be certified. `wants_ids`: the outcome contains all ids that
    came.
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
        """Return whether a window that keeps changing is split and read until it is certain."""
        # The tail moves no cursor, and the next sync reads it again.
        return self.kind is not WindowKind.TAIL

    def unsettled(self, window: Window) -> bool:
        """Return whether rows may still come late into a window."""
        return self.settled is not None and isinstance(window.end, datetime) and window.end > self.settled


def combined(outcomes: Iterable[WindowOutcome]) -> WindowOutcome:
    """Return the outcome of several windows."""
    return reduce(add, outcomes, WindowOutcome())
