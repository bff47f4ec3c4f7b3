"""The configured time zone against calls of a whole year, from the check to the file and to the sync after it.

The order of booking stages that `vetl doctor` proposes.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
import vetl_sandbox
from support.platform_and_settings import TOML, Clinic
from support.zones import other_rules
from vetl.cli.app import execute
from vetl.discovery.examination import order_of_stages
from vetl.jobs.checkup import proposed_stages

CALLS = ("--endpoint", "phone_calls")
SECOND = """
[[practices]]
id = "loc-002"
name = "Saguaro"
time_zone = "America/New_York"  # as we were told
history_start = {start}
"""


@pytest.fixture(scope="module")
def server() -> Iterator[vetl_sandbox.Handle]:
    """Two practices with a year of calls: one keeps the time of New York, the other that of Phoenix."""
    world = vetl_sandbox.World(practices=2, days=365, calls=4_000, seed=7)
    with vetl_sandbox.running(world, frozen=True) as handle:
        yield handle


def configure(clinic: Clinic, first_zone: str) -> None:
    start = clinic.platform.now().date().replace(year=2025)
    toml = TOML.format(base_url=clinic.platform.base_url, zone=first_zone, start=start)
    clinic.config.write_text(toml + SECOND.format(start=start))


def test_write_asks_again_before_it_writes_and_the_second_check_finds_nothing_wrong(clinic: Clinic) -> None:
    """In winter Denver and Phoenix have the same time: a zone by the calls of the last days was written wrong."""
    configure(clinic, "America/Chicago")
    before = clinic.config.read_text()

    assert execute(["doctor", "--write", *CALLS]) == 0

    right = before.replace("America/New_York", "America/Phoenix").replace("America/Chicago", "America/New_York")
    assert clinic.config.read_text() == right
    assert execute(["doctor", *CALLS]) == 0
    assert clinic.sync("phone_calls").exit_code == 0


def test_rules_of_duckdb_that_differ_are_said_by_doctor_and_by_sync(
    clinic: Clinic, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Vetl has newer rules for New York than DuckDB; the marts correct its times, so nothing is wrong."""
    configure(clinic, "America/New_York")
    clinic.config.write_text(clinic.config.read_text().partition(SECOND.partition("{")[0])[0])
    with other_rules("America/New_York", "America/Panama", tmp_path / "zones"):
        execute(["doctor", *CALLS, "--json"])
        [practice] = json.loads(capsys.readouterr().out)["practices"]
        result = clinic.sync("phone_calls")

    [finding] = [one for one in practice["findings"] if one["check"] == "zone rules"]
    assert finding["state"] == "note"
    assert "from 2025-03-09 on DuckDB" in finding["evidence"]
    assert [note for note in result.notes if note.startswith("America/New_York: from 2025-03-09 on DuckDB")]


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
