"""The steps of a strategy: a strategy yields them, and `engine` performs each step and sends the answer.

So strategies do no I/O, and tests drive them with a model source in any order of pages and changes.
"""

from collections.abc import Generator, Mapping, Sequence, Sized
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, Generic, Literal, TypeVar

from vetl.core.errors import VetlError
from vetl.core.pages import CallsPage, Certificate, Changes, Page, Row

A = TypeVar("A")
Query = Mapping[str, str | Sequence[str]]


class Step(Generic[A]):
    """A step of a strategy; `A` is the type of its answer."""

    __slots__ = ()


Plan = Generator[Step[Any], Any, A]
"""A running strategy, or a part of it: it yields steps, receives their answers and returns an `A`."""


def do(step: Step[A]) -> Plan[A]:
    """Yield a step and return its answer, such as the `Page` of a `ReadPage`."""
    return (yield step)


@dataclass(frozen=True, slots=True)
class ReadPage(Step[Page]):
    """Read one page of the JSON list.

    `number` counts from 0 even if the server's pages count from 1; `size` is the number of rows of a full page. A
    page with fewer rows than its own total promises is read again before it is the answer. If `lenient`, the first
    page is the answer in any case, for a strategy that does not know yet how the list is paged. If `divisible`,
    the strategy can ask for less instead, so that an answer which is too slow is hardly asked for again.
    """

    query: Query
    number: int
    size: int
    lenient: bool = False
    divisible: bool = False


@dataclass(frozen=True, slots=True)
class ReadCalls(Step[CallsPage]):
    """Read one page of the phone-call CSV, as in `ReadPage`; `days` are the first and the last requested day."""

    query: Query
    number: int
    size: int
    lenient: bool = False
    divisible: bool = False
    days: tuple[date, date] | None = None


@dataclass(frozen=True, slots=True)
class GetRecords(Step[dict[str, Row | VetlError | None]]):
    """Get rows by id concurrently; the answer has `None` for an id that the source lacks in two requests.

    It has the error of an id whose request always fails. It lacks the ids after some that failed in a row.
    """

    ids: Sequence[str]


@dataclass(frozen=True, slots=True)
class SideBySide(Step[list[A]]):
    """Run several readers concurrently. Answer: the list of their return values, in the same order.

    `at_once` limits the readers so that the rows fit in memory until they are written. The client limits the
    requests in flight.
    """

    readers: Sequence[Plan[A]]
    at_once: int = 4


@dataclass(frozen=True, slots=True)
class Saved(Step[None]):
    """A change for the next commit. Rows, certificates and the cursor of a commit go into one transaction."""

    certificate: Certificate | None = field(default=None, kw_only=True)


@dataclass(frozen=True, slots=True)
class MergeRows(Saved):
    """Merge rows by key: the version with the later `updated_at` stays, or else the version of the later read.

    `read_at` is the source's clock. A new or changed row with an `updated_at` before `sealed_before` came late
    into a window that is certified already, and counts as late. Rows that the store has parsed are opaque here.
    """

    rows: Sequence[Row] | Sized
    read_at: datetime
    sealed_before: datetime | None = None


@dataclass(frozen=True, slots=True)
class ReplaceDays(Saved):
    """Replace whole days of phone calls if their content differs.

    All calls of these days are in `frames`, opaque pages of the CSV, or in `rows`, records of the JSON list. An
    earlier sync read each day before `sealed_before` whole, so a difference there is a restatement.
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
    """Store ids that the source does not have."""

    ids: Sequence[str]
    read_at: datetime


@dataclass(frozen=True, slots=True)
class MoveCursor(Saved):
    """Set the cursor of the list: a JSON object in the strategy's own format."""

    cursor: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Learnt(Saved):
    """Store an observation about the source in `control.capabilities`."""

    name: str
    value: Any
    evidence: str


@dataclass(frozen=True, slots=True)
class Flush(Step[Changes]):
    """Commit all saved changes. Answer: `Changes` since the last flush of this list."""


@dataclass(frozen=True, slots=True)
class IdsWithStatus(Step[list[str]]):
    """Find the ids of the stored rows with one of these statuses. Answer: `list[str]`."""

    statuses: Sequence[str]


@dataclass(frozen=True, slots=True)
class IdsHere(Step[list[str]]):
    """Find the ids of the stored rows whose `time` is in `[start, end)`, or of all rows without a `time`.

    A row without a value in `time` counts by its creation. Answer: `list[str]`.
    """

    time: Literal["updated_at", "created_at"] | None = None
    start: datetime | None = None
    end: datetime | None = None


@dataclass(frozen=True, slots=True)
class StatusCounts(Step[dict[str, int]]):
    """Count the stored rows by status. Answer: `dict[str, int]`."""


@dataclass(frozen=True, slots=True)
class CallsPerDay(Step[dict[date, int]]):
    """Count the stored calls by day, both ends included. Answer: `dict[date, int]`."""

    first_day: date
    last_day: date


@dataclass(frozen=True, slots=True)
class DaysWithState(Step[list[date]]):
    """Find the days with a call in one of these states. Answer: `list[date]`, ascending."""

    states: Sequence[str]


@dataclass(frozen=True, slots=True)
class DaysLackingDetails(Step[dict[date, int]]):
    """Find the days with a call that has no id, or that changed after the last read of its day from the JSON list.

    Answer: the number of calls by day, `dict[date, int]`.
    """

    first_day: date
    last_day: date


@dataclass(frozen=True, slots=True)
class CallsHere(Step[list[Row]]):
    """Find the stored calls of these days, both ends included, with the values of the CSV.

    Answer: `list[Row]` by raw column: `called_at_local`, `direction`, `client_name`, `patient_name`,
    `phone_number`, `duration_seconds`, `summary`.
    """

    first_day: date
    last_day: date


@dataclass(frozen=True, slots=True)
class ReferencedIds(Step[list[str]]):
    """Find ids that other tables mention and that are not stored, or were last read before `stale_before`.

    Answer: `list[str]` of at most `limit` ids, those that are not stored first.
    """

    stale_before: datetime
    limit: int


Question = (
    IdsWithStatus | IdsHere | StatusCounts | CallsPerDay | DaysWithState | DaysLackingDetails | CallsHere |
    ReferencedIds
)  # fmt: skip
"""A question of a strategy to the warehouse, which answers from the flushed rows."""

Save = MergeRows | ReplaceDays | AttachDetails | MissingRecords | MoveCursor | Learnt
