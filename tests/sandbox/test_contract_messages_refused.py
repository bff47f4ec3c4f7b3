"""Contract: Errors, Message creation: the fault of a message is named."""

from support.contract_breaks import accepts
from support.message_requests import send, to
from support.partner_side import Partner, Row, at_fault
from support.rules import broken_by, rule


@rule(
    "Errors",
    says="recipient is required",
    body={"recipient": None, "channel": "fax"},
    fields=["recipient", "channel"],
)
@rule(
    "Errors",
    says="recipient names somebody",
    body={"recipient": {}, "channel": "fax"},
    fields=["recipient", "channel"],
)
@rule(
    "Errors",
    says="recipient is an object",
    body={"recipient": "Ann", "channel": "fax"},
    fields=["recipient", "channel"],
)
@rule(
    "Errors", says="E.164", body={"recipient": {"phone_number": "2125550139"}}, fields=["recipient.phone_number"]
)
@rule(
    "Errors", says="recipient.client_id", body={"recipient": {"client_id": "none"}}, fields=["recipient.client_id"]
)
@rule("Errors", says="fallback_text is required", body={"fallback_text": None}, fields=["fallback_text"])
@rule("Errors", says="fallback_text is no empty one", body={"fallback_text": ""}, fields=["fallback_text"])
@rule("Errors", says="channel", body={"channel": "fax"}, fields=["channel"])
@rule("Errors", says="callback_url is a URI", body={"callback_url": "https://"}, fields=["callback_url"])
@rule("Errors", says="content is an object", body={"content": "Hi"}, fields=["content"])
@broken_by(accepts())
def test_invalid_input_of_a_message_is_named(partner: Partner, body: Row, fields: list[str]) -> None:
    assert at_fault(send(partner, **body)) == fields


@rule("Errors", says="400, field recipient")
@broken_by(accepts())
def test_a_number_that_cannot_receive_texts_may_be_refused(partner: Partner) -> None:
    """The contract allows two answers; a switch chooses this one."""
    partner.platform.set(blocked_number="refused")
    assert at_fault(send(partner, recipient=to("01"))) == ["recipient"]
