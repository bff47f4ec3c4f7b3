"""Faults with a right status and a wrong answer."""

import csv
import io
from typing import Any

import httpx
import pytest
from support.partner_side import Partner

from sandbox import Fault


def pages(
    partner: Partner, kind: Any, path: str = "staff_tasks", **query: Any
) -> tuple[httpx.Response, httpx.Response]:
    """Return a page without the fault and with it."""
    right = partner.get(path, **query)
    partner.platform.faults.set([Fault(kind, wait_seconds=0)])
    return right, partner.get(path, **query)


def spoiled(partner: Partner, kind: Any) -> httpx.Response:
    partner.platform.faults.set([Fault(kind)])
    return partner.get("phone_calls", format="csv")


def table(answer: httpx.Response) -> list[list[str]]:
    return list(csv.reader(io.StringIO(answer.text, newline="")))


def test_a_csv_is_spoiled_in_one_way(partner: Partner) -> None:
    right, marked = pages(partner, "csv_bom", "phone_calls", format="csv")
    assert marked.content == b"\xef\xbb\xbf" + right.content
    windows, reversed_, wider = (
        spoiled(partner, kind) for kind in ("csv_crlf", "csv_column_order", "csv_extra_column")
    )
    assert windows.content.splitlines()[0] == right.content.splitlines()[0]
    assert windows.content.count(b"\r\n") >= len(table(right))
    assert table(windows) == table(right)
    assert table(reversed_) == [row[::-1] for row in table(right)]
    assert [row[:-1] for row in table(wider)] == table(right)


@pytest.mark.parametrize(("kind", "path"), [("csv_bom", "phone_calls"), ("slow", "staff_tasks")])
def test_faults_of_the_csv_and_slow_answers_leave_json_alone(partner: Partner, kind: str, path: str) -> None:
    right, wrong = pages(partner, kind, path)
    assert wrong.content == right.content


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
