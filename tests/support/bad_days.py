"""Failures of an operator's day, caused for real in a folder in which `vetl run` has succeeded."""

import os
import shutil
import signal
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Literal

import pytest
import vetl_sandbox
from support.concurrent_commands import started
from support.practice_site import practice_table
from support.processes import until
from vetl import bundled
from vetl.addons.act.job import plan_acts
from vetl.cli import app
from vetl.settings import load_settings
from vetl.store.notes import write_note
from vetl.store.writer_lock import read_activity

WAREHOUSE = Path("warehouse/data/vetl.duckdb")
PUBLISHED = Path("warehouse/data/analytics.duckdb")
FULL_AT = 1 << 14
"""Bytes to which a file may grow on a full disk."""


@dataclass(frozen=True)
class Site:
    """The working directory: settings, a warehouse, and a published file; the platform answers."""

    platform: vetl_sandbox.Handle
    patch: pytest.MonkeyPatch

    def vetl(self, *arguments: str) -> int:
        """Run a command in this process; return its exit code."""
        return app.execute([*arguments])

    def add(self, settings: str) -> None:
        with Path("vetl.toml").open("a", encoding="utf-8") as file:
            file.write(settings)


@contextmanager
def at_work(kind: Literal["sync", "build"]) -> Generator[BaseProcess]:
    """Run a command; stop its process after it has begun its work, and kill it in the end."""
    before = read_activity(WAREHOUSE, kind)
    process = _started(kind)
    assert process.pid

    def has_begun() -> bool:
        assert process.is_alive(), "it ended before anybody looked"
        return read_activity(WAREHOUSE, kind) not in (None, before)

    try:
        until(f"{kind} began", has_begun)
        os.killpg(process.pid, signal.SIGSTOP)
        yield process
    finally:
        if process.is_alive():
            os.killpg(process.pid, signal.SIGKILL)
        process.join()


def on_a_full_disk(*arguments: str, full_at: int = FULL_AT) -> list[str]:
    """Return the lines of a command whose files may not grow beyond `full_at` bytes; it ends with 1."""
    process = _started(*arguments, full_at=full_at)
    process.join()
    assert process.exitcode == 1
    return SAID.read_text("utf-8").splitlines()


SAID = Path("said")


def _started(*arguments: str, full_at: int | None = None) -> BaseProcess:
    return started(arguments, SAID, Path.cwd(), dict(os.environ), bundled.dbt_project(), full_at=full_at)


Event = Callable[[Site], object]
ELSEWHERE = practice_table("loc-999")


def unrecorded(_site: Site) -> None:
    """Remove the record of the last publication, so that the published file is written whole."""
    write_note(WAREHOUSE, "publication", None)


def ends(code: int, *arguments: str, **environment: str) -> Event:
    """Return the event that a command ends with this exit code."""

    def happen(site: Site) -> None:
        with pytest.MonkeyPatch.context() as patch:
            for name, value in environment.items():
                patch.setenv(f"VETL_{name}", value)
            assert site.vetl(*arguments) == code

    return happen


def after(*events: Event) -> Event:
    return lambda site: [event(site) for event in events]


def switched(**switches: Any) -> Event:
    return lambda site: site.platform.set(**switches)


def killed(kind: Literal["sync", "build"]) -> Event:
    def happen(_: Site) -> None:
        with at_work(kind):
            pass

    return happen


def disk_full(command: str) -> Event:
    return lambda _: on_a_full_disk(command)


def sync_terminated(_site: Site) -> None:
    with at_work("sync") as process:
        for number in (signal.SIGTERM, signal.SIGCONT):
            os.killpg(process.pid or 0, number)
        process.join()


def task_says(value: str) -> Event:
    """Return the event that a pending task on the platform has a value that does not fit its model."""

    def happen(site: Site) -> None:
        practice = site.platform.practices[0].id
        row = next(one for one in site.platform.truth(practice, "staff_tasks") if one["status"] == "pending")
        site.platform.update(practice, "staff_tasks", row["id"], {"cancellation_allowed": value})

    return happen


def destroyed(name: str, size: int) -> Event:
    """Return the event that a file beside the warehouse has random bytes."""
    return lambda _: WAREHOUSE.with_name(name).write_bytes(os.urandom(size))


def max_age(value: str) -> Event:
    return lambda site: site.patch.setenv("VETL_SCHEDULE__MAX_AGE", value)


def released(site: Site) -> None:
    before = PUBLISHED.stat().st_ino
    rolled_back(site)
    assert site.vetl("publish", "--release") == 0
    assert PUBLISHED.stat().st_ino != before
    assert site.vetl("run") == 0


def warehouse_becomes(change: Callable[[bytes], bytes]) -> Event:
    return lambda _: WAREHOUSE.write_bytes(change(WAREHOUSE.read_bytes()))


def task_unknown(site: Site) -> None:
    """The clock of the platform is months behind that of this machine, so the request is old at once."""
    site.add("[act]\nenabled = true\npractices = ['loc-001']\nper_practice_per_day = 1\n")
    site.platform.faults.set([vetl_sandbox.Fault("status", path="POST */staff_tasks", in_a_row=None)])
    assert site.vetl("act", "apply", plan_acts(load_settings(), None).digest) == 3


def forget(site: Site) -> Sequence[str]:
    """Return the command that forgets a client of a staff task."""
    tasks = site.platform.truth("loc-001", "staff_tasks")
    client = next(task["client_id"] for task in tasks if task["client_id"])
    return ("forget", "--practice", "loc-001", "--client", client, "--yes")


def disk_full_at_forgetting(site: Site) -> None:
    """There is no room for a copy of the private file without the person."""
    on_a_full_disk(*forget(site), full_at=WAREHOUSE.stat().st_size // 2)


def copied_before_forgetting(site: Site) -> None:
    """Somebody copied the private file beside it; the copy still has the person."""
    shutil.copy(WAREHOUSE, WAREHOUSE.with_name(f"{WAREHOUSE.name}.bak"))
    assert site.vetl(*forget(site)) == 1


def restore_stopped(site: Site) -> None:
    """A restore ends after the first file that it replaces: there is a folder in the place of another one."""
    assert site.vetl("backup", "saved") == 0
    PUBLISHED.unlink()
    PUBLISHED.mkdir()
    assert site.vetl("restore", "saved") == 1
    PUBLISHED.rmdir()


bad_row = after(task_says("perhaps"), ends(3, "sync"))
acknowledged = after(bad_row, ends(0, "quarantine", "acknowledge", "--reason", "known"), ends(0, "sync"))
build_failed = ends(1, "build", WAREHOUSE__MEMORY_LIMIT="1MB")
rolled_back = after(unrecorded, ends(0, "publish"), ends(0, "publish", "--rollback"), ends(3, "run"))
withdrawn = after(switched(appointments_withdrawn=410), ends(0, "sync"))
another_payload = after(acknowledged, task_says("never"), ends(3, "sync"))
full_at_sync = after(lambda site: site.platform.advance(timedelta(days=3)), disk_full("sync"))
full_at_publication = after(unrecorded, disk_full("publish"))
refused = after(lambda site: site.add(ELSEWHERE), ends(1, "sync"))
uncertified = after(switched(staff_tasks={"told_total": 100_000}), ends(3, "sync"))
behind_the_head = warehouse_becomes(lambda content: content[:64] + os.urandom(len(content) - 64))
no_database, no_ledger = destroyed(PUBLISHED.name, 200_000), destroyed("acts.sqlite", 8192)
cut_off = warehouse_becomes(lambda content: content[: len(content) // 2])

DAYS: dict[str, tuple[Event, int, str]] = {
    "the last run succeeded": (after(), 0, "certified"),
    "a list was withdrawn by the platform": (withdrawn, 0, "1 withdrawn"),
    "rows in quarantine, all acknowledged": (acknowledged, 0, "(1 acknowledged)"),
    "an acknowledged row came with another payload": (another_payload, 3, "1 row quarantined"),
    "a rollback was released": (released, 0, "certified"),
    "no run for longer than `max_age`": (max_age("0.0000001d"), 1, "allowed by [schedule] max_age"),
    "no run for long, and `max_age` is off": (max_age("off"), 0, "certified"),
    "the last sync was killed": (killed("sync"), 1, "was killed"),
    "the last sync was interrupted (Ctrl-C, SIGTERM)": (sync_terminated, 1, "was interrupted"),
    "the last sync could not sign in": (ends(2, "sync", PARTNER__PASSWORD="changed"), 1, "the last sync failed"),
    "the disk was full during the last sync": (full_at_sync, 1, "the last sync failed"),
    "a list failed, or the platform refuses a practice": (refused, 1, "failed"),
    "a practice in `vetl.toml` was never synced": (lambda site: site.add(ELSEWHERE), 3, "never synced: loc-999"),
    "a list is uncertified": (uncertified, 3, "uncertified"),
    "rows in quarantine": (bad_row, 3, "1 row quarantined"),
    "the last build failed": (build_failed, 1, "the last build failed"),
    "the last build was killed": (killed("build"), 1, "the last build"),
    "synced, but never built": (after(lambda _: shutil.rmtree("warehouse"), ends(0, "sync")), 3, "never built"),
    "the disk was full during the last publication": (full_at_publication, 1, "the last publication failed"),
    "the published file is gone": (lambda _: PUBLISHED.unlink(), 1, "published file is gone"),
    "the published file is no database": (no_database, 1, "the published file is no DuckDB database"),
    "the published file was rolled back": (rolled_back, 3, "rolled back at"),
    "the warehouse is gone": (lambda _: WAREHOUSE.unlink(), 1, "cannot be read"),
    "the warehouse is random bytes": (destroyed(WAREHOUSE.name, 1_000_000), 1, "is no DuckDB database"),
    "the warehouse is random bytes behind its first ones": (behind_the_head, 1, "is cut off"),
    "the warehouse is cut off": (cut_off, 1, "is cut off"),
    "a forgetting is not complete": (disk_full_at_forgetting, 1, "not complete since"),
    "a copy by hand has a forgotten person": (copied_before_forgetting, 1, "vetl.duckdb.bak (a copy that is not"),
    "a restore did not end": (restore_stopped, 1, "`vetl restore` did not end"),
    "nothing was ever synced here": (lambda _: shutil.rmtree("warehouse"), 1, "nothing has been synced yet"),
    "the first sync failed": (
        after(lambda _: shutil.rmtree("warehouse"), ends(2, "sync", PARTNER__PASSWORD="changed")),
        1,
        "nothing has been synced yet: the last sync failed",
    ),
    "the inbox of webhooks cannot be read": (destroyed("inbox.sqlite", 20_000), 1, "inbox.sqlite"),
    "the ledger of acts cannot be read": (no_ledger, 1, "acts.sqlite: file is not a database"),
    "a staff task has been unknown for longer than a day": (task_unknown, 3, "whether 1 staff task was made"),
}
"""The bad days by name: what causes it, the exit code of `vetl status`, and words of its output."""
