"""Contract: Errors, Message creation: what is wrong with a message is named."""

from support.breaking import edited
from support.partner_side import Partner, Row, at_fault
from support.rules import rule
from support.texting import send, to

WANTED, RECIPIENT = "server.messages:_wanted", "server.messages:_recipient"


@rule(
    "Errors",
    edited(RECIPIENT, 'body.child("recipient", required=True)', 'body.child("recipient")'),
    says="recipient is required",
    body={"recipient": None, "channel": "fax"},
    fields=["recipient", "channel"],
)
@rule(
    "Errors",
    edited(RECIPIENT, 'if client_id is None and not recipient.has("phone_number"):', "if False:"),
    says="recipient names somebody",
    body={"recipient": {}, "channel": "fax"},
    fields=["recipient", "channel"],
)
@rule(
    "Errors",
    edited("server.body:Body.child", "if not isinstance(value, dict):", f"value = {to('39')!r}\n    if False:"),
    says="recipient is an object",
    body={"recipient": "Ann", "channel": "fax"},
    fields=["recipient", "channel"],
)
@rule(
    "Errors",
    edited("server.body:Body.phone", "not _E164.fullmatch(value)", "False"),
    says="E.164",
    body={"recipient": {"phone_number": "2125550139"}},
    fields=["recipient.phone_number"],
)
@rule(
    "Errors",
    edited(RECIPIENT, 'recipient.fault("client_id", "No such client")', 'recipient.fault(None, "?")'),
    says="recipient.client_id",
    body={"recipient": {"client_id": "none"}},
    fields=["recipient.client_id"],
)
@rule(
    "Errors",
    edited(WANTED, '"fallback_text", required=True', '"fallback_text"'),
    says="fallback_text is required",
    body={"fallback_text": None},
    fields=["fallback_text"],
)
@rule(
    "Errors",
    edited("server.body:Body.text", 'value is None or value == ""', "value is None"),
    says="fallback_text is no empty one",
    body={"fallback_text": ""},
    fields=["fallback_text"],
)
@rule(
    "Errors",
    edited(WANTED, 'body.choice("channel", _CHANNELS)', 'body.text("channel")'),
    says="channel",
    body={"channel": "fax"},
    fields=["channel"],
)
@rule(
    "Errors",
    edited("server.body:Body.uri", "or not parts.hostname", ""),
    says="callback_url is a URI",
    body={"callback_url": "https://"},
    fields=["callback_url"],
)
@rule(
    "Errors",
    edited(
        "server.body:Body.child",
        "if not isinstance(value, dict):",
        "value = {'type': 'text'} if value == 'Hi' else value\n    if False:",
    ),
    says="content is an object",
    body={"content": "Hi"},
    fields=["content"],
)
def test_invalid_input_of_a_message_is_named(partner: Partner, body: Row, fields: list[str]) -> None:
    assert at_fault(send(partner, **body)) == fields


@rule(
    "Errors",
    edited(WANTED, 'body.fault("recipient", "The number', 'body.fault(None, "The number'),
    edited(WANTED, 'behaviour(phone) == "blocked"', "False"),
    says="400, field recipient",
)
def test_a_number_that_cannot_receive_texts_may_be_refused(partner: Partner) -> None:
    """The contract has two answers to it; this is the one that a switch asks for."""
    partner.platform.set(blocked_number="refused")
    assert at_fault(send(partner, recipient=to("01"))) == ["recipient"]
