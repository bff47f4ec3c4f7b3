"""The rules' checks can fail: each is seen to hold, and not to hold on a platform that is broken on purpose."""

import importlib
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from support.partner_side import ROOT, Partner

PHONE = "+12125550139"


def status(partner: Partner, **fields: Any) -> int:
    body = {"recipient": {"phone_number": PHONE}, "fallback_text": "Hello", **fields}
    return partner.http.post(f"{ROOT}/messages", json=body).status_code


def texts(partner: Partner, content: Any) -> int:
    return status(partner, content=content)


def sent_at_night(partner: Partner) -> int:
    partner.platform.advance(timedelta(hours=12))
    return status(partner)


def sent_in_a_minute(partner: Partner) -> int:
    return sum(status(partner) == 201 for _ in range(125))


def outcome_after(partner: Partner, hours: int, ending: str) -> str | None:
    body = {"contact_number": f"+121255501{ending}", "partner_request_id": "p-1"}
    partner.http.post(f"{ROOT}/ai_outbound/requests", json=body)
    partner.platform.advance(timedelta(hours=hours))
    return partner.page("ai_outbound/requests/p-1")["status"]


REPLY = {"type": "reply", "text": "Yes"}
CARD = {"title": "A card"}
CONTENT = "sandbox.server.message_content"

RULES: dict[str, tuple[str, str, Any, Callable[[Partner], Any], Any]] = {
    "fallback_text is limited": (
        "sandbox.server.messages", "FALLBACK_TEXT", 9999, lambda p: status(p, fallback_text="t" * 1601), 400,
    ),
    "titles are limited": (
        CONTENT, "_TITLE", 9999, lambda p: texts(p, {"type": "card", "card": {"title": "t" * 201}}), 400,
    ),
    "descriptions are limited": (
        CONTENT, "_DESCRIPTION", 9999,
        lambda p: texts(p, {"type": "card", "card": {"description": "d" * 1601}}), 400,
    ),
    "buttons are limited": (
        CONTENT, "_BUTTONS", 99,
        lambda p: texts(p, {"type": "card", "card": CARD | {"buttons": [REPLY] * 5}}), 400,
    ),
    "suggestions are limited": (
        CONTENT, "_SUGGESTIONS", 99, lambda p: texts(p, {"type": "text", "suggestions": [REPLY] * 12}), 400,
    ),
    "one card is no carousel": (
        CONTENT, "_FEWEST_CARDS", 1, lambda p: texts(p, {"type": "carousel", "cards": [CARD]}), 400,
    ),
    "cards are limited": (
        CONTENT, "_MOST_CARDS", 99, lambda p: texts(p, {"type": "carousel", "cards": [CARD] * 11}), 400,
    ),
    "reply labels are shorter": (
        CONTENT, "_REPLY_LABEL", 25,
        lambda p: texts(p, {"type": "text", "suggestions": [{"type": "reply", "text": "t" * 21}]}), 400,
    ),
    "texts go out in sending hours": ("sandbox.server.messages", "SENDING_HOURS", range(24), sent_at_night, 400),
    "120 messages a minute": ("sandbox.messages.store", "A_MINUTE", 1000, sent_in_a_minute, 120),
    "opted-out clients are not texted": (
        "sandbox.messages.numbers", "ENDINGS", {}, lambda p: status(p, recipient={"phone_number": "+12125550100"}),
        200,
    ),
    "silence ends after 48 hours": (
        "sandbox.outreach", "_SILENCE", (timedelta(hours=72), {"status": "completed", "outcome": "no_response"}),
        lambda p: outcome_after(p, 50, "39"), "completed",
    ),
    "the sweeper comes after 96 hours": (
        "sandbox.outreach", "SWEPT_AFTER", timedelta(hours=200), lambda p: outcome_after(p, 97, "26"), "failed",
    ),
}  # fmt: skip


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_is_kept(partner: Partner, rule: str) -> None:
    *_, probe, expected = RULES[rule]
    assert probe(partner) == expected


@pytest.mark.parametrize("rule", RULES)
def test_its_check_fails_where_it_is_broken(partner: Partner, monkeypatch: pytest.MonkeyPatch, rule: str) -> None:
    module, name, wrong, probe, expected = RULES[rule]
    monkeypatch.setattr(importlib.import_module(module), name, wrong)
    assert probe(partner) != expected
