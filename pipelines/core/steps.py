"""What a strategy may ask for. A strategy is a generator of these; `engine` performs each and sends the answer.

So strategies do no I/O: a test drives them with a model source, in any order of pages and changes.
"""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, Generic, Literal, Protocol, TypeVar

from pipelines.core.pages import CallsPage, Certificate, Changes, Page, Row

A = TypeVar("A")
Query = Mapping[str, str | Sequence[str]]


class Step(Generic[A]):
    """What a strategy may ask for. `A` is the answer."""

    __slots__ = ()


Plan = Generator[Step[Any], Any, A]
"""A strategy, or a part of one, under way: yields steps, is sent their answers, returns an `A`."""


def do(step: Step[A]) -> Plan[A]:
    """Ask for a step, and wait for its answer: a `Page` of a `ReadPage`, and so on."""
    return (yield step)


@dataclass(frozen=True, slots=True)
class ReadPage(Step[Page]):
    """Read one page of the endpoint's JSON list.

    `number` counts from 0 whatever the server's page base is; `size` is how many rows a full page of this list
    holds. A page with fewer rows than its own total promises is torn and read again before it is answered,
    unless `lenient`: then whatever came is the answer, for a strategy that still learns how the list is paged.
    """

    query: Query
    number: int
    size: int
    lenient: bool = False


@dataclass(frozen=True, slots=True)
class ReadCalls(Step[CallsPage]):
    """Read one page of the phone-call CSV. `lenient`: see `ReadPage`."""

    query: Query
    number: int
    size: int
    lenient: bool = False


@dataclass(frozen=True, slots=True)
class GetRecords(Step[dict[str, Row | None]]):
    """Get rows by id, side by side; `None` where the source has none."""

    ids: Sequence[str]


@dataclass(frozen=True, slots=True)
class SideBySide(Step[list[A]]):
    """Run several readers at once. Answer: the list of their return values, in the same order.

    So many of them at a time as what they have read fits in memory until it is written; the client limits the
    requests in flight by itself.
    """

    readers: Sequence[Plan[A]]
    at_once: int = 4


@dataclass(frozen=True, slots=True)
class Saved(Step[None]):
    """Work for the next commit. Rows, certificates and cursor of one commit go into one transaction."""

    certificate: Certificate | None = field(default=None, kw_only=True)


class ReadRows(Protocol):
    """Rows whose values the store has read while they wait to be written; opaque here."""

    def __len__(self) -> int:
        """How many rows there are."""
        ...


@dataclass(frozen=True, slots=True)
class MergeRows(Saved):
    """Merge rows by key; of two versions the one with the later `updated_at`, else the later read, stays.

    `read_at` is the source's clock; `sealed_before`: a new or changed row with an older `updated_at` came late
    into a window that was already certified, and is counted as such.
    """

    rows: Sequence[Row] | ReadRows
    read_at: datetime
    sealed_before: datetime | None = None


@dataclass(frozen=True, slots=True)
class ReplaceDays(Saved):
    """Replace whole days of phone calls where their content differs.

    All calls of these days are in `frames`, opaque pages of the CSV, or in `rows`, records of the JSON list.
    A day before `sealed_before` was read whole by an earlier sync: what differs there is a restatement.
    """

    frames: Sequence[Any]
    first_day: date
    last_day: date
    read_at: datetime
    sealed_before: date | None = None
    rows: Sequence[Row] = ()


@dataclass(frozen=True, slots=True)
class AttachDetails(Saved):
    """Attach ids, exact times and client ids from JSON rows to the calls of these days."""

    rows: Sequence[Row]
    first_day: date
    last_day: date


@dataclass(frozen=True, slots=True)
class MissingRecords(Saved):
    """Ids that the source was asked for and does not have."""

    ids: Sequence[str]
    read_at: datetime


@dataclass(frozen=True, slots=True)
class MoveCursor(Saved):
    """Set the endpoint's cursor: a JSON object whose shape the strategy decides."""

    cursor: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Learnt(Saved):
    """Keep what the source was seen to do (`control.capabilities`)."""

    name: str
    value: Any
    evidence: str


@dataclass(frozen=True, slots=True)
class Flush(Step[Changes]):
    """Commit all that was saved. Answer: `Changes` since this endpoint's last flush."""


@dataclass(frozen=True, slots=True)
class IdsWithStatus(Step[list[str]]):
    """Ids of the rows here whose status is one of these. Answer: `list[str]`."""

    statuses: Sequence[str]


@dataclass(frozen=True, slots=True)
class IdsHere(Step[list[str]]):
    """Ids of the rows here whose `time` is in `[start, end)`; all rows where no time is named.

    Answer: `list[str]`.
    """

    time: Literal["updated_at", "created_at"] | None = None
    start: datetime | None = None
    end: datetime | None = None


@dataclass(frozen=True, slots=True)
class UpdatesOf(Step[list[datetime | None]]):
    """When the rows of these ids were last updated. Answer: `list[datetime | None]`, each time once, ascending."""

    ids: Sequence[str]


@dataclass(frozen=True, slots=True)
class StatusCounts(Step[dict[str, int]]):
    """How many rows are here by status. Answer: `dict[str, int]`."""


@dataclass(frozen=True, slots=True)
class CallsPerDay(Step[dict[date, int]]):
    """How many calls are here by day, both ends included. Answer: `dict[date, int]`."""

    first_day: date
    last_day: date


@dataclass(frozen=True, slots=True)
class DaysWithState(Step[list[date]]):
    """Days that hold a call in one of these states. Answer: `list[date]`, ascending."""

    states: Sequence[str]


@dataclass(frozen=True, slots=True)
class DaysLackingDetails(Step[dict[date, int]]):
    """Days with a call that has no id, or that changed after the JSON list last told of its day.

    Answer: how many calls they hold, `dict[date, int]`.
    """

    first_day: date
    last_day: date


@dataclass(frozen=True, slots=True)
class CallsHere(Step[list[Row]]):
    """The calls that are here of these days, both ends included, as the CSV told them.

    Answer: `list[Row]` by raw column: `called_at_local`, `direction`, `client_name`, `patient_name`,
    `phone_number`, `duration_seconds`, `summary`.
    """

    first_day: date
    last_day: date


@dataclass(frozen=True, slots=True)
class ReferencedIds(Step[list[str]]):
    """Ids that other tables mention and that are unknown here, or were last read before `stale_before`.

    Answer: `list[str]`, unknown ones first, at most `limit`.
    """

    stale_before: datetime
    limit: int


Question = (
    IdsWithStatus
    | IdsHere
    | UpdatesOf
    | StatusCounts
    | CallsPerDay
    | DaysWithState
    | DaysLackingDetails
    | CallsHere
    | ReferencedIds
)
"""What a strategy asks of the warehouse. It sees what has been flushed."""

Save = MergeRows | ReplaceDays | AttachDetails | MissingRecords | MoveCursor | Learnt
