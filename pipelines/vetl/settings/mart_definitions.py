"""`[definitions]`: definitions of the marts that differ from those in dbt/dbt_project.yml.

`[privacy]`: the treatment of personal columns before they are published, by class and by column.
"""

import re
from collections.abc import Mapping
from datetime import date, timedelta
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field

from vetl.core.errors import ConfigurationError
from vetl.core.published_file import CLASSES, PersonalClass, SharedWords, Treatment
from vetl.core.text import nearest
from vetl.settings.checked_values import no_boolean
from vetl.settings.section import Section


def _word(text: str) -> str:
    """Return a word that is safe in an SQL statement."""
    if not re.fullmatch(r"[\w][\w .:-]*", text):
        raise ValueError("must be made of letters, digits and _ . : -")
    return text


Word = Annotated[str, AfterValidator(_word)]
Words = tuple[Word, ...]
Days = Annotated[int, BeforeValidator(no_boolean), Field(ge=1, le=3660)]
Holiday = Annotated[str, Field(pattern=r"^([0-9]{4}-)?[0-9]{2}-[0-9]{2}$")]
Worth = Annotated[float, BeforeValidator(no_boolean), Field(ge=0, le=1_000_000, allow_inf_nan=False)]
Hour = Annotated[int, BeforeValidator(no_boolean), Field(ge=0, le=24)]


class OpeningHours(Section):
    """The opening and closing hour on the wall clock, on the first `weekdays` days of the week from Monday."""

    opens: Hour
    closes: Hour
    weekdays: Annotated[int, BeforeValidator(no_boolean), Field(ge=1, le=7)]


class DefinitionsSettings(Section):
    """Variables of the dbt project by the same names; a variable that is not set keeps the project's value.

    `phone_regions` is for `store`: the region of each practice, for numbers without a country.
    """

    episode_days: Days | None = None
    booking_window_days: Days | None = None
    lost_after_days: Days | None = None
    lapsed_after_days: Days | None = None
    mature_after_hours: Annotated[int, BeforeValidator(no_boolean), Field(ge=1, le=8784)] | None = None
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
    small_sample: Annotated[int, BeforeValidator(no_boolean), Field(ge=0)] | None = None
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

        Raises:
            ConfigurationError: `columns` names a column that is not personal or does not exist.
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
