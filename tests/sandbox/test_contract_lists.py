"""Contract: Endpoints, List endpoints; Limits, page size. What all paged lists have in common."""

from typing import Any

from support.breaking import Break, edited, replaced, switched
from support.partner_side import Partner, Row
from support.rules import rule
from support.shapes import by_id

EARLY = {"start_date": "2025-01-01"}
SESSIONS: dict[str, Any] = {"path": "booking_sessions", "query": EARLY}
LISTS: dict[str, dict[str, Any]] = {
    "phone_calls": {"path": "phone_calls", "query": {}},
    "appointments": {"path": "appointments", "query": EARLY},
    "ai_outbound": {"path": "ai_outbound/requests", "query": {}},
    "staff_tasks": {"path": "staff_tasks", "query": {}},
}
KEYS = ["page", "per_page", "total_pages", "total_count", "content"]
NO_TOTAL = edited("server.lists:page_body", 'data["total_count"] = len(rows)', "pass")
NO_PAGES = edited("server.lists:page_body", "if with_total_pages:", "if False:")
ALL_PAGES = edited("server.lists:page_body", "if with_total_pages:", "if True:")


@rule("Endpoints", NO_TOTAL, NO_PAGES, says="calls", keys=KEYS, **LISTS["phone_calls"])
@rule("Endpoints", NO_TOTAL, NO_PAGES, says="appointments", keys=KEYS, **LISTS["appointments"])
@rule("Endpoints", NO_TOTAL, NO_PAGES, says="outreach", keys=KEYS, **LISTS["ai_outbound"])
@rule("Endpoints", NO_TOTAL, NO_PAGES, says="tasks", keys=KEYS, **LISTS["staff_tasks"])
@rule(
    "Endpoints",
    NO_TOTAL,
    ALL_PAGES,
    says="sessions have no total_pages",
    keys=[key for key in KEYS if key != "total_pages"],
    **SESSIONS,
)
def test_a_list_comes_in_pages(partner: Partner, path: str, query: Row, keys: list[str]) -> None:
    page = partner.page(path, **query)
    assert set(page) == set(keys)
    assert page["content"]


def on_page(number: str) -> Break:
    return edited("server.lists:Paging.cut", "(self.number - self.base) * self.size", number)


STUCK, OVERLAPPING = on_page("0"), on_page("self.number * self.size // 2")


@rule("Endpoints", STUCK, OVERLAPPING, says="calls", **LISTS["phone_calls"])
@rule("Endpoints", STUCK, OVERLAPPING, says="appointments", **LISTS["appointments"])
@rule("Endpoints", STUCK, OVERLAPPING, says="outreach", **LISTS["ai_outbound"])
@rule("Endpoints", STUCK, OVERLAPPING, says="tasks", **LISTS["staff_tasks"])
@rule("Endpoints", STUCK, OVERLAPPING, says="sessions", **SESSIONS)
def test_the_pages_together_hold_every_row_once(partner: Partner, path: str, query: Row) -> None:
    assert len(by_id(partner.everything(path, **query))) == partner.page(path, **query)["total_count"]


@rule(
    "Endpoints",
    edited("server.lists:Paging.pages", "-(-rows // self.size)", "rows // self.size"),
    **LISTS["phone_calls"],
)
@rule(
    "Endpoints",
    edited("server.lists:Paging.pages", "-(-rows // self.size)", "rows"),
    says="outreach",
    **LISTS["ai_outbound"],
)
@rule(
    "Endpoints",
    edited("server.lists:Paging.pages", "-(-rows // self.size)", "1"),
    says="tasks",
    **LISTS["staff_tasks"],
)
@rule(
    "Endpoints",
    edited("server.lists:Paging.pages", "rows // self.size)", "rows)"),
    says="visits",
    **LISTS["appointments"],
)
def test_total_pages_follow_from_total_count(partner: Partner, path: str, query: Row) -> None:
    page = partner.page(path, per_page=7, **query)
    assert page["total_count"] % 7, "a world in which this cannot be seen"
    assert page["total_pages"] == -(-page["total_count"] // 7)


@rule("Endpoints / List phone calls", switched(phone_calls={"page_base": 1}), says="page", **LISTS["phone_calls"])
@rule("Endpoints / Booking sessions", switched(booking_sessions={"page_base": 1}), says="page", **SESSIONS)
def test_pages_count_from_zero(partner: Partner, path: str, query: Row) -> None:
    whole = partner.page(path, per_page=20, **query)
    assert whole["page"] == 0
    first, second = (partner.get(path, per_page=10, page=page, **query) for page in (0, 1))
    assert first.status_code == second.status_code == 200
    assert [row["id"] for answer in (first, second) for row in answer.json()["data"]["content"]] == [
        row["id"] for row in whole["content"]
    ]


MORE = replaced("server.lists:MAXIMUM_SIZE", 500)
FEWER = replaced("server.lists:MAXIMUM_SIZE", 50)


@rule(
    "Limits",
    replaced("server.phone_calls:MAXIMUM_SIZE", 500),
    replaced("server.phone_calls:MAXIMUM_SIZE", 50),
    says="calls",
    **LISTS["phone_calls"],
)
@rule("Limits", MORE, FEWER, says="appointments", **LISTS["appointments"])
@rule("Limits", MORE, FEWER, says="outreach", **LISTS["ai_outbound"])
@rule("Limits", MORE, FEWER, says="tasks", **LISTS["staff_tasks"])
@rule("Limits", MORE, FEWER, says="sessions", **SESSIONS)
def test_a_page_of_json_holds_a_hundred_rows_at_most(partner: Partner, path: str, query: Row) -> None:
    """Whether a larger one is made smaller or refused is not shown."""
    assert len(partner.page(path, per_page=100, **query)["content"]) == 100
    larger = partner.get(path, per_page=101, **query)
    assert larger.status_code == 400 or len(larger.json()["data"]["content"]) == 100


@rule("Endpoints / List phone calls", replaced("server.phone_calls:JSON_DEFAULT_SIZE", 25))
def test_a_page_of_calls_holds_fifty_by_default(partner: Partner) -> None:
    page = partner.page("phone_calls")
    assert (page["per_page"], len(page["content"])) == (50, 50)


@rule(
    "Endpoints / List phone calls",
    edited("server.lists:page_body", 'encoded(data | {"content"', 'encoded(data | {"content": [], "rows"'),
    says="message",
)
def test_the_message_of_a_page_of_calls_is_null(partner: Partner) -> None:
    body = partner.get("phone_calls").json()
    assert body["message"] is None
    assert body["data"]["content"]
