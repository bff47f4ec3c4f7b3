"""The input and the result of a strategy.

The query parameters that a server honours on a list: a result for each of them, stored between syncs.

The contract (Endpoints) does not show the names of the date range, the page and the page size, nor on some lists
whether pages count from zero. So each parameter has one of three results:

- `honoured`: it changed an answer as it should.
- `ignored`: it changed no answer under any name that was tried.
- `undecided`: the list was too short, or changed too much, for a result.

The next sync examines undecided and ignored parameters again, a change in `vetl.toml` the parameter that it names,
and `reconcile --full` all of them.

`Practice` has the configured facts about a practice, which the interface does not provide.

At the end are the progress and the results of a sync, for the terminal and for Dagster.
"""

import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from typing import Annotated, Any, ClassVar, Literal
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from vetl.core.endpoint import Endpoint, QueryNames
from vetl.core.pages import Changes, Window
from vetl.core.text import printable
from vetl.core.zones import TimesWithoutOffset, known_zone

Details = Literal["all", "recent", "off"]
Reconcile = Literal["no", "recent", "full"]
"""The part of history that is read again although it is certified: none, the last 35 days, or all of it."""


@dataclass(frozen=True, slots=True)
class Margins:
    """The distance from rows that may still change, and the intervals of the re-reads.

    A closed window ends `closing_lag` before the source's clock and overlaps the window before it by `overlap`.
    The last `recent` days are re-read daily, and the whole history every `whole_every`. A client or patient is
    read again after `refresh_after`, with at most `reference_budget` ids per sync.
    """

    closing_lag: timedelta = timedelta(seconds=60)
    overlap: timedelta = timedelta(minutes=15)
    recent: timedelta = timedelta(days=35)
    whole_every: timedelta = timedelta(days=7)
    refresh_after: timedelta = timedelta(days=7)
    reference_budget: int = 20_000


@dataclass(frozen=True, slots=True)
class Reading:
    """One list of one practice that is to be read; `now` is the source's clock."""

    endpoint: Endpoint
    names: QueryNames
    now: datetime
    time_zone: ZoneInfo
    history_start: date
    cursor: Mapping[str, Any] = field(default_factory=dict[str, Any])
    capabilities: Mapping[str, Any] = field(default_factory=dict[str, Any])
    since: date | None = None
    until: date | None = None
    margins: Margins = Margins()
    details: Details = "recent"
    details_budget: int = 2000
    reconcile: Reconcile = "no"
    times_without_offset: TimesWithoutOffset | None = None

    @property
    def reread_from(self) -> date | None:
        """Return the first day that is read again although it is certified, if there is such a day."""
        if self.reconcile == "full":
            return self.history_start
        recent = max(self.history_start, self.local_now.date() - self.margins.recent)
        return recent if self.reconcile == "recent" else None

    @property
    def read_again(self) -> Iterator[tuple[date, date | None]]:
        """Yield the spans of days that are read again although they are certified: their first and last day.

        Without a last day a span ends now.
        """
        if self.since is not None:
            yield self.since, self.until
        if self.reread_from is not None:
            yield self.reread_from, None

    @property
    def local_now(self) -> datetime:
        """Return the source's clock in the practice's time zone."""
        return self.now.astimezone(self.time_zone)

    @property
    def whole_history(self) -> Window:
        """Return the window from the start of history to a day after the source's clock."""
        return Window(self.local_midnight(self.history_start), self.now + timedelta(days=1))

    def local_midnight(self, day: date) -> datetime:
        """Return the instant at which a practice-local day begins, in UTC."""
        # Python ignores DST in differences of two times in one zone.
        return datetime(day.year, day.month, day.day, tzinfo=self.time_zone).astimezone(UTC)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The certainty of a read: all rows up to `through` are stored, by the evidence in `reason`.

    `suspects` are query parameters with the result `honoured` that an answer contradicts.
    """

    certified: bool
    through: datetime | None
    reason: str
    notes: tuple[str, ...] = ()
    suspects: tuple[str, ...] = ()


class Result(StrEnum):
    """The result for one parameter."""

    HONOURED = "honoured"
    IGNORED = "ignored"
    UNDECIDED = "undecided"


Key = Literal["start", "end", "per_page", "page", "status"]
KEYS: tuple[Key, ...] = ("start", "end", "per_page", "page", "status")


class Parameter(BaseModel):
    """One query parameter: `name` is in use, `configured` was the name in the settings at the examination.

    `base` is the number of the first page, `size` the rows of the largest page. `bounds` is the form and the
    precision of a start and an end (`vetl.discovery.conventions.Bounds`), stored with the start. If the start is
    ignored, `bounds` is the form in which the server requires it; for an end beside such a start, the form in
    which it accepts the end. `refuses_future`: the server refuses an end in the future. `most_days`: it refuses a
    longer range from this start.
    """

    model_config = ConfigDict(frozen=True)

    name: str
    configured: str
    result: Result = Result.UNDECIDED
    base: int | None = None
    size: int | None = None
    bounds: Literal["instant", "widened", "day"] | None = None
    refuses_future: bool = False
    most_days: int | None = None


class Capabilities(BaseModel):
    """The parameters of one list by their keys, as `control.capabilities` stores them."""

    model_config = ConfigDict(frozen=True)

    parameters: dict[Key, Parameter]

    @classmethod
    def of(cls, stored: Mapping[str, Any], configured: QueryNames) -> "Capabilities":
        """Return the stored results that hold for the names configured now; all other parameters are undecided."""
        return cls(parameters={key: _parameter(stored.get(key), getattr(configured, key)) for key in KEYS})

    @property
    def names(self) -> QueryNames:
        """Return the names in use."""
        return QueryNames(**{key: item.name for key, item in self.parameters.items()})

    def result(self, key: Key) -> Result:
        """Return the result for a parameter."""
        return self.parameters[key].result

    def overruled(self, defaults: QueryNames) -> list[str]:
        """Return a line for each name in the settings that the server does not honour while it honours another."""
        return [
            f'{key} = "{item.configured}" in vetl.toml is not honoured, "{item.name}" is, and is used'
            for key, item in self.parameters.items()
            if item.result is Result.HONOURED and item.configured not in (item.name, getattr(defaults, key))
        ]


def _parameter(stored: Any, configured: str) -> Parameter:  # noqa: ANN401 - JSON as it was stored
    try:
        parameter = Parameter.model_validate(stored)
    except ValidationError:
        return Parameter(name=configured, configured=configured)
    return parameter if parameter.configured == configured else Parameter(name=configured, configured=configured)


ID_LENGTH = 80
"""Most characters of a practice's id. The id names a folder of the lake: a character may take 3 of 255 bytes."""


def problem_of_id(text: str) -> str | None:
    """Return the reason why no practice can have this id, which is sent in `X-Client-Id` and names a folder."""
    if not text.isascii() or not text.isprintable() or text != text.strip() or not text:
        return "must be visible ASCII characters, as they go into X-Client-Id"
    return f"must have at most {ID_LENGTH} characters" if len(text) > ID_LENGTH else None


def _possible_id(text: str) -> str:
    if problem := problem_of_id(text):
        raise ValueError(problem)
    return text


def _one_line(text: str) -> str:
    """Return the text if it is one line in one direction, as heads of mails and tables need it."""
    if any(unicodedata.category(one) in {"Cc", "Zl", "Zp"} for one in text) or printable(text) != text:
        msg = "must be one line without control characters"
        raise ValueError(msg)
    return text


@dataclass(frozen=True, slots=True)
class Practice:
    """One location; `id` is sent in `X-Client-Id`, and `history_start` is the first day that is read.

    `settings` checks the annotations when it reads a practice from a file; a plain call does not check them.
    """

    __pydantic_config__: ClassVar = ConfigDict(extra="forbid")

    id: Annotated[str, AfterValidator(_possible_id)]
    name: Annotated[str, Field(min_length=1), AfterValidator(_one_line)]
    time_zone: Annotated[str, AfterValidator(known_zone)]
    history_start: Annotated[date, Field(ge=date(1900, 1, 1))]
    group: Annotated[str, AfterValidator(_one_line)] | None = None


State = Literal["certified", "uncertified", "withdrawn", "failed"]


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of one list of one practice; `total` is `None` while it is unknown.

    `done` counts a row each time it is read; `new`, `changed` and `requests` are set at the end.
    """

    practice_id: str
    endpoint: str
    done: int
    total: int | None
    phase: str
    new: int = 0
    changed: int = 0
    requests: int = 0


@dataclass(frozen=True, slots=True)
class Waiting:
    """The reason why a sync waits, in words; empty once the sync continues."""

    what: str = ""


ReportProgress = Callable[[Progress | Waiting], None]
"""A sync calls it often, in its own thread."""


@dataclass(frozen=True, slots=True)
class EndpointResult:
    """The result for one list of one practice; `rows` counts the rows of its raw table that are not deleted.

    `reason` explains the state. `retryable`: the list failed, but the same sync may work later. `held` counts the
    rows of this list in quarantine, from this sync and earlier ones. `retries` counts the requests that repeated
    an earlier request, and `bytes` is the decompressed size of all answers.
    """

    practice_id: str
    endpoint: str
    state: State
    reason: str
    changes: Changes
    rows: int
    requests: int
    certified_through: datetime | None
    notes: tuple[str, ...] = ()
    retryable: bool = False
    held: int = 0
    retries: int = 0
    bytes: int = 0


@dataclass(frozen=True, slots=True)
class SyncResult:
    """The result of one run of `sync`; `source_clock` is the platform's clock, `None` if it was never reached.

    `sign_ins` counts the sign-ins of the run. `doubts` are lines about the whole platform that leave the run
    uncertified; `notes` are lines without effect on the exit code.
    """

    run_id: str
    source_clock: datetime | None
    results: tuple[EndpointResult, ...]
    sign_ins: int = 0
    doubts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """Return 1 if a list failed, 3 if a list is uncertified or has rows in quarantine, and else 0."""
        if any(result.state == "failed" for result in self.results):
            return 1
        doubtful = any(result.state == "uncertified" or result.held for result in self.results)
        return 3 if doubtful or self.doubts else 0

    def as_json(self) -> dict[str, Any]:
        """Return the result as plain JSON values, with instants in ISO 8601."""
        return {
            "run_id": self.run_id,
            "source_clock": _iso(self.source_clock),
            "exit_code": self.exit_code,
            "sign_ins": self.sign_ins,
            "doubts": list(self.doubts),
            "notes": list(self.notes),
            "results": [
                {**asdict(result), "certified_through": _iso(result.certified_through)} for result in self.results
            ],
        }


def _iso(instant: datetime | None) -> str | None:
    return None if instant is None else instant.isoformat()
