"""Details that the contract does not show, as switches: the defaults are one reasonable server of many."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import date
from typing import Any, Literal

from pydantic import ConfigDict, TypeAdapter, ValidationError

Order = Literal["created_desc", "created_asc", "updated_desc", "updated_asc", "unordered", "random"]
TimestampFormat = Literal[
    "milliseconds", "seconds", "microseconds", "offset", "practice", "without_offset", "practice_without_offset"
]


@dataclass(frozen=True)
class ListSwitches:
    """The requests and answers of one list."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    start: str = "start_date"
    """Name of the parameter for the start of the range."""
    end: str = "end_date"
    """Name of the parameter for its end."""
    page: str = "page"
    """Name of the page number."""
    per_page: str = "per_page"
    """Name of the page size."""
    status: str = "status"
    """Name of the status filter."""
    page_base: Literal[0, 1] = 0
    """The number of the first page."""
    order: Order = "created_desc"
    """The order of rows; `unordered` is fixed, but means nothing; `random` is another order for each request."""
    ties: Literal["fixed", "moving"] = "fixed"
    """Whether rows with the same time keep their places from request to request."""
    maximum_size: int = 100
    """Rows a page of JSON at most."""
    over_large: Literal["clamp", "refuse"] = "clamp"
    """A page size over the maximum is made smaller, or a 400."""
    bounds: Literal["[]", "[)", "(]", "()"] = "[]"
    """Whether a row on the start or end instant is in the range."""
    granularity: Literal["instant", "day"] = "instant"
    """Whether a bound's time of day counts, or only its day."""
    instants: Literal["taken", "refused"] = "taken"
    """Whether a bound may have a time of day, or such a bound is a 400."""
    day_zone: Literal["UTC", "practice"] = "UTC"
    """Whose days: for `day`, for a date without time, for a time without offset."""
    start_required: bool = True
    """The zone of days: for `day`, for a date without time, for a time without offset."""
    default_end: Literal["now", "midnight"] = "now"
    """The end of a range without an end: the last row, or the start of the current day."""
    ignored: tuple[Literal["start", "end", "page", "per_page", "status"], ...] = ()
    """Parameters that are checked and then have no effect."""
    told_total: int | None = None
    """The total of every page, whatever the list has; null: the true total."""
    empty_rows: int = 0
    """The number of `[]` that come in place of the rows of each JSON page."""

    @property
    def keeps_places(self) -> bool:
        """Whether rows at rest have the same places in each answer."""
        return self.order != "random" and self.ties == "fixed"

    unknown_status: Literal["refuse", "nothing", "everything"] = "refuse"
    """The answer to a status outside the contract's: a 400, no rows, or all rows."""


@dataclass(frozen=True)
class Switches:
    """Everything about the platform that the contract leaves open."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    phone_calls: ListSwitches = field(default_factory=ListSwitches)
    """The contract shows its names, bounds and first page: `order` to `over_large`, and the false totals apply."""
    booking_sessions: ListSwitches = field(default_factory=lambda: ListSwitches(order="updated_desc"))
    appointments: ListSwitches = field(default_factory=lambda: ListSwitches(order="updated_desc"))
    ai_outbound: ListSwitches = field(default_factory=ListSwitches)
    staff_tasks: ListSwitches = field(default_factory=ListSwitches)
    booking_intent_parameter: str = "booking_intent"
    """Name of the calls' boolean filter."""
    client_parameter: str = "client_id"
    """Name of the calls' client filter."""
    unknown_parameters: Literal["ignored", "refused"] = "ignored"
    """Query parameters that a list does not know are passed over, or a 400."""
    token_lifetime_seconds: float = 3600
    """How long a token is good for, by the platform's clock."""
    sign_in_status: Literal[200, 201] = 200
    """Status of a successful sign-in."""
    sign_in_refusals: float = 0.0
    """The share of sign-ins after the first that get a 200 with `success: false` although all is right."""
    token_uses: int | None = None
    """How many requests a token is good for; null: any number."""
    date_ahead_seconds: float = 0.0
    """How far the `Date` header is ahead of the platform's clock."""
    told_time_zones: Mapping[str, str] = field(default_factory=dict[str, str])
    """False time zones of practices, by practice id, for `/vetl.toml` and the greeting."""
    missing_practice_status: Literal[400, 401, 403] = 400
    """Answer to a request without `X-Client-Id`."""
    timestamps: TimestampFormat = "milliseconds"
    """`2026-01-05T14:03:07.250Z`, without fraction, with six digits, `+00:00`, the practice's offset, or none."""
    session_expiry_minutes: float = 30
    """How long after its last activity a session without appointment is abandoned."""
    appointments_withdrawn: Literal[404, 410, 501] | None = None
    """Status with which the proposed list of appointments is gone; null while it is there."""
    integer_ids: bool = False
    """Whether ids of clients, patients and appointments are JSON integers."""
    csv_labels: Literal["raw", "humanized"] = "raw"
    """Direction, Status and Caller Type in the CSV: `no_answer` or `No answer`."""
    csv_newline: Literal["\n", "\r\n"] = "\n"
    """Line ends of the CSV."""
    csv_maximum_size: int = 5000
    """Rows a page of CSV at most."""
    unfinished_calls_on: date | None = None
    """A day (UTC) whose calls stay `in_progress` for ever."""
    tasks_are_worked: bool = False
    """Whether staff work on the tasks that partners create: within hours, and some of their clients book."""
    webhook_secrets: Mapping[str, str] = field(default_factory=dict[str, str])
    """Secrets of single practices, by practice id; the platform's own secret signs for all other practices."""
    http_callbacks: bool = False
    """Whether `http://` callback addresses are taken, for local work; https is the rule."""
    webhooks_to: str | None = None
    """An address for all webhooks, for local work: `http://127.0.0.1:8090/webhooks`."""

    @property
    def callback_schemes(self) -> tuple[str, ...]:
        """The schemes that a callback address may have."""
        return ("https", "http") if self.http_callbacks else ("https",)

    def for_list(self, name: str) -> ListSwitches:
        """Return the switches of one list, by its name."""
        return getattr(self, name)


_SWITCHES = TypeAdapter(Switches)


class UnknownSwitchError(ValueError):
    """Raised for a patch with an unknown switch or value."""


def patched(switches: Switches, patch: Mapping[str, Any]) -> Switches:
    """Return switches with some changed, lists by their own mapping: `{"staff_tasks": {"page_base": 1}}`.

    Raises:
        UnknownSwitchError: There is no such name or value.
    """
    changed = asdict(switches)
    for name, value in patch.items():
        changed[name] = changed[name] | value if isinstance(value, dict) and name in changed else value
    try:
        return _SWITCHES.validate_python(changed)
    except ValidationError as error:
        first = error.errors()[0]
        raise UnknownSwitchError(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from error
