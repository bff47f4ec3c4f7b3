"""The failures in docs/exit-codes.md: each is caused for real, and `vetl status` ends with its exit code."""

import json
import os
import re
import shutil
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Literal

import pytest
import vetl_sandbox
from support.bad_days import DAYS, FULL_AT, PUBLISHED, WAREHOUSE, Site, at_work, on_a_full_disk
from support.mart_builds import untested
from support.practice_site import write_settings
from support.sandbox_settings import enter
from support.small_project import few_models
from vetl.cli import app
from vetl.store.notes import write_note

ROOT = Path(__file__).parents[2]
HISTORY_DAYS = 5


@pytest.fixture(scope="module")
def platform() -> Iterator[vetl_sandbox.Handle]:
    with vetl_sandbox.running(practices=1, days=HISTORY_DAYS, calls=120, frozen=True) as handle:
        yield handle


@pytest.fixture(scope="module", autouse=True)
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Build few of the models: those of the contacts, of the acts and of a file for a group."""
    models = (
        "clients",
        "booking_request_contacts",
        "booking_requests",
        "call_back_list",
        "phone_calls",
        "staff_tasks",
    )
    with few_models(tmp_path_factory.mktemp("few-models"), *models):
        yield


@pytest.fixture(scope="module")
def after_a_run(platform: vetl_sandbox.Handle, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Provide a folder in which `vetl run` has succeeded."""
    folder = tmp_path_factory.mktemp("vetl")
    write_settings(folder, platform, practices=1, days=HISTORY_DAYS)
    with untested(), pytest.MonkeyPatch.context() as patch:
        enter(folder, platform, patch)
        assert app.execute(["run", "--quiet"]) == 0
    return folder


@pytest.fixture
def site(
    after_a_run: Path, platform: vetl_sandbox.Handle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Site]:
    folder = shutil.copytree(after_a_run, tmp_path / "site")
    enter(folder, platform, monkeypatch)
    monkeypatch.setenv("TZ", "UTC")
    with untested():
        yield Site(platform, monkeypatch)
    platform.reset()


def status(capfd: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """Return the exit code and the whole output; `--json` must have the same code."""
    capfd.readouterr()
    code = app.execute(["status"])
    output = capfd.readouterr()
    assert app.execute(["status", "--json"]) == code
    assert json.loads(capfd.readouterr().out)["exit_code"] == code
    return code, output.out + output.err


@pytest.mark.parametrize("day", DAYS)
def test_status_and_its_code_show_the_failure(day: str, site: Site, capfd: pytest.CaptureFixture[str]) -> None:
    happen, expected, words = DAYS[day]
    happen(site)

    code, output = status(capfd)

    assert (code, words in output) == (expected, True), output


def test_the_documented_table_lists_exactly_the_tested_days() -> None:
    page = (ROOT / "docs" / "exit-codes.md").read_text("utf-8")
    rows = re.findall(r"^\| (.+?) \| ([013]) \|$", page, re.MULTILINE)

    assert [(day, int(code)) for day, code in rows] == [(day, code) for day, (_, code, _) in DAYS.items()]


@pytest.mark.parametrize("command", ["sync", "build"])
def test_a_command_at_work_is_no_failure(
    command: Literal["sync", "build"], site: Site, capfd: pytest.CaptureFixture[str]
) -> None:
    assert site.platform
    with at_work(command):
        code, output = status(capfd)

    assert code == 0, output
    assert f"a {command} began just now and runs" in output


def test_a_failed_build_says_that_nothing_is_published_and_names_its_log(
    site: Site, capfd: pytest.CaptureFixture[str]
) -> None:
    DAYS["the last build failed"][0](site)

    last_line = capfd.readouterr().err.splitlines()[-1]
    assert "not published; warehouse/data/analytics.duckdb stays as it was; log at " in last_line
    assert Path(last_line.rpartition("log at ")[2]).is_file()


def test_the_next_run_ends_the_failures_and_a_forgetting_that_a_full_disk_ended(
    site: Site, capfd: pytest.CaptureFixture[str]
) -> None:
    for day in ("the last sync was killed", "the last build failed", "a forgetting is not complete"):
        DAYS[day][0](site)
    assert status(capfd)[0] == 1

    assert site.vetl("run") == 0

    assert status(capfd)[0] == 0


EVERY_FILE = "[warehouse]\ncontacts = true\nparquet = true\n"


def contents(folder: Path) -> dict[Path, bytes]:
    """Return the published files and those of the lake, with all drafts."""
    kept = ("vetl.duckdb", "inbox.sqlite", "watch.sqlite")
    files = (path for path in folder.rglob("*") if path.is_file() and not path.parts[2].startswith(kept))
    return {path: path.read_bytes() for path in files}


def line_on_a_full_disk(*command: str, full_at: int = 4_096) -> str:
    """Return the only line of a command that finds no room; it names the remedy."""
    [line] = on_a_full_disk(*command, full_at=full_at)
    assert line.endswith("; make room and run it again")
    return line


def test_a_publication_on_a_full_disk_changes_nothing_and_the_next_one_succeeds(
    site: Site, capfd: pytest.CaptureFixture[str]
) -> None:
    """The disk is full at the first bytes of the file, and at its last ones."""
    site.add(EVERY_FILE)
    assert site.vetl("publish") == 0
    before = contents(WAREHOUSE.parent)
    write_note(WAREHOUSE, "publication", None)  # so that the file is written again

    for share in (0, 0.95):
        line = line_on_a_full_disk("publish", full_at=max(FULL_AT, int(PUBLISHED.stat().st_size * share)))

        assert line.startswith(f"vetl: {PUBLISHED.resolve()}: cannot be published: ")
        assert contents(WAREHOUSE.parent) == before

    assert line.removeprefix("vetl: ") in status(capfd)[1]
    assert site.vetl("publish") == 0
    assert status(capfd)[0] == 0
    assert site.vetl("verify", str(PUBLISHED)) == 0


def test_a_run_on_a_full_disk_ends_with_one_line(site: Site, capfd: pytest.CaptureFixture[str]) -> None:
    site.platform.advance(timedelta(days=3))

    [line] = [line for line in on_a_full_disk("run") if line.startswith("vetl: ")]
    assert line.startswith(f"vetl: {WAREHOUSE.resolve()}")
    assert "; make room and run it again" in line
    assert status(capfd)[0] == 1
    assert site.vetl("run") == 0
    assert status(capfd)[0] == 0


@pytest.mark.parametrize("name", ["contacts.duckdb", "analytics.parquet"])
def test_a_file_beside_the_published_one_stays_on_a_full_disk(
    name: str, site: Site, capfd: pytest.CaptureFixture[str]
) -> None:
    site.add(EVERY_FILE)
    assert site.vetl("publish") == 0
    if name == "contacts.duckdb":
        os.utime(PUBLISHED.with_name(name), (0, 0))  # so that it is older than the published file
    else:
        (PUBLISHED.with_name(name) / "manifest.json").unlink()
    before = contents(WAREHOUSE.parent)

    line = line_on_a_full_disk("publish")

    assert line.startswith(f"vetl: {PUBLISHED.with_name(name).resolve()}: cannot be written: ")
    assert contents(WAREHOUSE.parent) == before
    assert status(capfd)[0] == 1
    assert site.vetl("publish") == 0
    assert status(capfd)[0] == 0


def test_a_file_of_a_group_leaves_no_part_on_a_full_disk(site: Site) -> None:
    command, place = ("publish", "--for", "East"), Path("warehouse/data/analytics.east.duckdb")
    site.add(f"group = 'East'\n{EVERY_FILE}")

    assert str(place) in line_on_a_full_disk(*command)
    assert not place.exists()
    assert [*place.parent.glob(".*drafts*")] == []
    assert site.vetl(*command) == 0
