"""The changes of `--write` to a vetl.toml in any form: the wrong values change, and nothing else."""

import tomllib
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pipelines.core.errors import ConfigurationError
from pipelines.discovery.report import Correction, Examined, Finding, Report
from pipelines.jobs.doctor_settings import mend

NEW_YORK, CHICAGO = "America/New_York", "America/Chicago"
PRACTICE = f'[[practices]]\nid = "loc-001"\ntime_zone = "{CHICAGO}"  # as told\n'
HAS_THE_NAME = {
    "tables": f'[partner]\n\n[partner.parameters.staff_tasks]\n# ours\nstatus = "wrong" # ?\n\n{PRACTICE}',
    "dotted keys": f'partner.parameters.staff_tasks.status="wrong" # ?\n{PRACTICE}',
    "inline tables": f'[partner]\nparameters = {{ staff_tasks = {{ page = "p", status = "wrong" }} }}\n{PRACTICE}',
    "inline practices": f'practices = [{{id="loc-001", time_zone="{CHICAGO}"}}] # all\n'
    '[partner.parameters.staff_tasks]\nstatus="wrong"\n',
    "other line ends": f'[partner.parameters.staff_tasks]\r\nstatus = "wrong"\r\n{PRACTICE}'.replace(
        "\n", "\r\n"
    ).replace("\r\r", "\r"),
}
LACKS_IT = {
    "no partner": PRACTICE,
    "practices first": f'{PRACTICE}\n[partner.parameters.appointments]\nstart = "from"\n',
}


def report(practice: str = "loc-001") -> Report:
    findings = (
        Finding("staff_tasks", "status", "contradicts", "state", "e", "r", Correction("status", "state")),
        Finding("phone_calls", "time zone", "contradicts", NEW_YORK, "e", "r", Correction("time_zone", NEW_YORK)),
    )
    return Report(datetime(2026, 11, 21, tzinfo=UTC), (Examined(practice, findings, 2),), 2, 0)


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return tmp_path / "vetl.toml"


@pytest.mark.parametrize("written", HAS_THE_NAME)
def test_only_the_wrong_values_change(config: Path, written: str) -> None:
    before = HAS_THE_NAME[written].encode()
    config.write_bytes(before)

    mend(config, report())

    assert config.read_bytes() == before.replace(b"wrong", b"state").replace(CHICAGO.encode(), NEW_YORK.encode())


@pytest.mark.parametrize("written", LACKS_IT)
def test_a_name_that_was_not_there_comes_into_a_table_of_its_own(config: Path, written: str) -> None:
    config.write_text(LACKS_IT[written])

    mend(config, report())

    text = config.read_text()
    assert tomllib.loads(text)["partner"]["parameters"]["staff_tasks"] == {"status": "state"}
    assert text.startswith(PRACTICE.replace(CHICAGO, NEW_YORK))


def test_a_practice_that_is_not_in_the_file_is_named_and_the_file_stays(config: Path) -> None:
    config.write_text(PRACTICE)

    with pytest.raises(ConfigurationError, match="practice loc-002 is not in this file"):
        mend(config, report("loc-002"))

    assert config.read_text() == PRACTICE
