"""The last window of each list, told after every commit without searching through all that were ever read."""

import json
from datetime import datetime, timedelta

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.filled import START, Filled

from pipelines.endpoints import by_name
from pipelines.loading.status import Status, snapshot_path
from pipelines.pages import Certificate, Window
from pipelines.steps import MergeRows

LISTS = ("booking_sessions", "appointments", "staff_tasks")
HOUR = timedelta(hours=1)


def evidence(finished: datetime) -> Certificate:
    return Certificate(Window(), "closed", 0, 0, 0, 0, 1, 0, True, f"at {finished}", finished, finished)


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(commits=st.lists(st.tuples(st.sampled_from(LISTS), st.integers(0, 20)), min_size=1, max_size=8))
def test_it_is_the_one_that_was_finished_last_in_whatever_order_they_were_committed(
    shared: Filled, commits: list[tuple[str, int]]
) -> None:
    """Practices are read side by side: by the source's clock a commit may come later than one after it."""
    shared.another_practice()
    last: dict[str, datetime] = {}
    for name, hours in commits:
        finished = START + hours * HOUR
        shared.commit(name, MergeRows((), finished, certificate=evidence(finished)))
        last[name] = max(last.get(name, finished), finished)

        told = {
            item["endpoint"]: item["certificate"]["reason"]
            for item in shared.warehouse.status()
            if item["practice_id"] == shared.practice.id and item["certificate"]
        }

        assert told == {name: f"at {finished}" for name, finished in last.items()}


def test_windows_of_days_long_past_are_not_searched_again(filled: Filled) -> None:
    filled.commit("staff_tasks", MergeRows((), START, certificate=evidence(START)))
    status: Status = filled.warehouse._status  # pyright: ignore[reportPrivateUsage]
    filled.connection.execute("update control.windows set reason = 'changed behind its back'")
    later = START + timedelta(days=3)
    filled.commit("appointments", MergeRows((), later, certificate=evidence(later)))
    filled.connection.execute("update control.windows set reason = 'changed behind its back'")

    told = {item["endpoint"]: item["certificate"] for item in status.lists()}

    assert told["appointments"]["reason"] == "changed behind its back"
    filled.connection.execute("update control.windows set reason = 'again' where endpoint = 'staff_tasks'")
    assert {item["endpoint"]: item["certificate"] for item in status.lists()} == told


def test_a_reconcile_counts_for_the_lists_that_it_certified(filled: Filled) -> None:
    """As in `marts.proof`: not for one that failed, nor for another practice's, and not while it runs."""
    filled.another_practice()
    filled.warehouse.start_run("again", START, "reconcile")
    for name in ("appointments", "staff_tasks"):
        proof = MergeRows((), START, certificate=evidence(START))
        filled.warehouse.commit("again", filled.practice.id, by_name(name), [proof])
    assert reconciled(filled) == {}
    states = {"appointments": "certified", "staff_tasks": "uncertified"}
    results = [
        {"practice_id": practice, "endpoint": name, "state": state}
        for name, state in states.items()
        for practice in (filled.practice.id, "elsewhere")
    ]
    filled.warehouse.finish_run("again", source_clock=START, exit_code=1, summary={"results": results})

    assert reconciled(filled) == {(filled.practice.id, "appointments"): "2025-06-01T00:00:00Z"}
    assert json.loads(snapshot_path(filled.path).read_text()) == filled.warehouse.status()


def reconciled(filled: Filled) -> dict[tuple[str, str], str]:
    told = filled.warehouse.status()
    return {(item["practice_id"], item["endpoint"]): at for item in told if (at := item["last_reconcile"])}
