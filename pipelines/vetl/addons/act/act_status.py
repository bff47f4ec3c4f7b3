"""The acts of the ledger, for `vetl act status`, `vetl status` and Dagster's check."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from vetl.addons.act.acts import OPEN, ActState, LedgerEntry
from vetl.addons.act.ledger import read_ledger
from vetl.addons.act.settings import ActSettings
from vetl.core.errors import LedgerError
from vetl.hooks import Problem
from vetl.settings import Settings

Now = Callable[[], datetime]


def utc_now() -> datetime:
    """Return this machine's clock."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class ActStatus:
    """The acts of the ledger. `overdue`: open for longer than a day."""

    entries: tuple[LedgerEntry, ...]
    now: datetime

    @property
    def counts(self) -> Mapping[str, int]:
        """Return how many acts are in each state."""
        return {state.value: sum(entry.state is state for entry in self.entries) for state in ActState}

    @property
    def unknown(self) -> tuple[LedgerEntry, ...]:
        """Return the acts of which it is not known whether there is a task."""
        return tuple(entry for entry in self.entries if entry.state in OPEN)

    @property
    def overdue(self) -> tuple[LedgerEntry, ...]:
        """Return the acts that have been open for longer than a day."""
        day = timedelta(days=1)
        return tuple(entry for entry in self.unknown if entry.asked_at and self.now - entry.asked_at > day)

    @property
    def exit_code(self) -> int:
        """Return 3 if it is not known of an act whether there is a task."""
        return 3 if self.unknown else 0

    @property
    def noteworthy(self) -> tuple[LedgerEntry, ...]:
        """Return the acts that were refused, were left to a person, or may or may not have a task."""
        return tuple(entry for entry in self.entries if entry.state in OPEN | {ActState.REFUSED, ActState.LEFT})


def act_status(settings: Settings, *, now: Now = utc_now) -> ActStatus:
    """Return the acts of the ledger. No request leaves."""
    return ActStatus(tuple(read_ledger(ActSettings.of(settings).ledger)), now())


def problems(settings: Settings, now: datetime) -> Iterator[Problem]:
    """Yield a problem if the ledger of acts cannot be read, or an act has been unknown for longer than a day."""
    try:
        overdue = len(act_status(settings, now=lambda: now).overdue)
    except LedgerError as error:
        yield Problem(1, str(error))
        return
    if overdue:
        tasks = "1 staff task was" if overdue == 1 else f"{overdue} staff tasks were"
        yield Problem(3, f"it has been unknown for longer than a day whether {tasks} made; see `vetl act status`")
