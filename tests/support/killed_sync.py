"""A sync in a process of its own, which the test kills in the middle."""

import time
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path

from support.forked import start
from support.processes import PATIENCE
from vetl.jobs.sync import run_sync
from vetl.partner import client
from vetl.partner.limits import Timing
from vetl.settings import Settings


def sync_and_exit(settings: Settings, ended: Path, endpoints: Sequence[str] | None, now: datetime | None) -> None:
    """Run a sync. The exit code is written into a file, because a killed process leaves none."""
    if now is not None:
        client.Timing = partial(Timing, now=lambda: now)
    result = run_sync(settings, practices=None, endpoints=endpoints, since=None, progress=lambda _: None)
    ended.write_text(str(result.exit_code), "utf-8")


def sync_until_killed(
    settings: Settings,
    ended: Path,
    seconds: float,
    *,
    after: Callable[[], bool] | None = None,
    endpoints: Sequence[str] | None = None,
    now: datetime | None = None,
) -> bool:
    """Start a sync and kill it (SIGKILL) this long after `after` holds, by default after the warehouse exists.

    `now` is the machine's clock in the process. Return whether the sync was still running.
    """
    ended.unlink(missing_ok=True)
    process = start(sync_and_exit, settings, ended, endpoints, now)
    deadline = time.monotonic() + PATIENCE
    sign = after or settings.warehouse.path.exists
    while process.is_alive() and not sign() and time.monotonic() < deadline:
        process.join(0.01)
    process.join(seconds)
    process.kill()
    process.join()
    return not ended.exists()
