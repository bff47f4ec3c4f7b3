"""Contract: Message content; Card; Button; Errors: refused content, and the field that the error names."""

from support.contract_breaks import accepts
from support.message_requests import CARD, PHONE, REPLY, URL, card, carousel, chips, send
from support.partner_side import Partner, Row, at_fault
from support.rules import broken_by, rule

DIALS = {"type": "dial", "text": "Call"}
OPENS = {"type": "open_url", "text": "Open"}


@rule("Resources / Message content", says="type is required", content={"suggestions": []}, fields=["content.type"])
@rule("Resources / Message content", says="no other type", content={"type": "poem"}, fields=["content.type"])
@rule(
    "Resources / Message content",
    says="media_url: media only",
    content={"type": "text", "media_url": URL},
    fields=["content.media_url"],
)
@rule(
    "Resources / Message content",
    says="a text bubble or a card, never both",
    content={"type": "text", "card": CARD},
    fields=["content.card"],
)
@rule(
    "Resources / Message content",
    says="cards: carousel only",
    content={**card(), "cards": [CARD] * 2},
    fields=["content.cards"],
)
@rule(
    "Resources / Message content",
    says="a carousel takes no suggestions",
    content={**carousel(2), "suggestions": [REPLY]},
    fields=["content.suggestions"],
)
@rule(
    "Resources / Card",
    says="title or description",
    content={"type": "card", "card": {"media_url": URL}},
    fields=["content.card"],
)
@rule(
    "Resources / Card",
    says="media by https",
    content=card(media_url="http://example.com/a.png"),
    fields=["content.card.media_url"],
)
@rule(
    "Resources / Button",
    says="type is required",
    content=chips({"text": "Label"}),
    fields=["content.suggestions.0.type"],
)
@rule(
    "Resources / Button",
    says="no other type",
    content=chips({"type": "wave", "text": "Hi"}),
    fields=["content.suggestions.0.type"],
)
@rule(
    "Resources / Button",
    says="text is required",
    content=chips({"type": "reply"}),
    fields=["content.suggestions.0.text"],
)
@rule(
    "Resources / Button", says="open_url wants a url", content=chips(OPENS), fields=["content.suggestions.0.url"]
)
@rule(
    "Resources / Button",
    says="url by https",
    content=chips({**OPENS, "url": "http://example.com"}),
    fields=["content.suggestions.0.url"],
)
@rule(
    "Resources / Button",
    says="dial wants a number",
    content=chips(DIALS),
    fields=["content.suggestions.0.phone_number"],
)
@rule(
    "Resources / Button",
    says="the number in E.164",
    content=chips({**DIALS, "phone_number": "(212) 555-0139"}),
    fields=["content.suggestions.0.phone_number"],
)
@rule(
    "Resources / Button",
    says="url: open_url only",
    content=chips({**REPLY, "url": URL}),
    fields=["content.suggestions.0.url"],
)
@rule(
    "Resources / Button",
    says="phone_number: dial only",
    content=chips({**REPLY, "phone_number": PHONE}),
    fields=["content.suggestions.0.phone_number"],
)
@rule(
    "Resources / Button",
    says="id: reply only",
    content=chips({**DIALS, "phone_number": PHONE, "id": "yes"}),
    fields=["content.suggestions.0.id"],
)
@rule(
    "Errors",
    says="400, field content: calendar",
    content=chips({"type": "create_calendar_event", "text": "Save"}),
    fields=["content"],
)
@rule(
    "Errors",
    says="400, field content: location",
    content=chips({"type": "share_location", "text": "Here"}),
    fields=["content"],
)
@rule(
    "Errors",
    says="400, field content: unreachable image",
    content={"type": "media", "media_url": "https://gone.invalid/a.png"},
    fields=["content"],
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
