"""Contract: Message content; Card; Button; Errors: content that is refused, and the field that is named."""

from support.breaking import edited, replaced
from support.partner_side import Partner, Row, at_fault
from support.rules import rule
from support.texting import CARD, PHONE, REPLY, URL, card, carousel, chips, send

CHECK = "server.message_content:check_content"
CHECK_CARD, CHECK_BUTTON = "server.message_content:_check_card", "server.message_content:_check_button"
FOREIGN = edited(CHECK, "kind is not None and kind != owner", "False")
ALL_IS_WELL = edited(CHECK_BUTTON, "kind in _BUTTON_TYPES and kind != owner and button.has(name)", "False")
ANY_ACTION = edited(CHECK_BUTTON, "any(action in kind for action in _UNSUPPORTED_ACTIONS)", "False")
DIALS = {"type": "dial", "text": "Call"}
OPENS = {"type": "open_url", "text": "Open"}


@rule(
    "Resources / Message content",
    edited(CHECK, "_TYPES, required=True", "_TYPES"),
    says="type is required",
    content={"suggestions": []},
    fields=["content.type"],
)
@rule(
    "Resources / Message content",
    edited(CHECK, 'content.choice("type", _TYPES', 'content.text("type"'),
    says="no other type",
    content={"type": "poem"},
    fields=["content.type"],
)
@rule(
    "Resources / Message content",
    FOREIGN,
    says="media_url: media only",
    content={"type": "text", "media_url": URL},
    fields=["content.media_url"],
)
@rule(
    "Resources / Message content",
    FOREIGN,
    says="a text bubble or a card, never both",
    content={"type": "text", "card": CARD},
    fields=["content.card"],
)
@rule(
    "Resources / Message content",
    FOREIGN,
    says="cards: carousel only",
    content={**card(), "cards": [CARD] * 2},
    fields=["content.cards"],
)
@rule(
    "Resources / Message content",
    edited(CHECK, 'content.has("suggestions"):', "False:"),
    says="a carousel takes no suggestions",
    content={**carousel(2), "suggestions": [REPLY]},
    fields=["content.suggestions"],
)
@rule(
    "Resources / Card",
    edited(CHECK_CARD, "title is None and description is None", "False"),
    says="title or description",
    content={"type": "card", "card": {"media_url": URL}},
    fields=["content.card"],
)
@rule(
    "Resources / Card",
    edited(CHECK_CARD, 'card.uri("media_url")', 'card.uri("media_url", ("https", "http"))'),
    says="media by https",
    content=card(media_url="http://example.com/a.png"),
    fields=["content.card.media_url"],
)
@rule(
    "Resources / Button",
    edited(CHECK_BUTTON, 'button.text("type", required=True)', 'button.text("type")'),
    says="type is required",
    content=chips({"text": "Label"}),
    fields=["content.suggestions.0.type"],
)
@rule(
    "Resources / Button",
    edited(CHECK_BUTTON, 'button.choice("type", _BUTTON_TYPES)', "kind"),
    says="no other type",
    content=chips({"type": "wave", "text": "Hi"}),
    fields=["content.suggestions.0.type"],
)
@rule(
    "Resources / Button",
    edited(CHECK_BUTTON, '"text", required=True', '"text"'),
    says="text is required",
    content=chips({"type": "reply"}),
    fields=["content.suggestions.0.text"],
)
@rule(
    "Resources / Button",
    edited(CHECK_BUTTON, 'button.uri("url", required=True)', 'button.uri("url")'),
    says="open_url wants a url",
    content=chips(OPENS),
    fields=["content.suggestions.0.url"],
)
@rule(
    "Resources / Button",
    edited(CHECK_BUTTON, 'button.uri("url"', 'button.text("url"'),
    says="url by https",
    content=chips({**OPENS, "url": "http://example.com"}),
    fields=["content.suggestions.0.url"],
)
@rule(
    "Resources / Button",
    edited(CHECK_BUTTON, '"phone_number", required=True', '"phone_number"'),
    says="dial wants a number",
    content=chips(DIALS),
    fields=["content.suggestions.0.phone_number"],
)
@rule(
    "Resources / Button",
    edited(CHECK_BUTTON, 'button.phone("phone', 'button.text("phone'),
    says="the number in E.164",
    content=chips({**DIALS, "phone_number": "(212) 555-0139"}),
    fields=["content.suggestions.0.phone_number"],
)
@rule(
    "Resources / Button",
    ALL_IS_WELL,
    says="url: open_url only",
    content=chips({**REPLY, "url": URL}),
    fields=["content.suggestions.0.url"],
)
@rule(
    "Resources / Button",
    ALL_IS_WELL,
    says="phone_number: dial only",
    content=chips({**REPLY, "phone_number": PHONE}),
    fields=["content.suggestions.0.phone_number"],
)
@rule(
    "Resources / Button",
    ALL_IS_WELL,
    says="id: reply only",
    content=chips({**DIALS, "phone_number": PHONE, "id": "yes"}),
    fields=["content.suggestions.0.id"],
)
@rule(
    "Errors",
    ANY_ACTION,
    says="400, field content: calendar",
    content=chips({"type": "create_calendar_event", "text": "Save"}),
    fields=["content"],
)
@rule(
    "Errors",
    ANY_ACTION,
    says="400, field content: location",
    content=chips({"type": "share_location", "text": "Here"}),
    fields=["content"],
)
@rule(
    "Errors",
    edited("server.message_content:_reachable", "endswith(_UNREACHABLE)", 'endswith("?")'),
    says="400, field content: unreachable image",
    content={"type": "media", "media_url": "https://gone.invalid/a.png"},
    fields=["content"],
)
@rule(
    "Resources / Card",
    edited(CHECK, "            _check_card(card)\n        if", "            pass\n        if"),
    says="the rules hold within a carousel",
    content={"type": "carousel", "cards": [CARD, {"title": "t" * 201}]},
    fields=["content.cards.1.title"],
)
@rule(
    "Resources / Button",
    edited(CHECK_CARD, "_check_button(button)", "pass"),
    says="the rules hold on a card",
    content=card(buttons=[REPLY, {"type": "reply"}]),
    fields=["content.card.buttons.1.text"],
)
def test_content_against_the_contract_is_refused(partner: Partner, content: Row, fields: list[str]) -> None:
    assert at_fault(send(partner, content=content)) == fields


@rule(
    "Resources / Message content",
    edited(CHECK, '("https", "http"), required=True', '("https",)'),
    says="media_url",
    content={"type": "media"},
    fields=["content.media_url"],
)
@rule(
    "Resources / Message content",
    edited(CHECK, 'content.child("card", required=True)', 'content.child("card")'),
    says="card",
    content={"type": "card"},
    fields=["content.card"],
)
@rule(
    "Resources / Message content",
    replaced("server.message_content:_FEWEST_CARDS", 0),
    says="cards",
    content={"type": "carousel"},
    fields=["content.cards"],
)
def test_each_type_wants_its_part(partner: Partner, content: Row, fields: list[str]) -> None:
    assert at_fault(send(partner, content=content)) == fields


@rule("Errors", edited("server.body:Body._below", 'f"{self._path}.{name}" if self._path else name', "name"))
def test_paths_are_dotted_down_to_the_field(partner: Partner) -> None:
    content = {"type": "carousel", "cards": [CARD, card(buttons=[{"type": "reply"}])["card"]]}
    assert at_fault(send(partner, content=content)) == ["content.cards.1.buttons.0.text"]
