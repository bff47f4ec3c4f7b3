"""Models of request bodies with the contract's limits (contract: Message content, Card, Button, Limits).

A body that the platform would refuse with a 400 is refused here with the same fields: when a model is created, and
by `checked` before it is sent, because a copy of a model may have been changed without a check.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from vetl.core.errors import NotSent

MESSAGES_PER_MINUTE = 120
"""Most messages per minute and practice (contract: Limits)."""

T = TypeVar("T", bound=BaseModel)


def _https(text: str) -> str:
    host = text.removeprefix("https://").partition("/")[0]
    if not text.startswith("https://") or not host or any(char.isspace() for char in text):
        raise ValueError("must be an https address")
    return text


Https = Annotated[str, AfterValidator(_https)]
E164 = Annotated[str, Field(pattern=r"^\+[1-9][0-9]{1,14}$")]
Label = Annotated[str, Field(min_length=1, max_length=25)]
Filled = Annotated[str, Field(min_length=1)]
Words = Annotated[str, Field(min_length=0)]
"""Any text that can be sent; with the check of a length pydantic refuses text that is not valid in UTF-8."""


def _zoned(at: datetime) -> datetime:
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at


Moment = Annotated[datetime, AfterValidator(_zoned)]
"""A time; without an offset it is sent as UTC like the bounds of lists, as the contract does not show its zone."""


class Outgoing(BaseModel):
    """Part of a request; a field that is not in the contract is an error.

    Raise `NotSent` if a limit of the contract is broken; the error names every wrong field, relative to this part.
    """

    model_config = ConfigDict(
        extra="forbid", frozen=True, hide_input_in_errors=True, revalidate_instances="always"
    )

    def __init__(self, **fields: Any) -> None:  # noqa: ANN401 - the fields of the model at hand
        try:
            super().__init__(**fields)
        except ValidationError as error:
            raise _not_sent(_words(type(self).__name__), error) from None

    # Otherwise pydantic would call it for parts of a model, too, and the first wrong part would hide the others.
    __init__.__pydantic_base_init__ = True  # pyright: ignore[reportFunctionMemberAccess]


class OpenUrl(Outgoing):
    """A button that opens an address."""

    type: Literal["open_url"] = "open_url"
    text: Label
    url: Https


class Dial(Outgoing):
    """A button that calls a number."""

    type: Literal["dial"] = "dial"
    text: Label
    phone_number: E164


class Reply(Outgoing):
    """A button that sends its text back; `id` defaults to the text."""

    type: Literal["reply"] = "reply"
    text: Annotated[str, Field(min_length=1, max_length=20)]
    id: Words | None = None


Button = Annotated[OpenUrl | Dial | Reply, Field(discriminator="type")]
Suggestions = Annotated[tuple[Button, ...], Field(max_length=11)]


class Card(Outgoing):
    """A card with at least one of title and description."""

    title: Annotated[str, Field(max_length=200)] | None = None
    description: Annotated[str, Field(max_length=1600)] | None = None
    media_url: Https | None = None
    buttons: Annotated[tuple[Button, ...], Field(max_length=4)] = ()

    @model_validator(mode="after")
    def _has_words(self) -> Self:
        if not self.title and not self.description:
            raise ValueError("at least one of title and description is required")
        return self


class TextContent(Outgoing):
    """A text bubble; its text is the message's `fallback_text`."""

    type: Literal["text"] = "text"
    suggestions: Suggestions = ()


class MediaContent(Outgoing):
    """An image or video."""

    type: Literal["media"] = "media"
    media_url: Annotated[str, Field(pattern=r"^[a-z][a-z0-9+.-]*://\S+$")]
    suggestions: Suggestions = ()


class CardContent(Outgoing):
    """One card."""

    type: Literal["card"] = "card"
    card: Card
    suggestions: Suggestions = ()


class CarouselContent(Outgoing):
    """Two to ten cards; the buttons are on the cards."""

    type: Literal["carousel"] = "carousel"
    cards: Annotated[tuple[Card, ...], Field(min_length=2, max_length=10)]


Content = Annotated[TextContent | MediaContent | CardContent | CarouselContent, Field(discriminator="type")]


class Recipient(Outgoing):
    """A client, or a number in E.164; the contract does not show which one is used if there are both."""

    client_id: Filled | None = None
    phone_number: E164 | None = None

    @model_validator(mode="after")
    def _has_recipient(self) -> Self:
        if self.client_id is None and self.phone_number is None:
            raise ValueError("one of client_id and phone_number is required")
        return self


class NewMessage(Outgoing):
    """Contract: Create a message. With a `reference_id` a repetition does not send it to the client again."""

    recipient: Recipient
    fallback_text: Annotated[str, Field(min_length=1, max_length=1600)]
    channel: Literal["auto", "rcs", "sms"] = "auto"
    content: Content | None = None
    reference_id: Filled | None = None
    callback_url: Https | None = None


class NewAppointment(Outgoing):
    """Contract: Create an appointment. `slot_id` is the `uuid` of a slot."""

    slot_id: Filled
    client_id: int | None = None
    client_remote_id: Filled | None = None
    first_name: Filled | None = None
    last_name: Filled | None = None
    phone: Filled | None = None
    email: Filled | None = None
    patient_id: int | None = None
    patient_remote_id: Filled | None = None
    note: Words | None = None
    status: Literal["REQUESTED", "ACCEPTED", "CONFIRMED"] | None = None

    @model_validator(mode="after")
    def _has_client_and_patient(self) -> Self:
        named = self.first_name and self.last_name and (self.phone or self.email)
        if self.client_id is None and not self.client_remote_id and not named:
            raise ValueError(
                "one of client_id, client_remote_id, or first_name and last_name with phone or email is required"
            )
        if self.patient_id is None and not self.patient_remote_id:
            raise ValueError("one of patient_id and patient_remote_id is required")
        return self


class NewStaffTask(Outgoing):
    """Contract: Staff tasks, Create. The contract does not show which fields are required."""

    title: Words | None = None
    description: Words | None = None
    task_type: Literal["task", "rx_refill"] = "task"
    client_id: Filled | None = None
    patient_id: Filled | None = None
    reference_time_at: Moment | None = None


class StaffTaskChanges(Outgoing):
    """Contract: Staff tasks, Update. Only the fields that are set change."""

    title: Words | None = None
    description: Words | None = None
    task_type: Literal["task", "rx_refill"] | None = None
    status: Literal["pending", "completed", "canceled"] | None = None
    client_id: Filled | None = None
    patient_id: Filled | None = None
    reference_time_at: Moment | None = None

    @model_validator(mode="after")
    def _has_changes(self) -> Self:
        if not self.model_fields_set:
            raise ValueError("nothing to change")
        return self


def checked(model: type[T], label: str, content: T | Mapping[str, Any]) -> T:
    """Return a checked model from a model or from its fields.

    Raise `NotSent` if a limit of the contract is broken; the error names every wrong field by its dotted path.
    """
    try:
        return model.model_validate(content)
    except ValidationError as error:
        raise _not_sent(label, error) from None


def _not_sent(label: str, error: ValidationError) -> NotSent:
    wrong = tuple((_path(item["loc"]), _reason(item["msg"])) for item in error.errors(include_input=False))
    reasons = "; ".join(f"{path or 'request'}: {reason}" for path, reason in wrong)
    return NotSent(f"{label}: not sent: {reasons}", fields=wrong)


def _words(name: str) -> str:
    """Return `new staff task` for `NewStaffTask`."""
    return "".join(f" {char.lower()}" if char.isupper() else char for char in name).strip()


_TAGS = frozenset({"open_url", "dial", "reply", "text", "media", "card", "carousel"})


def _path(location: tuple[int | str, ...]) -> str | None:
    """Return a path such as `content.card.buttons.0.text`, without pydantic's names of the kinds of a union."""
    parts = [
        str(part)
        for place, part in enumerate(location)
        if not (
            part in _TAGS and place and (isinstance(location[place - 1], int) or location[place - 1] == "content")
        )
    ]
    return ".".join(parts) or None


def _reason(message: str) -> str:
    return message.removeprefix("Value error, ").replace("Input should", "must").replace("String should", "must")
