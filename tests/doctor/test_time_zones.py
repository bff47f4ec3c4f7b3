"""The configured time zone against calls of a whole year, from the check to the file and to the sync after it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import vetl_sandbox
from support.platform_and_settings import TOML, Clinic
from support.zones import other_rules
from vetl.cli.app import execute

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
    """The platform and vetl have newer rules for New York than DuckDB, by which the marts convert."""
    configure(clinic, "America/New_York")
    clinic.config.write_text(clinic.config.read_text().partition(SECOND.partition("{")[0])[0])
    with other_rules("America/New_York", "America/Panama", tmp_path / "zones"):
        assert execute(["doctor", *CALLS]) == 3
        doctors = capsys.readouterr().err
        result = clinic.sync("phone_calls")

    assert "from 2025-03-09 on DuckDB" in doctors
    assert result.exit_code == 3
    [doubt] = result.doubts
    assert doubt.startswith("America/New_York: from 2025-03-09 on DuckDB")
