"""`[schedule]` and `[alerts]`: the times of Dagster's runs, and the alerts about failures."""

import re
from datetime import UTC, datetime, timedelta
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr

from vetl.core.zones import known_zone, zone
from vetl.settings.checked_values import no_boolean
from vetl.settings.mart_definitions import OpeningHours
from vetl.settings.section import Section

OFF = "off"

_AGE = re.compile(r"(\d+(?:\.\d+)?) ?([mhd])")
_UNITS = {"m": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1)}


def _cron(text: str) -> str:
    """Return a cron line of five fields, or `off`; Dagster checks the fields."""
    if text != OFF and len(text.split()) != 5:  # noqa: PLR2004 - the fields of a cron line
        raise ValueError('must be a cron line of five fields, such as "0 * * * *", or "off"')
    return text


def _age(text: str) -> str:
    if text != OFF and not _AGE.fullmatch(text):
        raise ValueError('must be a time such as "90m", "4h" or "2d", or "off"')
    return text


Cron = Annotated[str, AfterValidator(_cron)]
Hours = Annotated[float, BeforeValidator(no_boolean), Field(gt=0, allow_inf_nan=False)]


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
    inbox_seconds: Annotated[int, BeforeValidator(no_boolean), Field(ge=0)] = 60
    stale_after_hours: Hours = 4
    max_age: Annotated[str, AfterValidator(_age)] = "4h"
    json_logs: bool = False

    @property
    def oldest_allowed(self) -> timedelta | None:
        """Return `max_age` as a duration, or `None` if it is off."""
        match = _AGE.fullmatch(self.max_age)
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
    smtp_port: Annotated[int, BeforeValidator(no_boolean), Field(ge=1, le=65535)] = 25
    smtp_username: str | None = None
    smtp_password: SecretStr | None = None
    repeat_hours: Hours = 24
