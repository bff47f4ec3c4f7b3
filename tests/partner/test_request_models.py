"""The contract's limits, checked before anything is sent (contract: Message content, Card, Button, Limits).

The sandbox reads the contract by itself, and refuses the same messages for the same fields.
"""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
import vetl_sandbox
from hypothesis import given, settings, strategies as st
from pydantic import BaseModel
from support.partner_side import Partner, at_fault, made
from vetl.core.errors import NotSent
from vetl.partner.request_models import (
    Card,
    NewAppointment,
    NewMessage,
    NewStaffTask,
    Recipient,
    StaffTaskChanges,
    checked,
)

Fields = dict[str, Any]
TO_NUMBER: Fields = {"recipient": {"phone_number": "+12125550139"}, "fallback_text": "See you at 9."}
CARD: Fields = {"title": "Bella is due"}
LINK: Fields = {"type": "open_url", "text": "Book", "url": "https://example.com/book"}
DIAL: Fields = {"type": "dial", "text": "Call", "phone_number": "5550100"}
REPLY: Fields = {"type": "reply", "text": "Yes", "id": "yes"}
PICTURE = "https://example.com/cat.png"


def message(**changes: Any) -> Fields:
    return {**TO_NUMBER, **changes}


def card(**changes: Any) -> Fields:
    return message(content={"type": "card", "card": {**CARD, **changes}})


def faults(model: type[BaseModel], fields: Fields | BaseModel) -> dict[str | None, str]:
    try:
        checked(model, "test", fields)
    except NotSent as error:
        return dict(error.fields)
    return {}


@pytest.fixture(scope="module")
def partner() -> Iterator[Partner]:
    """Provide a partner of the sandbox, at noon."""
    noon = datetime(2026, 3, 2, 18, tzinfo=UTC)
    with vetl_sandbox.running(practices=1, days=2, calls=1, frozen=True, start=noon) as platform:
        yield Partner(platform)


@pytest.mark.parametrize(
    "fields",
    [
        message(),
        message(channel="sms", reference_id="r-1"),
        message(fallback_text="x" * 1600, callback_url="https://partner.example.com/hook"),
        message(content={"type": "text"}),
        message(content={"type": "text", "suggestions": [REPLY] * 11}),
        message(content={"type": "media", "media_url": PICTURE, "suggestions": [REPLY]}),
        message(content={"type": "card", "card": {**CARD, "media_url": PICTURE}, "suggestions": [REPLY]}),
        message(content={"type": "card", "card": {"description": "Alone"}}),
        card(title="t" * 200, description="d" * 1600, buttons=[LINK] * 4),
        card(buttons=[{**LINK, "text": "t" * 25}, {**REPLY, "text": "t" * 20}]),
        message(content={"type": "carousel", "cards": [CARD] * 2}),
        message(content={"type": "carousel", "cards": [CARD] * 10}),
    ],
)
def test_a_request_within_the_limits_may_be_sent(partner: Partner, fields: Fields) -> None:
    assert faults(NewMessage, fields) == {}
    made(partner.post("messages", fields))


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        (message(fallback_text=None), "fallback_text"),
        (message(fallback_text="x" * 1601), "fallback_text"),
        (message(recipient={}), "recipient"),
        (message(recipient={"phone_number": "555-0100"}), "recipient.phone_number"),
        (message(channel="email"), "channel"),
        (message(callback_url="http://partner.example.com/hook"), "callback_url"),
        (message(content={"type": "media"}), "content.media_url"),
        (message(content={"type": "text", "media_url": PICTURE}), "content.media_url"),
        (message(content={"type": "card"}), "content.card"),
        (message(content={"type": "card", "card": CARD, "cards": [CARD] * 2}), "content.cards"),
        (message(content={"type": "text", "suggestions": [LINK] * 12}), "content.suggestions"),
        (message(content={"type": "carousel", "cards": [CARD]}), "content.cards"),
        (message(content={"type": "carousel", "cards": [CARD] * 11}), "content.cards"),
        (message(content={"type": "carousel", "cards": [CARD] * 2, "suggestions": [LINK]}), "content.suggestions"),
        (message(content={"type": "text", "card": CARD}), "content.card"),
        (card(title="t" * 201), "content.card.title"),
        (card(description="d" * 1601), "content.card.description"),
        (card(title=None), "content.card"),
        (card(media_url="http://example.com/cat.png"), "content.card.media_url"),
        (card(buttons=[LINK] * 5), "content.card.buttons"),
        (card(buttons=[{**LINK, "text": "t" * 26}]), "content.card.buttons.0.text"),
        (card(buttons=[LINK, {"type": "reply", "text": "t" * 21}]), "content.card.buttons.1.text"),
        (card(buttons=[{"type": "open_url", "text": "Book"}]), "content.card.buttons.0.url"),
        (card(buttons=[DIAL]), "content.card.buttons.0.phone_number"),
        (card(buttons=[{**REPLY, "url": PICTURE}]), "content.card.buttons.0.url"),
    ],
)
def test_a_field_beyond_a_limit_is_named_by_its_dotted_path(partner: Partner, fields: Fields, field: str) -> None:
    assert list(faults(NewMessage, fields)) == [field]
    assert at_fault(partner.post("messages", fields)) == [field]


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        (message(content={"type": "video"}), "content"),
        (card(buttons=[{"type": "share_location", "text": "Here"}]), "content.card.buttons.0"),
        (message(subject="Hello"), "subject"),
    ],
)
def test_a_part_of_no_kind_is_named_by_the_next_part_around_it(fields: Fields, field: str) -> None:
    assert list(faults(NewMessage, fields)) == [field]


def test_all_faults_are_reported_at_once_and_no_value_is_quoted() -> None:
    sent = card(title="s3cret" * 100, buttons=[{**LINK, "url": "ftp://s3cret.example.com"}])

    with pytest.raises(NotSent, match="not sent") as caught:
        checked(NewMessage, "messages", {**sent, "channel": "s3cret"})

    fields = {field for field, _ in caught.value.fields}
    assert fields == {"channel", "content.card.title", "content.card.buttons.0.url"}
    assert "s3cret" not in str(caught.value)
    assert caught.value.status == 400


@pytest.mark.parametrize(
    ("who", "fields"),
    [
        ({"client_id": 7, "patient_id": 8}, []),
        ({"client_remote_id": "r7", "patient_remote_id": "r8"}, []),
        ({"first_name": "Ada", "last_name": "Lee", "email": "ada@example.com", "patient_id": 8}, []),
        ({"patient_id": 8}, [None]),
        ({"client_id": 7}, [None]),
        ({"first_name": "Ada", "last_name": "Lee", "patient_id": 8}, [None]),
        ({"first_name": "Ada", "phone": "+15550100", "patient_id": 8}, [None]),
    ],
)
def test_an_appointment_needs_one_way_to_find_client_and_patient(who: Fields, fields: list[str | None]) -> None:
    assert list(faults(NewAppointment, {"slot_id": "s-1", **who})) == fields


@pytest.mark.parametrize(
    ("make", "field"),
    [
        (lambda: Recipient(phone_number="555"), "phone_number"),
        (lambda: Card(media_url="https://example.com/cat.png"), None),
        (lambda: NewAppointment(slot_id="", client_id=1, patient_id=1), "slot_id"),
        (lambda: NewStaffTask(title="\ud800"), "title"),
        (lambda: NewStaffTask(title="Call", urgent=True), "urgent"),  # pyright: ignore[reportCallIssue]
        (StaffTaskChanges, None),
    ],
)
def test_every_part_of_a_request_names_its_own(make: Callable[[], object], field: str | None) -> None:
    with pytest.raises(NotSent) as caught:
        make()

    assert [name for name, _ in caught.value.fields] == [field]


def test_a_copy_that_was_changed_without_a_check_is_checked_before_it_is_sent() -> None:
    good = NewMessage(recipient=Recipient(client_id="c-1"), fallback_text="See you at 9.")
    bad = good.model_copy(update={"fallback_text": "x" * 1601, "recipient": Recipient.model_construct()})

    assert set(faults(NewMessage, bad)) == {"fallback_text", "recipient"}
    assert faults(NewMessage, good) == {}


def test_a_time_without_an_offset_is_sent_as_utc() -> None:
    task = NewStaffTask(reference_time_at=datetime(2026, 11, 21, 9))  # noqa: DTZ001 - what this is about

    assert '"2026-11-21T09:00:00Z"' in task.model_dump_json()


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=60)
@given(fields=st.dictionaries(st.sampled_from(sorted(NewMessage.model_fields)), json_values))
def test_nothing_but_not_sent_is_ever_raised(fields: Fields) -> None:
    faults(NewMessage, fields)
