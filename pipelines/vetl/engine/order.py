"""What a sync is asked to do, and a sync that is running."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime

from vetl.core import list_read
from vetl.core.endpoint import Endpoint, QueryNames
from vetl.core.pages import CallsPage
from vetl.core.zones import TimesWithoutOffset
from vetl.engine.writer import Store, Writer
from vetl.partner.client import PartnerClient

PRACTICES_AT_ONCE = 32
"""More practices share each statement of the writer if more of them wait for it. With 12 at once, a sync of
a scheduled tick costs a third more."""


@dataclass(frozen=True, slots=True)
class Order:
    """The practices and lists to sync, with the settings. `names`: query parameters by the name of the list."""

    practices: Sequence[list_read.Practice]
    endpoints: Sequence[Endpoint]
    names: Mapping[str, QueryNames]
    since: date | None = None
    until: date | None = None
    margins: list_read.Margins = field(default_factory=list_read.Margins)
    details: list_read.Details = "recent"
    details_budget: int = 2000
    reconcile: list_read.Reconcile = "no"
    times_without_offset: TimesWithoutOffset | None = None

    @property
    def command(self) -> str:
        """Return the name of the run in `control.runs`."""
        return "sync" if self.reconcile == "no" else "reconcile"


@dataclass(slots=True)
class Run:
    """A sync that is running. `clock` is the latest `Date` header of the source."""

    run_id: str
    order: Order
    source: PartnerClient
    store: Store
    parse_calls: Callable[..., CallsPage]
    clock: datetime
    progress: list_read.ReportProgress
    writer: Writer = field(init=False)
    answered: set[str] = field(default_factory=set[str])
    """Practices for which at least one request of this sync was answered."""
    failures: dict[str, Exception] = field(default_factory=dict[str, Exception])
    """The first error of each practice, by its id, if one of its lists failed in this sync."""

    def __post_init__(self) -> None:
        self.writer = Writer(self.run_id, self.store)

    @property
    def practices_at_once(self) -> int:
        """Return how many practices are read concurrently."""
        return max(1, min(PRACTICES_AT_ONCE, len(self.order.practices)))
