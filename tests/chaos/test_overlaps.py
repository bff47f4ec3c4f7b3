"""Commands that write at the same time, and are killed: the next plain `vetl run` repairs everything.

Each seed is another story: two or three of all writing commands begin at random moments on one warehouse, some of
them are killed (SIGKILL), and some do not wait for each other. Afterwards `vetl run` exits with 0, the raw rows
are those of the platform, the marts equal a single undisturbed run and a build in full, and no file is left over.
In every third story one of the commands is `vetl forget`, which `vetl run` continues if it was killed.
The stories have a dbt project with few of the models (`support.small_project`), so that a story takes seconds;
`tests/transform/test_incremental.py` kills builds of them all. `VETL_CHAOS_SEEDS` is the number of
stories, or a range of seeds (`20-200`).
"""

import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from random import Random

import pytest
import vetl_sandbox
from support import forgetting, truth
from support.concurrent_commands import KILLED, Command, Ended, overlap
from support.dbt_build import BOOKING_STAGES
from support.deliveries import body_of, reminder
from support.examples import seeds
from support.lists import PAGED, TABLES
from support.mart_builds import built_in_full, differences
from support.practice_site import practice_table
from support.sandbox_settings import credentials
from support.small_project import small_project
from support.warehouse_with_rows import ask
from vetl.partner.webhooks import Channel
from vetl.receiving.inbox import Entry, Inbox

DAYS = 4
WEBHOOKS = 20
END = timedelta(days=2, hours=3)
"""The clock at the end of each story, the same for all, so that all have the same marts."""
COMMANDS = (
    *("run", "run", "sync", "build", "build --full-refresh", "publish", "reconcile"),
    *("webhooks drain", "lake export", "quarantine retry"),
)
"""All commands that write, besides `forget`."""
LEFT = {
    *("vetl.toml", "analytics.duckdb", "inbox.sqlite", "lake", "watch.sqlite"),
    *("vetl.duckdb", "vetl.duckdb.lock", "vetl.duckdb.dbt"),
    "vetl.duckdb.wal",  # dbt may end without a checkpoint (1 of 100 stories); the next writer reads it
    "vetl.duckdb.notes.sqlite",
}
"""The files at rest, besides earlier published files."""

OF_RUNS = {"meta.proof", "meta.report_revisions", "intermediate.int_lists_certified"}
"""Marts that also depend on the time of a read or of a build."""


@pytest.fixture(scope="module")
def platform() -> Iterator[vetl_sandbox.Handle]:
    with vetl_sandbox.running(practices=1, days=DAYS, calls=30, seed=11, frozen=True) as handle:
        yield handle


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a dbt project with two marts and the tables that take in changes."""
    return small_project(tmp_path_factory.mktemp("few-models"), "phone_calls", "staff_tasks")


@pytest.fixture(scope="module")
def synced_folder(platform: vetl_sandbox.Handle, project: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder in which every command ran once, with half of the history."""
    folder = tmp_path_factory.mktemp("before")
    (practice,), half = platform.practices, first_day(platform) + timedelta(days=DAYS // 2)
    (folder / "vetl.toml").write_text(
        f'[partner]\nbase_url = "{platform.base_url}"\n'
        '[warehouse]\npath = "vetl.duckdb"\npublished = "analytics.duckdb"\n'
        '[webhooks]\ninbox = "inbox.sqlite"\n[lake]\npath = "lake"\n'
        '[watch]\nledger = "watch.sqlite"\n'
        f"[definitions]\nbooking_stages = {json.dumps(BOOKING_STAGES)}\n"
        + practice_table(practice.id, time_zone=practice.time_zone, start=half),
        "utf-8",
    )
    for command in ("run", "webhooks drain", "lake export"):
        run_alone(command, folder, platform, project)
    return folder


@pytest.fixture(scope="module")
def person(platform: vetl_sandbox.Handle, synced_folder: Path) -> dict[str, str]:
    """Return a client whom the warehouse knows before a story begins."""
    known = {identity for (identity,) in ask(synced_folder / "vetl.duckdb", "select id from raw.clients")}
    drawn = (forgetting.client_to_forget(platform, Random(seed)) for seed in range(1000))
    return next(client for client in drawn if client["id"] in known)


@pytest.fixture(scope="module")
def true_marts(
    platform: vetl_sandbox.Handle, project: Path, synced_folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Return the warehouse after a story without disturbance; its marts are built in full."""
    folder = tmp_path_factory.mktemp("true") / "practice"
    platform.reset()
    make_folder(platform, synced_folder, folder)
    platform.advance(END)
    run_alone("run", folder, platform, project)
    platform.reset()
    return built_in_full(folder / "vetl.duckdb", project)


@pytest.mark.parametrize("seed", seeds(2), ids=lambda seed: f"seed-{seed}-")
def test_after_commands_at_the_same_time_a_plain_run_finds_all_as_it_should_be(
    platform: vetl_sandbox.Handle,
    project: Path,
    synced_folder: Path,
    person: dict[str, str],
    request: pytest.FixtureRequest,
    tmp_path: Path,
    seed: int,
) -> None:
    rng = Random(seed)
    folder = tmp_path / "practice"
    platform.reset()
    make_folder(platform, synced_folder, folder)
    since = first_day(platform)
    moment = rng.uniform(0, 0.9) * END
    platform.advance(moment)
    commands = [draw_command(rng) for _ in range(rng.randint(2, 3))]
    (practice,) = platform.practices
    if seed % 3 == 0:
        forget = ("forget", "--practice", practice.id, "--client", person["id"], "--yes")
        commands[-1] = replace(commands[-1], arguments=forget)
    replay = f"replay with: VETL_CHAOS_SEEDS={seed}-{seed + 1} pytest tests/chaos; drawn: {commands}"

    for ended in overlap(commands, folder, credentials(platform), project):
        if not is_allowed_end(ended):
            pytest.fail(f"{replay}\n{ended.command} ended with {ended.exit_code}:\n{ended.said}")
    platform.advance(END - moment)
    run_alone("run", folder, platform, project)

    there = {path.name for path in folder.iterdir()}
    assert {name for name in there if not name.startswith(("analytics.", "said."))} <= LEFT, replay
    warehouse = folder / "vetl.duckdb"
    if was_forgotten(warehouse):
        assert forgetting.remains_of(folder, person) == [], replay
        assert rows_of_lists(warehouse) == {name: len(platform.truth(practice.id, name)) for name in PAGED}, replay
        assert differences(warehouse, built_in_full(warehouse, project)).keys() <= OF_RUNS, replay
    else:
        assert truth.differences(platform, warehouse, {practice.id: practice.time_zone}, since=since) == [], replay
        true_marts: Path = request.getfixturevalue("true_marts")  # a story with a forgetting does without them
        assert differences(warehouse, true_marts).keys() <= OF_RUNS, replay


def was_forgotten(warehouse: Path) -> bool:
    """Return whether a client was forgotten; a forgetting that was killed at its start has changed nothing."""
    return bool(ask(warehouse, "from control.forgotten"))


def rows_of_lists(warehouse: Path) -> dict[str, int]:
    count = "select count(*) from raw.{} where _deleted_at is null"
    return {name: ask(warehouse, count.format(TABLES[name]))[0][0] for name in PAGED}


def make_folder(platform: vetl_sandbox.Handle, synced_folder: Path, folder: Path) -> None:
    """Make the folder of a story: half of the history is still to be read, and webhooks are waiting."""
    shutil.copytree(synced_folder, folder)
    config = folder / "vetl.toml"
    text = config.read_text("utf-8")
    config.write_text(re.sub("history_start = .*", f"history_start = {first_day(platform)}", text), "utf-8")
    received = platform.now()
    with Inbox.open(folder / "inbox.sqlite") as inbox:
        bodies = [body_of(reminder(f"g-{number}")) for number in range(WEBHOOKS)]
        inbox.keep([Entry(Channel.SERVICE_REMINDERS, "loc-001", body, received) for body in bodies])


def first_day(platform: vetl_sandbox.Handle) -> date:
    return platform.now().date() - timedelta(days=DAYS + 1)


def run_alone(command: str, folder: Path, platform: vetl_sandbox.Handle, project: Path) -> None:
    """Run a command alone; it must exit with 0."""
    (ended,) = overlap([Command(tuple(command.split()))], folder, credentials(platform), project)
    assert ended.exit_code == 0, ended


def draw_command(rng: Random) -> Command:
    """Draw a command that begins in the first second; one of three is killed, one of four does not wait."""
    starts = rng.choice((0.0, rng.uniform(0, 1)))
    return Command(
        tuple(rng.choice(COMMANDS).split()),
        starts,
        killed=starts + rng.uniform(0, 4) if rng.random() < 1 / 3 else None,
        patience=rng.choice((0, 600, 600, 600)),
    )


def is_allowed_end(ended: Ended) -> bool:
    """Assert that a command succeeded, was killed on purpose, or named the process that held the lock."""
    if ended.exit_code == KILLED:
        return ended.command.killed is not None
    if ended.exit_code == 1 and ended.command.patience == 0:
        return "another vetl (PID " in ended.said.splitlines()[-1]
    return ended.exit_code == 0
