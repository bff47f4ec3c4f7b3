"""The content of a message (contract: Message content; Card; Button; Limits)."""

from typing import Final
from urllib.parse import urlsplit

from vetl_sandbox.contract import (
    BUTTON_TYPES,
    BUTTONS,
    CONTENT_TYPES,
    DESCRIPTION,
    FEWEST_CARDS,
    LABEL,
    MOST_CARDS,
    REPLY_LABEL,
    SUGGESTIONS,
    TITLE,
)
from vetl_sandbox.server.body import Body

_PART_OF_TYPE: Final = {"media_url": "media", "card": "card", "cards": "carousel"}
_UNSUPPORTED_ACTIONS: Final = ("calendar", "location")
_UNREACHABLE: Final = ".invalid"


def check_content(content: Body) -> None:
    """Note every fault of a message's content."""
    kind = content.choice("type", CONTENT_TYPES, required=True)
    for part, owner in _PART_OF_TYPE.items():
        if kind is not None and kind != owner and content.has(part):
            content.fault(part, f"{part} is for type {owner} only")
    if kind == "media":
        _reachable(content, content.uri("media_url", ("https", "http"), required=True))
    if kind == "card":
        card = content.child("card", required=True)
        if card is not None:
            _check_card(card)
    if kind == "carousel":
        for card in content.children("cards", MOST_CARDS, FEWEST_CARDS):
            _check_card(card)
        if content.has("suggestions"):
            content.fault("suggestions", "A carousel takes no suggestions; its cards have buttons")
    else:
        for suggestion in content.children("suggestions", SUGGESTIONS):
            _check_button(suggestion)


def _check_card(card: Body) -> None:
    title = card.text("title", most=TITLE)
    description = card.text("description", most=DESCRIPTION)
    if title is None and description is None:
        card.fault(None, "A card needs a title or a description")
    _reachable(card, card.uri("media_url"))
    for button in card.children("buttons", BUTTONS):
        _check_button(button)


def _check_button(button: Body) -> None:
    kind = button.text("type", required=True)
    if kind is not None and any(action in kind for action in _UNSUPPORTED_ACTIONS):
        button.fault_anywhere("content", "Calendar and share-location actions are not supported")
    elif kind is not None:
        kind = button.choice("type", BUTTON_TYPES)
    button.text("text", required=True, most=REPLY_LABEL if kind == "reply" else LABEL)
    for name, owner in (("url", "open_url"), ("phone_number", "dial"), ("id", "reply")):
        if kind in BUTTON_TYPES and kind != owner and button.has(name):
            button.fault(name, f"{name} is for type {owner} only")
    if kind == "open_url":
        button.uri("url", required=True)
    if kind == "dial":
        button.phone("phone_number", required=True)
    if kind == "reply":
        button.text("id")


def _reachable(body: Body, address: str | None) -> None:
    """Note a fault for images that the provider cannot reach; here those of `.invalid` hosts."""
    if address is not None and (urlsplit(address).hostname or "").endswith(_UNREACHABLE):
        body.fault_anywhere("content", "The messaging provider rejected the content: unreachable media")
