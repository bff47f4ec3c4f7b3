"""`[act]`: whether vetl may turn unbooked requests into staff tasks, how many, when, and in which words."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from string import Formatter
from typing import Annotated

from pydantic import AfterValidator, Field

from vetl.settings.core_sections import OFF, Cron
from vetl.settings.section import Count, FilePath, Hour, Hours, Minutes, Number, Section

TEMPLATE_FIELDS = (
    "practice", "channel", "last_at", "wanted", "reason", "tries", "client_id", "client_name", "phone_number",
)  # fmt: skip
"""The fields that a title or a description may name. None holds text that a person wrote, except `client_name`."""


def _template(text: str) -> str:
    try:
        parts = [(name, form, convert) for _, name, form, convert in Formatter().parse(text) if name is not None]
    except ValueError:
        raise ValueError("has a single { or }; write {{ or }} for the character itself") from None
    for name, form, convert in parts:
        if name not in TEMPLATE_FIELDS:
            raise ValueError(f"names an unknown field; known are {', '.join(TEMPLATE_FIELDS)}")
        if form or convert:
            raise ValueError(f"must name {name} alone, as {{{name}}}")
    return text


Template = Annotated[str, AfterValidator(_template), Field(min_length=1, max_length=1000)]


class TemplateSettings(Section):
    """`[act.templates.<kind>]`: the words of a task; vetl adds the line with its code to the description."""

    title: Template = "Call back: {wanted}"
    description: Template = (
        "Wanted an appointment and has none yet. Last contact: {channel} on {last_at}, tries: {tries}."
        " Number: {phone_number}."
    )


class TextSettings(Section):
    """`[act.templates.text]`: the words of a message, which the client reads."""

    description: Template = (
        "You tried to reach {practice} about an appointment. Please reply or call us, and we will find a time."
    )


class Templates(Section):
    """`[act.templates]`: the words of each kind of acts."""

    call_back: TemplateSettings = TemplateSettings()
    text: TextSettings = TextSettings()


class ActSettings(Section):
    """`[act]`: off by default, and for no practice. Caps count the tasks of a practice-local day.

    Nothing is sent while `stop` is set or `stop_file` exists. A list whose last certified sync is older than
    `max_age_hours` is no ground to act on. A request without an answer is sent again at the earliest
    `settle_minutes` later, because the platform may show its task late. Requests of `text_practices` get a message
    instead of a staff task.
    """

    enabled: bool = False
    practices: tuple[str, ...] = ()
    text_practices: tuple[str, ...] = ()
    per_practice_per_day: Count = 20
    per_day: Count = 100
    quiet_hours: tuple[Hour, Hour] = (0, 0)
    holdout_percent: Annotated[Number, Field(ge=0, le=50)] = 0
    stop: bool = False
    stop_file: FilePath = Path("warehouse/data/act.stop")
    ledger: FilePath = Path("warehouse/data/acts.sqlite")
    max_age_hours: Annotated[Hours, Field(gt=0)] = 26
    settle_minutes: Annotated[Minutes, Field(ge=5)] = 15
    templates: Templates = Templates()

    def kind_for(self, practice_id: str) -> str:
        """Return the kind of acts of a practice: `text` if it has opted in, else `call_back`."""
        return "text" if practice_id in self.text_practices else "call_back"

    def practices_named(self) -> Iterator[tuple[str, Sequence[str]]]:
        """Yield the practices of both kinds."""
        yield "practices", self.practices
        yield "text_practices", self.text_practices


class ActSchedule(Section):
    """`[schedule] act` makes a plan and applies it at once, so it is off until somebody sets it."""

    act: Cron = OFF
