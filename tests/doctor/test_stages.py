"""The order of booking stages that `vetl doctor` proposes."""

import duckdb
import pytest
from support.platform_and_settings import Clinic
from vetl.cli.app import execute
from vetl.discovery.row_checks import order_of_stages
from vetl.jobs.checkup import proposed_stages

TASKS = ("--endpoint", "staff_tasks")


@pytest.mark.parametrize(
    ("moves", "order"),
    [
        ({("started", "pet"): 3, ("pet", "slot"): 2}, ("started", "pet", "slot")),
        ({("started", "pet"): 3, ("pet", "started"): 2}, ("started", "pet")),
        ({("started", "pet"): 2, ("pet", "started"): 2}, ()),
        ({("started", "pet"): 1, ("pet", "slot"): 1, ("slot", "started"): 1}, ()),
        ({}, ()),
    ],
    ids=["a chain", "few go back", "as many go back", "a circle", "nobody moved"],
)
def test_the_majority_of_the_sessions_decides(moves: dict[tuple[str, str], int], order: tuple[str, ...]) -> None:
    assert order_of_stages(moves) == order


def test_doctor_proposes_the_order_in_which_sessions_were_seen(
    clinic: Clinic, capsys: pytest.CaptureFixture[str]
) -> None:
    """Versions of one session, the last one in the mirror; a setting ends the proposals."""
    assert execute(["doctor", *TASKS]) == 0
    settings = clinic.settings
    with duckdb.connect(settings.warehouse.path) as connection:
        for table, stage, day in (("history", "started", 1), ("history", "pet", 2), ("raw", "slot", 3)):
            at = f"timestamptz '2025-01-0{day} 10:00:00+00'"
            seen = f"_valid_from, _valid_to) values ('p', 's', '{stage}', {at}, {at})"
            if table == "raw":
                seen = f"_loaded_at) values ('p', 's', '{stage}', {at})"
            connection.execute(f"insert into {table}.booking_sessions (practice_id, id, stage, {seen}")
    capsys.readouterr()

    assert execute(["doctor", *TASKS]) == 0
    assert 'booking_stages = ["started", "pet", "slot"]' in capsys.readouterr().out
    chosen = settings.definitions.model_copy(update={"booking_stages": ("started",)})
    assert proposed_stages(settings.model_copy(update={"definitions": chosen})) == ()
