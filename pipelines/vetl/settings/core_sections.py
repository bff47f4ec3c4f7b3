"""The sections of the core.

- `[partner]` and `[phone_calls]`  the platform, and what is read from it
- `[warehouse]` and `[webhooks]`   the files
- `[definitions]`                  definitions of the marts that differ from those in dbt/dbt_project.yml
- `[privacy]`                      the treatment of personal columns, by class and by column
- `[schedule]` and `[alerts]`      the times of Dagster's runs, and the alerts about failures
- `[dashboard]`                    the address of the dashboard, and its access
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, SecretStr, model_validator

from vetl.core.endpoint import Endpoint, QueryNames
from vetl.core.errors import ConfigurationError
from vetl.core.published_file import CLASSES, KEY_CHARACTERS, PersonalClass, SharedWords, Treatment, is_weak_key
from vetl.core.text import is_this_machine, nearest
from vetl.core.zones import TimesWithoutOffset, known_zone, zone
from vetl.settings import section as checked
from vetl.settings.section import Section

QueryName = Literal["start", "end", "page", "per_page", "status"]


class PartnerSettings(Section):
    """`[partner]`: the platform's address, the credentials, and limits for requests."""

    secret_keys = ("username", "password", "role")

    base_url: checked.HttpAddress | None = None
    username: SecretStr | None = None
    password: SecretStr | None = None
    role: str | None = Field(default=None, repr=False)
    requests_per_minute: checked.Positive | None = None
    requests_per_minute_total: checked.Positive | None = None
    max_in_flight: checked.Positive = 8
    timeout_seconds: checked.Seconds = Field(default=30, gt=0)
    max_wait_seconds: checked.Seconds = Field(default=300, ge=0)
    max_run_seconds: checked.Seconds = Field(default=7200, gt=0)
    allow_plain_http: bool = False
    times_without_offset: TimesWithoutOffset | None = None
    parameters: dict[str, dict[QueryName, checked.ParameterName]] = Field(
        default_factory=dict[str, dict[QueryName, checked.ParameterName]]
    )

    def query_names(self, endpoints: Sequence[Endpoint]) -> dict[str, QueryNames]:
        """Return the query parameters of each list: its own, overridden by `[partner.parameters.<endpoint>]`."""
        names = [endpoint.name for endpoint in endpoints]
        unknown = [name for name in self.parameters if name not in names]
        if unknown:
            raise ConfigurationError(
                f"partner.parameters.{unknown[0]}: there is no such list; known are {', '.join(names)}"
            )
        return {item.name: replace(item.names, **self.parameters.get(item.name, {})) for item in endpoints}


WEAK_KEY = (
    f"VETL_WAREHOUSE__PII_KEY can be found by trying; use {KEY_CHARACTERS} random characters or more, "
    "for example from `vetl init` or `openssl rand -hex 32`"
)


class WarehouseSettings(Section):
    """`[warehouse]`: the private file with its one writer, and the published file, which analysts open."""

    secret_keys = ("pii_key",)
    private_keys = ("path",)

    path: checked.DuckDBFile = Path("warehouse/data/vetl.duckdb")
    published: checked.DuckDBFile = Path("warehouse/data/analytics.duckdb")
    pii_key: SecretStr | None = None
    lock_wait_seconds: checked.Seconds = Field(default=600, ge=0)
    memory_limit: checked.Memory | None = None
    temp_directory: Path | None = None
    keep: checked.Positive = 3
    parquet: bool = False
    contacts: bool = False

    def places(self, name: str) -> Iterator[tuple[str, Path]]:
        """Yield the paths, and those of the files that are published beside the published file."""
        yield from super().places(name)
        published = self.published.resolve()
        yield f"contacts.duckdb beside {name}.published", published.with_name("contacts.duckdb")
        yield f"the Parquet folder of {name}.published", published.with_suffix(".parquet")

    def duckdb_limits(self) -> dict[str, str]:
        """Return the limit of memory and the folder for temporary rows of builds and publications."""
        limits = {"memory_limit": self.memory_limit, "temp_directory": self.temp_directory}
        return {name: str(value) for name, value in limits.items() if value}

    def weak_key(self) -> list[str]:
        """Return a line if somebody who tries keys can find the key of the hashed columns."""
        return [WEAK_KEY] if self.pii_key and is_weak_key(self.pii_key.get_secret_value()) else []


class PhoneCallsSettings(Section):
    """`[phone_calls]`: the days that are also read from the JSON list, for ids."""

    details: Literal["all", "recent", "off"] = "recent"
    details_budget: checked.Whole = Field(default=2000, ge=0)


class WebhooksSettings(Section):
    """`[webhooks]`: the file of the deliveries; the receiver is an addon and brings its keys."""

    private_keys = ("inbox",)

    inbox: checked.FilePath = Path("warehouse/data/inbox.sqlite")


Word = Annotated[str, checked.matching(r"[\w][\w .:-]*", "must be made of letters, digits and _ . : -")]
"""It is safe in an SQL statement."""
Words = tuple[Word, ...]
Days = Annotated[checked.Whole, Field(ge=1, le=3660)]
Holiday = Annotated[str, Field(pattern=r"^([0-9]{4}-)?[0-9]{2}-[0-9]{2}$")]
Worth = Annotated[checked.Real, Field(ge=0, le=1_000_000, allow_inf_nan=False)]


class OpeningHours(Section):
    """The opening and closing hour on the wall clock, on the first `weekdays` days of the week from Monday."""

    opens: checked.Hour
    closes: checked.Hour
    weekdays: Annotated[checked.Whole, Field(ge=1, le=7)]


class DefinitionsSettings(Section):
    """Variables of the dbt project by the same names; a variable that is not set keeps the project's value.

    `phone_regions` is for `store`: the region of each practice, for numbers without a country.
    """

    episode_days: Days | None = None
    booking_window_days: Days | None = None
    lost_after_days: Days | None = None
    lapsed_after_days: Days | None = None
    mature_after_hours: Annotated[checked.Whole, Field(ge=1, le=8784)] | None = None
    call_back_within_days: Days | None = None
    follow_up_within_days: Days | None = None
    follow_up_task_types: dict[Word, Words] | None = None
    do_not_chase: Words | None = None
    never_call: Words | None = None
    task_outcomes: Words | None = None
    settled_outcomes: Words | None = None
    answered_states: Words | None = None
    booking_outcomes: Words | None = None
    other_intents: dict[Word, Word] | None = None
    call_endings: dict[Word, Words] | None = None
    booking_task_types: Words | None = None
    kept_statuses: Words | None = None
    canceled_statuses: Words | None = None
    no_show_statuses: Words | None = None
    booking_stages: Words | None = None
    small_sample: checked.Count | None = None
    holidays: dict[str, tuple[Holiday, ...]] | None = None
    visit_value: dict[str, tuple[Worth, Worth]] | None = None
    opening_hours: OpeningHours | None = None
    opening_hours_by_practice: dict[str, OpeningHours] | None = None
    phone_regions: dict[str, Annotated[str, Field(pattern="^[A-Z]{2}$")]] = Field(default_factory=dict[str, str])

    def holidays_of(self, practice_id: str, first: date, last: date) -> list[date]:
        """Return the holidays of a practice between two days."""
        every = self.holidays or {}
        named = every.get(practice_id, every.get("default", ()))
        days = [first + timedelta(days=number) for number in range((last - first).days + 1)]
        return [day for day in days if day.isoformat() in named or f"{day:%m-%d}" in named]

    def variables(self) -> dict[str, Any]:
        """Return the variables for dbt that are set, in a fixed order."""
        variables = self.model_dump(mode="json", exclude_none=True, exclude={"phone_regions"})
        hours = variables.pop("opening_hours", None)
        if hours:
            variables |= {
                "opening_hour": hours["opens"],
                "closing_hour": hours["closes"],
                "opening_weekdays": hours["weekdays"],
            }
        if "follow_up_task_types" in variables:
            variables["follow_up_task_types"] = {"default": [], **variables["follow_up_task_types"]}
        return dict(sorted(variables.items()))


class PrivacySettings(Section):
    """A treatment for each class of personal columns; a treatment in `columns` overrides it.

    In columns with words of the source, a value is shown if the rows of `fewest_people` share it, or if it is one
    of `words`.
    """

    name: Treatment = "hash"
    contact: Treatment = "hash"
    text: Treatment = "hash"
    columns: dict[str, Treatment] = Field(default_factory=dict[str, Treatment])
    fewest_people: int = Field(default=5, ge=1)
    words: tuple[str, ...] = ()

    @property
    def shared(self) -> SharedWords:
        """Return the rule of columns with words of the source."""
        return SharedWords(self.fewest_people, self.words)

    def treatments(self, personal: Mapping[str, Mapping[str, PersonalClass]]) -> dict[str, dict[str, Treatment]]:
        """Return the treatment of every personal column, by mart.

        Raise `ConfigurationError` if `columns` names a column that is not personal or does not exist.
        """
        personal_columns = [f"{mart}.{column}" for mart, columns in personal.items() for column in columns]
        for column in self.columns:
            if column not in personal_columns:
                raise ConfigurationError(
                    f"privacy.columns: {column} is no personal column{nearest(column, sorted(personal_columns))}"
                )
        by_class: dict[PersonalClass, Treatment] = {item: getattr(self, item) for item in CLASSES}
        return {
            mart: {
                column: self.columns.get(f"{mart}.{column}", by_class[item]) for column, item in columns.items()
            }
            for mart, columns in personal.items()
        }


OFF = "off"

_AGE = r"(\d{1,5}(?:\.\d+)?) ?([mhd])"
_UNITS = {"m": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1)}

Age = Annotated[str, checked.matching(rf"{OFF}|{_AGE}", 'must be a time such as "90m", "4h" or "2d", or "off"')]
Cron = Annotated[
    str,
    checked.matching(
        rf"{OFF}|\s*\S+(\s+\S+){{4}}\s*", 'must be a cron line of five fields, such as "0 * * * *", or "off"'
    ),
]
"""Dagster checks the fields."""


class ScheduleSettings(Section):
    """`[schedule]`: a cron line for each schedule, or "off"; `start` switches the schedules on at start.

    `json_logs`: vetl's lines in Dagster's logs are JSON objects.

    `vetl status` fails if data are older than `max_age`, whether cron, a service or Dagster runs vetl.
    """

    start: bool = False
    time_zone: Annotated[str, AfterValidator(known_zone)] = "UTC"
    hourly: Cron = "0 * * * *"
    nightly: Cron = "30 2 * * 1-6"
    weekly: Cron = "30 2 * * 0"
    watch: Cron = "45 * * * *"
    inbox_seconds: checked.Count = 60
    stale_after_hours: checked.Hours = Field(default=4, gt=0)
    max_age: Age = "4h"
    json_logs: bool = False

    @property
    def oldest_allowed(self) -> timedelta | None:
        """Return `max_age` as a duration, or `None` if it is off."""
        match = re.fullmatch(_AGE, self.max_age)
        return float(match[1]) * _UNITS[match[2]] if match else None


def open_hours(since: datetime, until: datetime, time_zone: str, hours: OpeningHours) -> float:
    """Return the hours between two instants in which a practice of this zone is open."""
    rules = zone(time_zone)
    day, last = since.astimezone(rules).date(), until.astimezone(rules).date()
    open_for = 0.0
    while day <= last:
        midnight = datetime(day.year, day.month, day.day, tzinfo=rules)
        opens, closes = (
            (midnight + timedelta(hours=hour)).astimezone(UTC) for hour in (hours.opens, hours.closes)
        )
        if day.isoweekday() <= hours.weekdays:
            open_for += max(0.0, (min(until, closes) - max(since, opens)).total_seconds() / 3600)
        day += timedelta(days=1)
    return open_for


class AlertSettings(Section):
    """`[alerts]`: the addresses for alerts about failed runs; that of a webhook is a secret."""

    secret_keys = ("webhook", "smtp_password")

    webhook: SecretStr | None = None
    email_to: tuple[str, ...] = ()
    email_from: str = "vetl@localhost"
    smtp_host: str = "localhost"
    smtp_port: Annotated[checked.Whole, Field(ge=1, le=65535)] = 25
    smtp_username: str | None = None
    smtp_password: SecretStr | None = None
    repeat_hours: checked.Hours = Field(default=24, gt=0)


_THIS_MACHINE = ("127.0.0.0/8", "::1/128")


class DashboardUser(Section):
    """`[dashboard.users.<name>]`: the practices that a user sees: some, those of groups, or all."""

    practices: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    all: bool = False

    @model_validator(mode="after")
    def _has_practices(self) -> Self:
        if self.all == bool(self.practices or self.groups):
            msg = "give practices or groups, or all = true"
            raise ValueError(msg)
        return self


class DashboardSettings(Section):
    """The address of the dashboard; beyond this machine it needs a password, or a proxy that signs people in.

    `user_header` is accepted only from `proxies`, or from this machine if only this machine can reach the
    dashboard. If there are `users`, nobody else sees anything: a user signs in with a password of the file
    `cli.passwords`, or is named by the header. `audit` gets a line for each list of people that a user was shown,
    `marks` how calls back ended.
    """

    secret_keys = ("password",)
    private_keys = ("passwords", "audit", "marks")

    host: str = "127.0.0.1"
    port: checked.Whole = Field(default=8501, ge=0, le=65535)
    password: checked.Varied | None = None
    user_header: str | None = Field(default=None, pattern=r"^[A-Za-z0-9-]+$")
    proxies: tuple[checked.Network, ...] = ()
    users: dict[str, DashboardUser] = Field(default_factory=dict[str, DashboardUser])
    passwords: checked.FilePath = Path("warehouse/data/dashboard.passwords")
    audit: checked.FilePath = Path("warehouse/data/dashboard.audit.jsonl")
    marks: checked.FilePath = Path("warehouse/data/call-back-marks.sqlite")
    session_hours: Annotated[checked.Real, Field(gt=0, le=720)] = 12

    @model_validator(mode="after")
    def _limits_access(self) -> Self:
        if self.users and self.password:
            msg = "password and users exclude each other: unset VETL_DASHBOARD__PASSWORD; each user has their own"
            raise ValueError(msg)
        if is_this_machine(self.host):
            return self
        if self.user_header and not self.proxies:
            msg = (
                f"host {self.host} is more than this machine: name in proxies the addresses of the proxies that "
                "set user_header, as everybody else could set that header too"
            )
            raise ValueError(msg)
        if not (self.password or self.user_header or self.users):
            msg = (
                f"host {self.host} is more than this machine: set VETL_DASHBOARD__PASSWORD in the environment, "
                "or user_header and proxies if a proxy signs people in"
            )
            raise ValueError(msg)
        return self

    def practices_named(self) -> Iterator[tuple[str, Sequence[str]]]:
        """Yield the practices of each user."""
        for name, user in self.users.items():
            yield f"users.{name}", user.practices

    def practices_by_user(self, groups: Mapping[str, str | None]) -> dict[str, list[str] | None]:
        """Return the practices of each user by id, `None` for all; `groups` has the group of each practice."""
        return {
            name: None
            if user.all
            else [key for key, group in groups.items() if key in user.practices or group in user.groups]
            for name, user in self.users.items()
        }

    def trusted(self) -> tuple[str, ...]:
        """Return the addresses and networks from which `user_header` is accepted."""
        return self.proxies or (_THIS_MACHINE if is_this_machine(self.host) else ())
