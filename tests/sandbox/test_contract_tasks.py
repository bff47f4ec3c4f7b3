"""Contract: Staff task; its states; create, update, delete. Any writes give the task of a model."""

from hypothesis import HealthCheck, given, settings, strategies as st
from support.examples import examples
from support.partner_side import Partner, Row, at_fault, by_id, made
from vetl_sandbox.stamps import stamp

TITLE = {"title": st.sampled_from(["Call back", "Another"])}
FIELDS = {
    "description": st.sampled_from(["Soon", "Later"]),
    "task_type": st.sampled_from(["task", "rx_refill"]),
    "client_id": st.just("10000001"),
    "patient_id": st.just("10000001"),
    "reference_time_at": st.just("2026-02-01T10:00:00+02:00"),
}
STATUS = {"status": st.sampled_from(["pending", "completed", "canceled"])}
GIVEN = st.fixed_dictionaries(TITLE, optional=FIELDS)
UPDATES = st.fixed_dictionaries({}, optional=TITLE | FIELDS | STATUS)
CHANGES = st.lists(UPDATES | st.just({"delete": "softly"}), max_size=4)
"""Updates, each with the fields that it changes, and deletions."""


def changed(task: Row, changes: Row, now: str) -> Row:
    """Return a task after an update or a deletion (contract: States and transitions, Staff task)."""
    status = "canceled" if "delete" in changes else changes.get("status", task["status"])
    finalized = {} if status == task["status"] else {"finalized_at": None if status == "pending" else now}
    written = {name: value for name, value in changes.items() if name != "delete"}
    if "reference_time_at" in written:
        written["reference_time_at"] = "2026-02-01T08:00:00.000Z"
    return task | written | {"status": status, "updated_at": now} | finalized


def test_a_task_is_as_it_was_written(partner: Partner) -> None:
    now = partner.platform.now

    @given(GIVEN, CHANGES)
    @settings(max_examples=examples(30), suppress_health_check=[HealthCheck.too_slow])
    def check(given: Row, changes: list[Row]) -> None:
        new = {"task_type": "task", "status": "pending", "finalized_at": None, "created_at": stamp(now())}
        shown = made(partner.post("staff_tasks", given))
        task = changed(shown | dict.fromkeys(FIELDS) | new, given, stamp(now()))
        assert shown == task
        assert shown["cancellation_allowed"] is True
        for change in changes:
            partner.later(seconds=1)
            task = written(partner, task, change, stamp(now()))
        assert by_id(partner.everything("staff_tasks")).get(task["id"]) == task

    check()


def written(partner: Partner, task: Row, change: Row, now: str) -> Row:
    """Write a change, require the right answer, and return the task of the model."""
    path, after = f"staff_tasks/{task['id']}", changed(task, change, now)
    if "delete" in change:
        assert partner.delete(path).json() == {"success": True, "data": {}, "message": None}
    else:
        assert made(partner.put(path, change)) == after
    return after


def test_finalized_at_is_set_exactly_while_a_task_is_final(partner: Partner) -> None:
    for task in partner.everything("staff_tasks"):
        assert (task["finalized_at"] is None) == (task["status"] == "pending")
        assert isinstance(task["cancellation_allowed"], bool)


def test_a_status_that_is_none_is_refused(partner: Partner) -> None:
    task = partner.truth("staff_tasks")[0]
    assert at_fault(partner.put(f"staff_tasks/{task['id']}", {"status": "done"})) == ["status"]


def test_a_task_that_is_not_there_cannot_be_written(partner: Partner) -> None:
    theirs = partner.truth("staff_tasks")[0]["id"]
    partner.act_for("loc-002")
    for task in ("x", theirs):
        assert partner.put(f"staff_tasks/{task}", {"title": "Ours"}).status_code == 404
        assert partner.delete(f"staff_tasks/{task}").status_code == 404
