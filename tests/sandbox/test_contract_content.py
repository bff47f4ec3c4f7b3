"""Contract: Message content; Card; Button; their Limits. Every limit is tried on both sides."""

from support.contract_breaks import accepts, hears
from support.message_requests import PHONE, REPLY, URL, card, carousel, chips, send
from support.partner_side import Partner, Row, at_fault
from support.rules import broken_by, rule, rules


def labelled(kind: str, length: int) -> Row:
    more = {"open_url": {"url": URL}, "dial": {"phone_number": PHONE}, "reply": {}}[kind]
    return chips({"type": kind, "text": "t" * length, **more})


@rules(
    "Resources / Card",
    "most more field",
    ("title", card(title="t" * 200), card(title="t" * 201), "content.card.title"),
    ("description", card(description="d" * 1600), card(description="d" * 1601), "content.card.description"),
    ("buttons", card(buttons=[REPLY] * 4), card(buttons=[REPLY] * 5), "content.card.buttons"),
)
@rules(
    "Resources / Message content",
    "most more field",
    ("suggestions", chips(*[REPLY] * 11), chips(*[REPLY] * 12), "content.suggestions"),
    ("cards", carousel(10), carousel(11), "content.cards"),
    ("fewest cards", carousel(2), carousel(1), "content.cards"),
)
@rules(
    "Resources / Button",
    "most more field",
    ("open_url label", labelled("open_url", 25), labelled("open_url", 26), "content.suggestions.0.text"),
    ("dial label", labelled("dial", 25), labelled("dial", 26), "content.suggestions.0.text"),
    ("reply label", labelled("reply", 20), labelled("reply", 21), "content.suggestions.0.text"),
)
@broken_by(accepts())
def test_values_at_a_limit_are_accepted_and_values_beyond_refused(
    partner: Partner, most: Row, more: Row, field: str
) -> None:
    assert send(partner, content=most).status_code == 201
    assert at_fault(send(partner, content=more)) == [field]


@rule("Limits")
@broken_by(accepts())
def test_the_fallback_text_has_at_most_1600_characters(partner: Partner) -> None:
    assert send(partner, fallback_text="t" * 1600).status_code == 201
    assert at_fault(send(partner, fallback_text="t" * 1601)) == ["fallback_text"]


@rule("Resources / Message content", says="text", content={"type": "text"})
@rule("Resources / Message content", says="media", content={"type": "media", "media_url": URL})
@rule("Resources / Message content", says="card", content=card())
@rule("Resources / Message content", says="carousel", content=carousel(3))
@rule(
    "Resources / Message content",
    says="suggestions with media",
    content={"type": "media", "media_url": URL, "suggestions": [REPLY]},
)
@rule("Resources / Message content", says="suggestions with a card", content={**card(), "suggestions": [REPLY]})
@rule(
    "Resources / Card", says="a description is enough", content={"type": "card", "card": {"description": "Alone"}}
)
@rule("Resources / Card", says="a title is enough", content=card())
@rule("Resources / Card", says="media on top", content=card(media_url=URL))
@rule("Resources / Button", says="a reply has an id", content=chips({**REPLY, "id": "yes"}))
@rule("Resources / Button", says="the id is optional", content=chips(REPLY))
@broken_by(hears("messages", content={"type": "poem"}))
def test_content_that_the_contract_shows_is_sent(partner: Partner, content: Row) -> None:
    assert send(partner, content=content).status_code == 201
