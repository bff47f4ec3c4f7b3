"""Contract: Endpoints, List endpoints; Limits, page size: the common rules of all paged lists."""

from typing import Any

import pytest
from support.contract_breaks import GONE, asks, enveloped, pages
from support.partner_side import Partner, Row
from support.rows_by_id import by_id
from support.rules import broken_by, rule

EARLY = {"start_date": "2025-01-01"}
SESSIONS: dict[str, Any] = {"path": "booking_sessions", "query": EARLY}
LISTS: dict[str, dict[str, Any]] = {
    "phone_calls": {"path": "phone_calls", "query": {}},
    "appointments": {"path": "appointments", "query": EARLY},
    "ai_outbound": {"path": "ai_outbound/requests", "query": {}},
    "staff_tasks": {"path": "staff_tasks", "query": {}},
}
KEYS = ["page", "per_page", "total_pages", "total_count", "content"]


@rule("Endpoints", says="calls", keys=KEYS, **LISTS["phone_calls"])
@rule("Endpoints", says="appointments", keys=KEYS, **LISTS["appointments"])
@rule("Endpoints", says="outreach", keys=KEYS, **LISTS["ai_outbound"])
@rule("Endpoints", says="tasks", keys=KEYS, **LISTS["staff_tasks"])
@rule(
    "Endpoints",
    says="sessions have no total_pages",
    keys=[key for key in KEYS if key != "total_pages"],
    **SESSIONS,
)
@broken_by(pages(total_count=GONE))
def test_a_list_comes_in_pages(partner: Partner, path: str, query: Row, keys: list[str]) -> None:
    page = partner.page(path, **query)
    assert set(page) == set(keys)
    assert page["content"]


@rule("Endpoints", says="calls", **LISTS["phone_calls"])
@rule("Endpoints", says="appointments", **LISTS["appointments"])
@rule("Endpoints", says="outreach", **LISTS["ai_outbound"])
@rule("Endpoints", says="tasks", **LISTS["staff_tasks"])
@rule("Endpoints", says="sessions", **SESSIONS)
@broken_by(asks(page="0"))
def test_the_pages_together_hold_every_row_once(partner: Partner, path: str, query: Row) -> None:
    assert len(by_id(partner.everything(path, **query))) == partner.page(path, **query)["total_count"]


@rule("Endpoints", **LISTS["phone_calls"])
@rule("Endpoints", says="outreach", **LISTS["ai_outbound"])
@rule("Endpoints", says="tasks", **LISTS["staff_tasks"])
@rule("Endpoints", says="visits", **LISTS["appointments"])
@broken_by(pages(total_pages=1))
def test_total_pages_follow_from_total_count(partner: Partner, path: str, query: Row) -> None:
    for size in (7, 9):
        page = partner.page(path, per_page=size, **query)
        if page["total_count"] % size:
            assert page["total_pages"] == -(-page["total_count"] // size)
            return
    pytest.fail("a world in which this cannot be seen")


@rule("Endpoints / List phone calls", says="page", **LISTS["phone_calls"])
@rule("Endpoints / Booking sessions", says="page", **SESSIONS)
@broken_by(asks(page=lambda page: str(int(page) + 1)))
def test_pages_count_from_zero(partner: Partner, path: str, query: Row) -> None:
    whole = partner.page(path, per_page=20, **query)
    assert whole["page"] == 0
    first, second = (partner.get(path, per_page=10, page=page, **query) for page in (0, 1))
    assert first.status_code == second.status_code == 200
    assert [row["id"] for answer in (first, second) for row in answer.json()["data"]["content"]] == [
        row["id"] for row in whole["content"]
    ]


@rule("Limits", says="calls", **LISTS["phone_calls"])
@rule("Limits", says="appointments", **LISTS["appointments"])
@rule("Limits", says="outreach", **LISTS["ai_outbound"])
@rule("Limits", says="tasks", **LISTS["staff_tasks"])
@rule("Limits", says="sessions", **SESSIONS)
@broken_by(asks(per_page=lambda size: str(int(size) // 2)))
def test_a_page_of_json_holds_a_hundred_rows_at_most(partner: Partner, path: str, query: Row) -> None:
    """The contract does not show whether a larger size is made smaller or refused."""
    assert len(partner.page(path, per_page=100, **query)["content"]) == 100
    larger = partner.get(path, per_page=101, **query)
    assert larger.status_code == 400 or len(larger.json()["data"]["content"]) == 100


@rule("Endpoints / List phone calls")
@broken_by(pages("phone_calls", per_page=25))
def test_a_page_of_calls_holds_fifty_by_default(partner: Partner) -> None:
    page = partner.page("phone_calls")
    assert (page["per_page"], len(page["content"])) == (50, 50)


@rule("Endpoints / List phone calls", says="message")
@broken_by(enveloped("phone_calls", lambda body: {**body, "message": "OK"}))
def test_the_message_of_a_page_of_calls_is_null(partner: Partner) -> None:
    body = partner.get("phone_calls").json()
    assert body["message"] is None
    assert body["data"]["content"]
