"""Whatever the source and the machine do: at rest the warehouse equals the source, row by row, value by value.

Each seed is another story: rows change between any two requests, requests meet every fault, the platform restarts
and forgets its tokens, the syncing process is killed at random moments. In every second story the source also lies
and deletes without a trace; there the last word is a full reconcile, elsewhere a sync. `VETL_CHAOS_SEEDS` says how
many are told, or from which to which (`20-200`); a failing one prints the line that tells it again.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from random import Random

import duckdb
import pytest
from support import truth
from support.door import Door, door_before
from support.killed import sync_until_killed
from support.restless import Restless
from support.worlds import at, settings_for

import sandbox
from pipelines.errors import VetlError
from pipelines.partner import retrying
from pipelines.results import SyncResult
from pipelines.settings import Settings
from pipelines.strategies.reading import Reconcile
from pipelines.sync_job import run_sync

FIRST, _, LAST = os.environ.get("VETL_CHAOS_SEEDS", "20").rpartition("-")
SEEDS = range(int(FIRST or 0), int(LAST))
DAYS = 6
PRACTICE = "loc-001"


@pytest.fixture(scope="module")
def platform() -> Iterator[sandbox.Handle]:
    with sandbox.running(practices=1, days=DAYS, calls=60, seed=11, frozen=True) as handle:
        yield handle


@pytest.fixture(scope="module")
def door(platform: sandbox.Handle) -> Iterator[Door]:
    with door_before(platform.base_url) as door:
        yield door


@pytest.mark.parametrize("seed", SEEDS, ids=lambda seed: f"seed-{seed}-")
def test_at_rest_the_warehouse_equals_the_source(
    platform: sandbox.Handle, door: Door, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setattr(retrying, "FIRST_WAIT", 0.05)
    platform.reset()
    rng = Random(seed)
    traceless = bool(seed % 2)
    pace = rng.uniform(0.02, 0.3)
    restless = Restless(platform, PRACTICE, seed, pace=pace, traceless=traceless, restart=door.restart)
    platform.platform.faults = restless
    settings = at(settings_for(platform, tmp_path, DAYS), door.base_url)
    for _ in range(rng.randint(1, 2)):
        sync_until_killed(settings, tmp_path / "ended", rng.uniform(0.0, 1.2))
        platform.advance(timedelta(minutes=rng.randint(0, 600)))
    with suppress(VetlError):
        run(settings)
    restless.asleep = True
    door.open()
    platform.advance(timedelta(days=1, minutes=2))

    result = run(settings, reconcile="full" if traceless else "no")

    since = settings.practices[0].history_start
    zones = {PRACTICE: settings.practices[0].time_zone}
    replay = f"replay with: VETL_CHAOS_SEEDS={seed}-{seed + 1} pytest tests/chaos"
    assert truth.differences(platform, settings.warehouse.path, zones, since=since) == [], replay
    assert result.exit_code == 0, (replay, result)
    assert doubles(settings.warehouse.path) == [], replay


def run(settings: Settings, reconcile: Reconcile = "no") -> SyncResult:
    return run_sync(
        settings, practices=None, endpoints=None, since=None, progress=lambda _: None, reconcile=reconcile
    )


def doubles(warehouse: Path) -> list[str]:
    """Raw tables in which a key stands twice."""
    keys = {**dict.fromkeys(truth.LISTS.values(), "practice_id, id"), "phone_calls": "practice_id, call_key"}
    with duckdb.connect(str(warehouse), read_only=True) as connection:
        return [
            table
            for table, key in keys.items()
            if connection.execute(
                f"select 1 from raw.{table} group by {key} having count(*) > 1 limit 1"
            ).fetchall()
        ]
