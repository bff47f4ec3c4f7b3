"""Contract: Message content; Card; Button; their Limits. Every limit is tried on both sides."""

from support.breaking import Break, edited, replaced
from support.partner_side import Partner, Row, at_fault
from support.rules import rule
from support.texting import PHONE, REPLY, URL, card, carousel, chips, send


def labelled(kind: str, length: int) -> Row:
    more = {"open_url": {"url": URL}, "dial": {"phone_number": PHONE}, "reply": {}}[kind]
    return chips({"type": kind, "text": "t" * length, **more})


def limit(name: str, wrong: int) -> Break:
    return replaced(f"server.message_content:{name}", wrong)


@rule(
    "Resources / Card",
    limit("_TITLE", 199),
    limit("_TITLE", 201),
    says="title",
    most=card(title="t" * 200),
    more=card(title="t" * 201),
    field="content.card.title",
)
@rule(
    "Resources / Card",
    limit("_DESCRIPTION", 1599),
    limit("_DESCRIPTION", 1601),
    says="description",
    most=card(description="d" * 1600),
    more=card(description="d" * 1601),
    field="content.card.description",
)
@rule(
    "Resources / Card",
    limit("_BUTTONS", 3),
    limit("_BUTTONS", 5),
    says="buttons",
    most=card(buttons=[REPLY] * 4),
    more=card(buttons=[REPLY] * 5),
    field="content.card.buttons",
)
@rule(
    "Resources / Message content",
    limit("_SUGGESTIONS", 10),
    limit("_SUGGESTIONS", 12),
    says="suggestions",
    most=chips(*[REPLY] * 11),
    more=chips(*[REPLY] * 12),
    field="content.suggestions",
)
@rule(
    "Resources / Message content",
    limit("_MOST_CARDS", 9),
    limit("_MOST_CARDS", 11),
    says="cards",
    most=carousel(10),
    more=carousel(11),
    field="content.cards",
)
@rule(
    "Resources / Message content",
    limit("_FEWEST_CARDS", 3),
    limit("_FEWEST_CARDS", 1),
    says="fewest cards",
    most=carousel(2),
    more=carousel(1),
    field="content.cards",
)
@rule(
    "Resources / Button",
    limit("_LABEL", 24),
    limit("_LABEL", 26),
    says="open_url label",
    most=labelled("open_url", 25),
    more=labelled("open_url", 26),
    field="content.suggestions.0.text",
)
@rule(
    "Resources / Button",
    limit("_LABEL", 24),
    limit("_LABEL", 26),
    says="dial label",
    most=labelled("dial", 25),
    more=labelled("dial", 26),
    field="content.suggestions.0.text",
)
@rule(
    "Resources / Button",
    limit("_REPLY_LABEL", 19),
    limit("_REPLY_LABEL", 25),
    says="reply label",
    most=labelled("reply", 20),
    more=labelled("reply", 21),
    field="content.suggestions.0.text",
)
def test_a_limit_admits_what_is_on_it_and_nothing_beyond(
    partner: Partner, most: Row, more: Row, field: str
) -> None:
    assert send(partner, content=most).status_code == 201
    assert at_fault(send(partner, content=more)) == [field]


@rule("Limits", replaced("server.messages:FALLBACK_TEXT", 1599), replaced("server.messages:FALLBACK_TEXT", 1601))
def test_the_fallback_text_has_at_most_1600_characters(partner: Partner) -> None:
    assert send(partner, fallback_text="t" * 1600).status_code == 201
    assert at_fault(send(partner, fallback_text="t" * 1601)) == ["fallback_text"]


CHECK = "server.message_content:check_content"
CHECK_CARD, CHECK_BUTTON = "server.message_content:_check_card", "server.message_content:_check_button"


@rule(
    "Resources / Message content",
    edited(CHECK, "_TYPES, required=True", "_TYPES[1:]"),
    says="text",
    content={"type": "text"},
)
@rule(
    "Resources / Message content",
    edited(CHECK, "_TYPES, required=True", '("text",)'),
    says="media",
    content={"type": "media", "media_url": URL},
)
@rule(
    "Resources / Message content", edited(CHECK, "_TYPES, required=True", '("text",)'), says="card", content=card()
)
@rule(
    "Resources / Message content",
    edited(CHECK, "_TYPES, required=True", '("text",)'),
    says="carousel",
    content=carousel(3),
)
@rule(
    "Resources / Message content",
    limit("_SUGGESTIONS", 0),
    says="suggestions with media",
    content={"type": "media", "media_url": URL, "suggestions": [REPLY]},
)
@rule(
    "Resources / Message content",
    limit("_SUGGESTIONS", 0),
    says="suggestions with a card",
    content={**card(), "suggestions": [REPLY]},
)
@rule(
    "Resources / Card",
    edited(CHECK_CARD, "title is None and description is None", "title is None"),
    says="a description is enough",
    content={"type": "card", "card": {"description": "Alone"}},
)
@rule(
    "Resources / Card",
    edited(CHECK_CARD, "title is None and description is None", "description is None"),
    says="a title is enough",
    content=card(),
)
@rule(
    "Resources / Card",
    edited(CHECK_CARD, 'card.uri("media_url")', 'card.uri("media_url", ())'),
    says="media on top",
    content=card(media_url=URL),
)
@rule(
    "Resources / Button",
    edited(CHECK_BUTTON, '("id", "reply")', '("id", "dial")'),
    says="a reply has an id",
    content=chips({**REPLY, "id": "yes"}),
)
@rule(
    "Resources / Button",
    edited(CHECK_BUTTON, 'button.text("id")', 'button.text("id", required=True)'),
    says="the id is optional",
    content=chips(REPLY),
)
def test_content_that_the_contract_shows_is_sent(partner: Partner, content: Row) -> None:
    assert send(partner, content=content).status_code == 201
