"""The world's staff tasks."""

from collections.abc import Iterable
from datetime import timedelta

from support.partner_side import Partner, Row


def by_id(rows: Iterable[Row]) -> dict[str, Row]:
    return {row["id"]: row for row in rows}


def test_the_pages_together_are_the_truth(partner: Partner) -> None:
    assert by_id(partner.everything("staff_tasks")) == by_id(partner.truth("staff_tasks"))


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
