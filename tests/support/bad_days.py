"""Failures of an operator's day, caused for real in a folder in which `vetl run` has succeeded."""

import os
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest
from support.processes import until

import sandbox
from pipelines import bundled
from pipelines.cli import app
from pipelines.jobs.act import plan_acts
from pipelines.loading.control.activity import Kind, read_activity
from pipelines.settings import load_settings

WAREHOUSE = Path("warehouse/data/vetl.duckdb")
PUBLISHED = Path("warehouse/data/analytics.duckdb")
FULL_AT = 1 << 14
"""Bytes to which a file may grow on a full disk."""


@dataclass(frozen=True)
class Site:
    """The working directory: settings, a warehouse, and a published file; the platform answers."""

    platform: sandbox.Handle
    patch: pytest.MonkeyPatch

    def vetl(self, *arguments: str) -> int:
        """Run a command in this process; return its exit code."""
        return app.execute([*arguments])

    def add(self, settings: str) -> None:
        """Append these lines to the settings."""
        with Path("vetl.toml").open("a", encoding="utf-8") as file:
            file.write(settings)


@contextmanager
def at_work(kind: Kind, *arguments: str) -> Generator[subprocess.Popen[bytes]]:
    """Run a command in a process of its own; stop it after it has begun its work."""
    process = subprocess.Popen(_command(*arguments), start_new_session=True)
    before = read_activity(WAREHOUSE, kind)
    try:
        until(f"{kind} began", lambda: (now := read_activity(WAREHOUSE, kind)) and _began(process, before != now))
        os.killpg(process.pid, signal.SIGSTOP)
        yield process
    finally:
        _end(process)


def _began(process: subprocess.Popen[bytes], has_changed: bool) -> bool:  # noqa: FBT001 - it is a predicate
    assert process.poll() is None, "it ended before anybody looked"
    return has_changed


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def killed(kind: Kind, *arguments: str) -> None:
    """Begin a command and kill its processes."""
    with at_work(kind, *arguments):
        pass


def on_a_full_disk(*arguments: str, full_at: int = FULL_AT) -> int:
    """Run a command whose files may not grow beyond `full_at` bytes; return its exit code."""

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (full_at, full_at))

    command = _command(*arguments)
    return subprocess.run(command, preexec_fn=limit, stdout=subprocess.DEVNULL, check=False).returncode


def _command(*arguments: str) -> list[str]:
    """Return the command that starts vetl with the dbt project of this process."""
    project = str(bundled.dbt_project())
    script = (
        "from pathlib import Path; from pipelines import bundled; from pipelines.cli.app import main;"
        f" bundled.dbt_project = lambda: Path({project!r}); main()"
    )
    return [sys.executable, "-c", script, *arguments]


def sync_killed(_site: Site) -> None:
    killed("sync", "sync")


def sync_terminated(_site: Site) -> None:
    with at_work("sync", "sync") as process:
        os.killpg(process.pid, signal.SIGTERM)
        os.killpg(process.pid, signal.SIGCONT)
        process.wait()


def password_refused(site: Site) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VETL_PARTNER__PASSWORD", "changed")
        assert site.vetl("sync") == 2


def disk_full_in_sync(site: Site) -> None:
    site.platform.advance(timedelta(days=3))
    assert on_a_full_disk("sync") == 1


def practice_refused(site: Site) -> None:
    site.add("[[practices]]\nid = 'loc-999'\nname = 'Elsewhere'\ntime_zone = 'UTC'\nhistory_start = 2025-01-01\n")
    assert site.vetl("sync") == 1


def practice_not_synced(site: Site) -> None:
    site.add("[[practices]]\nid = 'loc-999'\nname = 'New'\ntime_zone = 'UTC'\nhistory_start = 2025-01-01\n")


def lying_totals(site: Site) -> None:
    site.platform.set(staff_tasks={"told_total": 100_000})
    assert site.vetl("sync") == 3


def list_withdrawn(site: Site) -> None:
    site.platform.set(appointments_withdrawn=410)
    assert site.vetl("sync") == 0


def bad_row(site: Site) -> None:
    practice = site.platform.practices[0].id
    row = next(item for item in site.platform.truth(practice, "staff_tasks") if item["status"] == "pending")
    site.platform.update(practice, "staff_tasks", row["id"], {"cancellation_allowed": "perhaps"})
    assert site.vetl("sync") == 3


def bad_row_acknowledged(site: Site) -> None:
    bad_row(site)
    assert site.vetl("quarantine", "acknowledge", "--reason", "known to the platform") == 0
    assert site.vetl("status") == 0
    assert site.vetl("sync") == 0


def acknowledged_row_changed(site: Site) -> None:
    bad_row_acknowledged(site)
    practice = site.platform.practices[0].id
    [row] = [
        item for item in site.platform.truth(practice, "staff_tasks") if item["cancellation_allowed"] == "perhaps"
    ]
    site.platform.update(practice, "staff_tasks", row["id"], {"cancellation_allowed": "never"})
    assert site.vetl("sync") == 3


def build_failed(site: Site) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VETL_WAREHOUSE__MEMORY_LIMIT", "1MB")
        assert site.vetl("build") == 1


def build_killed(_site: Site) -> None:
    killed("build", "build")


def never_built(site: Site) -> None:
    shutil.rmtree("warehouse")
    assert site.vetl("sync") == 0


def disk_full_in_publication(_site: Site) -> None:
    WAREHOUSE.with_name("vetl.duckdb.published.json").unlink()  # so that the file is written whole
    assert on_a_full_disk("publish") == 1


def published_gone(_site: Site) -> None:
    PUBLISHED.unlink()


def published_random(_site: Site) -> None:
    PUBLISHED.write_bytes(os.urandom(200_000))


def rolled_back(site: Site) -> None:
    WAREHOUSE.with_name("vetl.duckdb.published.json").unlink()
    assert site.vetl("publish") == 0
    assert site.vetl("publish", "--rollback") == 0
    assert site.vetl("run") == 3


def released(site: Site) -> None:
    before = PUBLISHED.stat().st_ino
    rolled_back(site)
    assert site.vetl("publish", "--release") == 0
    assert PUBLISHED.stat().st_ino != before
    assert site.vetl("run") == 0


def no_cron(site: Site) -> None:
    """Simulate ten days without cron by a `max_age` of a sixth of a millisecond."""
    site.patch.setenv("VETL_SCHEDULE__MAX_AGE", "0.0000001d")


def cron_is_off(site: Site) -> None:
    site.patch.setenv("VETL_SCHEDULE__MAX_AGE", "off")


def warehouse_random(_site: Site) -> None:
    WAREHOUSE.write_bytes(os.urandom(WAREHOUSE.stat().st_size))


def warehouse_random_behind_its_first_bytes(_site: Site) -> None:
    content = WAREHOUSE.read_bytes()
    WAREHOUSE.write_bytes(content[:64] + os.urandom(len(content) - 64))


def warehouse_cut_off(_site: Site) -> None:
    WAREHOUSE.write_bytes(WAREHOUSE.read_bytes()[: WAREHOUSE.stat().st_size // 2])


def warehouse_gone(_site: Site) -> None:
    WAREHOUSE.unlink()


def everything_gone(_site: Site) -> None:
    shutil.rmtree("warehouse")


def inbox_random(_site: Site) -> None:
    Path("warehouse/data/inbox.sqlite").write_bytes(os.urandom(20_000))


def nothing(_site: Site) -> None:
    """Run `vetl run` successfully just now."""


def ledger_random(_: Site) -> None:
    Path("warehouse/data/acts.sqlite").write_bytes(os.urandom(8192))


def task_unknown(site: Site) -> None:
    """The clock of the platform is months behind that of this machine, so the request is old at once."""
    site.add("[act]\nenabled = true\npractices = ['loc-001']\nper_practice_per_day = 1\n")
    site.platform.faults.set([sandbox.Fault("status", path="POST */staff_tasks", in_a_row=None)])
    assert site.vetl("act", "apply", plan_acts(load_settings(), None).digest) == 3


DAYS: dict[str, tuple[Callable[[Site], None], int, str]] = {
    "the last run succeeded": (nothing, 0, "certified"),
    "a list was withdrawn by the platform": (list_withdrawn, 0, "2 withdrawn"),
    "rows in quarantine, all acknowledged": (bad_row_acknowledged, 0, "(1 acknowledged)"),
    "an acknowledged row came with another payload": (acknowledged_row_changed, 3, "1 row quarantined"),
    "a rollback was released": (released, 0, "certified"),
    "no run for longer than `max_age`": (no_cron, 1, "allowed by [schedule] max_age"),
    "no run for long, and `max_age` is off": (cron_is_off, 0, "certified"),
    "the last sync was killed": (sync_killed, 1, "was killed"),
    "the last sync was interrupted (Ctrl-C, SIGTERM)": (sync_terminated, 1, "was interrupted"),
    "the last sync could not sign in": (password_refused, 1, "it could not begin"),
    "the disk was full during the last sync": (disk_full_in_sync, 1, "the last sync failed"),
    "a list failed, or the platform refuses a practice": (practice_refused, 1, "failed"),
    "a practice in `vetl.toml` was never synced": (practice_not_synced, 3, "never synced: loc-999"),
    "a list is uncertified": (lying_totals, 3, "uncertified"),
    "rows in quarantine": (bad_row, 3, "1 row quarantined"),
    "the last build failed": (build_failed, 1, "the last build failed"),
    "the last build was killed": (build_killed, 1, "the last build"),
    "synced, but never built": (never_built, 3, "never built"),
    "the disk was full during the last publication": (disk_full_in_publication, 1, "the last publication failed"),
    "the published file is gone": (published_gone, 1, "published file is gone"),
    "the published file is no database": (published_random, 1, "the published file is no DuckDB database"),
    "the published file was rolled back": (rolled_back, 3, "rolled back at"),
    "the warehouse is gone": (warehouse_gone, 1, "cannot be read"),
    "the warehouse is random bytes": (warehouse_random, 1, "is no DuckDB database"),
    "the warehouse is random bytes behind its first ones": (
        warehouse_random_behind_its_first_bytes,
        1,
        "is cut off",
    ),
    "the warehouse is cut off": (warehouse_cut_off, 1, "is cut off"),
    "nothing was ever synced here": (everything_gone, 1, "nothing has been synced yet"),
    "the inbox of webhooks cannot be read": (inbox_random, 1, "inbox.sqlite"),
    "the ledger of acts cannot be read": (ledger_random, 1, "acts.sqlite: file is not a database"),
    "a staff task has been unknown for longer than a day": (task_unknown, 3, "whether 1 staff task was made"),
}
"""The bad days by name: a function that causes it, the exit code of `vetl status`, and words of its output."""
