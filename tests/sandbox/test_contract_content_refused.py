"""Contract: Message content; Card; Button; Errors: refused content, and the field that the error names."""

from support.contract_breaks import accepts
from support.message_requests import CARD, PHONE, REPLY, URL, card, carousel, chips, send
from support.partner_side import Partner, Row, at_fault
from support.rules import broken_by, rule, rules

DIALS = {"type": "dial", "text": "Call"}
OPENS = {"type": "open_url", "text": "Open"}


@rules(
    "Resources / Message content",
    "content fields",
    ("type is required", {"suggestions": []}, ["content.type"]),
    ("no other type", {"type": "poem"}, ["content.type"]),
    ("media_url: media only", {"type": "text", "media_url": URL}, ["content.media_url"]),
    ("a text bubble or a card, never both", {"type": "text", "card": CARD}, ["content.card"]),
    ("cards: carousel only", {**card(), "cards": [CARD] * 2}, ["content.cards"]),
    ("a carousel takes no suggestions", {**carousel(2), "suggestions": [REPLY]}, ["content.suggestions"]),
)
@rules(
    "Resources / Card",
    "content fields",
    ("title or description", {"type": "card", "card": {"media_url": URL}}, ["content.card"]),
    ("media by https", card(media_url="http://example.com/a.png"), ["content.card.media_url"]),
)
@rules(
    "Resources / Button",
    "content fields",
    ("type is required", chips({"text": "Label"}), ["content.suggestions.0.type"]),
    ("no other type", chips({"type": "wave", "text": "Hi"}), ["content.suggestions.0.type"]),
    ("text is required", chips({"type": "reply"}), ["content.suggestions.0.text"]),
    ("open_url wants a url", chips(OPENS), ["content.suggestions.0.url"]),
    ("url by https", chips({**OPENS, "url": "http://example.com"}), ["content.suggestions.0.url"]),
    ("dial wants a number", chips(DIALS), ["content.suggestions.0.phone_number"]),
    (
        "the number in E.164",
        chips({**DIALS, "phone_number": "(212) 555-0139"}),
        ["content.suggestions.0.phone_number"],
    ),
    ("url: open_url only", chips({**REPLY, "url": URL}), ["content.suggestions.0.url"]),
    ("phone_number: dial only", chips({**REPLY, "phone_number": PHONE}), ["content.suggestions.0.phone_number"]),
    ("id: reply only", chips({**DIALS, "phone_number": PHONE, "id": "yes"}), ["content.suggestions.0.id"]),
)
@rules(
    "Errors",
    "content fields",
    ("400, field content: calendar", chips({"type": "create_calendar_event", "text": "Save"}), ["content"]),
    ("400, field content: location", chips({"type": "share_location", "text": "Here"}), ["content"]),
    (
        "400, field content: unreachable image",
        {"type": "media", "media_url": "https://gone.invalid/a.png"},
        ["content"],
    ),
)
@rule(
    "Resources / Card",
    says="the rules hold within a carousel",
    content={"type": "carousel", "cards": [CARD, {"title": "t" * 201}]},
    fields=["content.cards.1.title"],
)
@rule(
    "Resources / Button",
    says="the rules hold on a card",
    content=card(buttons=[REPLY, {"type": "reply"}]),
    fields=["content.card.buttons.1.text"],
)
@broken_by(accepts())
def test_content_against_the_contract_is_refused(partner: Partner, content: Row, fields: list[str]) -> None:
    assert at_fault(send(partner, content=content)) == fields


@rule("Resources / Message content", says="media_url", content={"type": "media"}, fields=["content.media_url"])
@rule("Resources / Message content", says="card", content={"type": "card"}, fields=["content.card"])
@rule("Resources / Message content", says="cards", content={"type": "carousel"}, fields=["content.cards"])
@broken_by(accepts())
def test_each_type_wants_its_part(partner: Partner, content: Row, fields: list[str]) -> None:
    assert at_fault(send(partner, content=content)) == fields


@rule("Errors")
@broken_by(accepts("content.cards.1.buttons.0.text"))
def test_paths_are_dotted_down_to_the_field(partner: Partner) -> None:
    content = {"type": "carousel", "cards": [CARD, card(buttons=[{"type": "reply"}])["card"]]}
    assert at_fault(send(partner, content=content)) == ["content.cards.1.buttons.0.text"]
