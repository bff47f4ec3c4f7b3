"""An unexpected error ends one list of one practice; nothing is certified of a practice that nobody knows."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
import vetl_sandbox
from vetl.core.errors import ConfigurationError
from vetl.core.steps import Flush, Plan
from vetl.engine import runner as engine
from vetl.jobs.checkup import run_doctor
from vetl.store.warehouse import Warehouse

VALUE = "Jane Doeling 212-555-0199"


class Unforeseen(Exception):
    """Raise an error that quotes a row, as libraries do."""


def ended(practices: Any) -> dict[tuple[str, str], str]:
    """Sync; return the reason of each list that did not end certified."""
    result = practices.sync()
    assert result.exit_code == 1
    return {(item.practice_id, item.endpoint): item.reason for item in result.results if item.state != "certified"}


def test_an_error_that_nobody_foresaw_ends_one_list_of_one_practice(
    opened: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    practices = opened(practices=2, calls=60, days=6)
    read_list, failed = engine.read_list, [practices.settings.practices[0].id]

    def spoiled(reading: Any) -> Plan[Any]:
        outcome = yield from read_list(reading)
        if reading.endpoint.name == "staff_tasks" and failed:
            failed.pop()
            yield Flush()
            raise Unforeseen(VALUE)
        return outcome

    monkeypatch.setattr(engine, "read_list", spoiled)

    ((_, name), reason), *others = ended(practices).items()

    assert (name, others) == ("staff_tasks", [])
    assert reason.startswith("internal error: Unforeseen in test_unforeseen.py, line ")
    assert VALUE not in reason
    assert practices.mended()


def test_a_list_that_cannot_be_stored_is_not_certified_and_the_others_are(
    opened: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the first failure all saves of this list are refused, because its cursor would count missing rows."""
    practices = opened(practices=2, calls=60, days=6)
    first, commit_all = practices.settings.practices[0].id, Warehouse.commit_all
    refusing = [True]

    def failing(self: Warehouse, run_id: str, works: Any) -> Any:
        if refusing and any(work[0] == first and work[1].name == "appointments" for work in works):
            if len(works) == 1:
                refusing.pop()
            raise Unforeseen(VALUE)
        return commit_all(self, run_id, works)

    monkeypatch.setattr(Warehouse, "commit_all", failing)

    assert list(ended(practices)) == [(first, "appointments")]
    assert practices.mended()


def with_first_practice(practices: Any, **other: Any) -> Any:
    first, *rest = practices.settings.practices
    return practices.settings.model_copy(update={"practices": (replace(first, **other), *rest)})


def states(result: Any, practice_id: str) -> set[str]:
    return {item.state for item in result.results if item.practice_id == practice_id}


@pytest.mark.parametrize("endpoints", [None, ["patients", "clients"]])
def test_a_practice_that_the_platform_refuses_is_certified_in_nothing(
    opened: Any, endpoints: list[str] | None
) -> None:
    """This happens after a typing mistake in its id; the other practice is read as usual."""
    practices = opened(practices=2, calls=60, days=6)
    practices.settings = with_first_practice(practices, id="loc-999")

    result = practices.sync(endpoints=endpoints)

    assert states(result, "loc-999") == {"failed"}
    assert all("403" in item.reason for item in result.results if item.practice_id == "loc-999")
    assert states(result, practices.settings.practices[1].id) == {"certified"}
    assert result.exit_code == 1


def test_a_proposed_list_that_alone_is_forbidden_is_withdrawn(opened: Any) -> None:
    """A gateway may answer 403 to a path that does not exist; the practice is read as usual."""
    practices = opened(practices=1, calls=60, days=6)
    forbidden = vetl_sandbox.Fault("status", path="*/appointments", status=403, in_a_row=None)
    practices.platform.faults.set([forbidden])

    result = practices.sync()

    ended = {item.endpoint: item.state for item in result.results}
    assert ended.pop("appointments") == "withdrawn"
    assert set(ended.values()) == {"certified"}
    assert result.exit_code == 0


def test_history_may_start_today_but_not_in_the_future(opened: Any) -> None:
    practices = opened(practices=1, calls=60, days=6)
    today = practices.platform.now().astimezone().date()
    tomorrow = today + timedelta(days=2)
    practices.settings = with_first_practice(practices, history_start=tomorrow, time_zone="UTC")

    def doctor() -> None:
        run_doctor(practices.settings, practices=None, endpoints=None, config=None, progress=lambda _: None)

    for command in (practices.sync, doctor):
        with pytest.raises(ConfigurationError, match=f"history_start = {tomorrow} of loc-001 is in the future"):
            command()

    assert not practices.warehouse.exists()
    practices.settings = with_first_practice(practices, history_start=today, time_zone="UTC")
    assert practices.sync(endpoints=["staff_tasks"]).exit_code == 0
