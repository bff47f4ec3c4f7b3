"""Contract: Errors, Message creation: the fault of a message is named."""

from support.contract_breaks import accepts
from support.message_requests import send, to
from support.partner_side import Partner, Row, at_fault
from support.rules import broken_by, rule, rules


@rules(
    "Errors",
    "body fields",
    ("recipient is required", {"recipient": None, "channel": "fax"}, ["recipient", "channel"]),
    ("recipient names somebody", {"recipient": {}, "channel": "fax"}, ["recipient", "channel"]),
    ("recipient is an object", {"recipient": "Ann", "channel": "fax"}, ["recipient", "channel"]),
    ("E.164", {"recipient": {"phone_number": "2125550139"}}, ["recipient.phone_number"]),
    ("recipient.client_id", {"recipient": {"client_id": "none"}}, ["recipient.client_id"]),
    ("fallback_text is required", {"fallback_text": None}, ["fallback_text"]),
    ("fallback_text is no empty one", {"fallback_text": ""}, ["fallback_text"]),
    ("channel", {"channel": "fax"}, ["channel"]),
    ("callback_url is a URI", {"callback_url": "https://"}, ["callback_url"]),
    ("content is an object", {"content": "Hi"}, ["content"]),
)
@broken_by(accepts())
def test_invalid_input_of_a_message_is_named(partner: Partner, body: Row, fields: list[str]) -> None:
    assert at_fault(send(partner, **body)) == fields


@rule("Errors", says="400, field recipient")
@broken_by(accepts())
def test_a_number_that_cannot_receive_texts_may_be_refused(partner: Partner) -> None:
    """The contract allows two answers; a switch chooses this one."""
    partner.platform.set(blocked_number="refused")
    assert at_fault(send(partner, recipient=to("01"))) == ["recipient"]
