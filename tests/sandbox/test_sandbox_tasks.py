"""Contract: Staff task; its states and transitions."""

from collections.abc import Iterable
from datetime import timedelta

import pytest
from support.partner_side import Partner, Row


def by_id(rows: Iterable[Row]) -> dict[str, Row]:
    return {row["id"]: row for row in rows}


def test_a_record_has_the_contracts_fields_and_no_others(partner: Partner) -> None:
    assert set(partner.page("staff_tasks")["content"][0]) == {
        "id", "task_type", "status", "title", "description", "client_id", "patient_id", "cancellation_allowed",
        "override_completion_action_text", "reference_time_at", "finalized_at", "created_at", "updated_at",
    }  # fmt: skip


def test_the_pages_together_are_the_truth(partner: Partner) -> None:
    assert by_id(partner.everything("staff_tasks")) == by_id(partner.truth("staff_tasks"))


@pytest.mark.parametrize("status", ["pending", "completed", "canceled"])
def test_the_status_filter_lets_through_its_status(partner: Partner, status: str) -> None:
    read = partner.everything("staff_tasks", status=status)
    assert read
    assert by_id(read) == by_id(row for row in partner.truth("staff_tasks") if row["status"] == status)


def test_finalized_at_is_set_exactly_while_a_task_is_final(partner: Partner) -> None:
    for task in partner.truth("staff_tasks"):
        assert (task["finalized_at"] is None) == (task["status"] == "pending")


def test_both_types_occur(partner: Partner) -> None:
    assert {task["task_type"] for task in partner.truth("staff_tasks")} == {"task", "rx_refill"}


def test_some_tasks_are_taken_up_again_and_finalized_again(partner: Partner) -> None:
    reopened: set[str] = set()
    finalized_again: set[str] = set()
    before = by_id(partner.truth("staff_tasks"))
    for _ in range(40):
        partner.platform.advance(timedelta(hours=6))
        now = by_id(partner.truth("staff_tasks"))
        for key, task in before.items():
            if task["status"] != "pending" and now[key]["status"] == "pending":
                reopened.add(key)
            if key in reopened and task["status"] == "pending" and now[key]["status"] != "pending":
                finalized_again.add(key)
        before = now
    assert reopened
    assert finalized_again


def test_updated_at_moves_with_every_change(partner: Partner) -> None:
    before = by_id(partner.truth("staff_tasks"))
    partner.platform.advance(timedelta(days=4))
    after = by_id(partner.truth("staff_tasks"))
    changed = [key for key in before if before[key] != after[key]]
    assert changed
    assert all(before[key]["updated_at"] < after[key]["updated_at"] for key in changed)


def test_a_final_task_may_be_edited_without_any_total_moving(partner: Partner) -> None:
    practices = [practice.id for practice in partner.platform.practices]
    before = by_id(row for practice in practices for row in partner.platform.truth(practice, "staff_tasks"))
    partner.platform.advance(timedelta(days=8))
    after = by_id(row for practice in practices for row in partner.platform.truth(practice, "staff_tasks"))
    assert any(
        before[key]["status"] == after[key]["status"] != "pending"
        and before[key]["finalized_at"] == after[key]["finalized_at"]
        and before[key]["updated_at"] != after[key]["updated_at"]
        for key in before
    )
