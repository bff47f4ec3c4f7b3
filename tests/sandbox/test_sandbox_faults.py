"""Faults look real on the wire, and are the same each time."""

import csv
import io
from datetime import timedelta
from email.utils import parsedate_to_datetime
from typing import Any

import httpx
import pytest
from support.partner_side import SIGN_IN, Partner
from vetl_sandbox.faults import Fault, Faults


def test_a_rate_limit_says_how_long_to_wait_or_nothing(partner: Partner) -> None:
    faults = [
        Fault("rate_limited", most=1, wait_seconds=7),
        Fault("rate_limited", most=1, retry_after="date", wait_seconds=30),  # by the platform's clock
        Fault("rate_limited", most=1, retry_after="none"),
    ]
    partner.platform.faults.set(faults)
    seconds, date, nothing = (partner.get("staff_tasks", page=page) for page in range(3))
    assert {seconds.status_code, date.status_code, nothing.status_code} == {429}
    assert seconds.headers["Retry-After"] == "7"
    until, now = (parsedate_to_datetime(date.headers[name]) for name in ("Retry-After", "Date"))
    assert until - now == timedelta(seconds=30)
    assert "Retry-After" not in nothing.headers


def test_one_request_is_hit_a_few_times_in_a_row_and_then_gets_through(partner: Partner) -> None:
    partner.platform.faults.set([Fault("status", in_a_row=3)])
    assert [partner.get("staff_tasks").status_code for _ in range(5)] == [503, 503, 503, 200, 200]
    assert partner.get("staff_tasks", page=1).status_code == 503


def test_a_fault_hits_its_paths_alone_sign_in_too_and_never_the_control_interface(partner: Partner) -> None:
    partner.platform.faults.set([Fault("status", path="*/staff_tasks"), Fault("status", path="*/sign-in", most=1)])
    assert partner.get("ai_outbound/requests").status_code == 200
    assert partner.get("staff_tasks").status_code == 503
    assert partner.http.post(SIGN_IN, json={}).status_code == 503
    partner.platform.faults.set([Fault("status", in_a_row=None)])
    assert partner.http.get("/_control/clock").status_code == 200


def test_a_share_of_requests_is_hit_and_the_same_ones_each_time() -> None:
    def hit(seed: int) -> list[bool]:
        faults = Faults(seed=seed)
        faults.set([Fault("status", share=0.3)])
        return [faults.strike("/x", f"GET /x?page={page}") is not None for page in range(1000)]

    assert 250 < sum(hit(1)) < 350
    assert hit(1) == hit(1)
    assert hit(1) != hit(2)


def pages(partner: Partner, *kinds: Any, path: str = "staff_tasks", **query: Any) -> list[httpx.Response]:
    """Return a page without a fault, and with each of these."""
    answers = [partner.get(path, **query)]
    for kind in kinds:
        partner.platform.faults.set([Fault(kind, wait_seconds=0)])
        answers.append(partner.get(path, **query))
    return answers


def table(answer: httpx.Response) -> list[list[str]]:
    return list(csv.reader(io.StringIO(answer.text, newline="")))


def test_a_csv_is_spoiled_in_one_way(partner: Partner) -> None:
    kinds = ("csv_bom", "csv_crlf", "csv_column_order", "csv_extra_column")
    right, marked, windows, reversed_, wider = pages(partner, *kinds, path="phone_calls", format="csv")
    assert marked.content == b"\xef\xbb\xbf" + right.content
    assert windows.content.splitlines()[0] == right.content.splitlines()[0]
    assert windows.content.count(b"\r\n") >= len(table(right))
    assert table(windows) == table(right)
    assert table(reversed_) == [row[::-1] for row in table(right)]
    assert [row[:-1] for row in table(wider)] == table(right)


@pytest.mark.parametrize("kind", ["unknown_field", "missing_field", "wrong_type", "new_value"])
def test_the_first_record_alone_is_spoiled(partner: Partner, kind: str) -> None:
    right, wrong = (answer.json()["data"]["content"] for answer in pages(partner, kind))
    assert wrong[1:] == right[1:]
    changes = {
        "unknown_field": right[0] | {"brand_new_field": "something"},
        "missing_field": {name: value for name, value in right[0].items() if name != "updated_at"},
        "wrong_type": right[0] | {"created_at": {"unexpected": True}},
        "new_value": right[0] | {"status": "brand_new_value"},
    }
    assert wrong[0] == changes[kind]


def test_rows_move_while_a_list_is_paged(partner: Partner) -> None:
    before = {row["id"]: row for row in partner.truth("staff_tasks")}
    partner.platform.faults.set([Fault("rows_move", in_a_row=None)])
    for page in range(4):
        partner.page("staff_tasks", page=page)
    moved = [row for row in partner.truth("staff_tasks") if row != before[row["id"]]]
    assert 1 <= len(moved) <= 4
    assert all(row["updated_at"] > before[row["id"]]["updated_at"] for row in moved)
