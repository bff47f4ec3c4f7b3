"""Whatever the source and the machine do: at rest the warehouse equals the source, row by row, value by value.

Each seed is another story: rows change between any two requests, requests meet every fault, the syncing process
is killed at random moments. `VETL_CHAOS_SEEDS` says how many are told; a failing one is told again with
`pytest tests/chaos -k 'seed-17-'`.
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
from support.killed import sync_until_killed
from support.restless import Restless
from support.worlds import settings_for

import sandbox
from pipelines.errors import VetlError
from pipelines.sync_job import run_sync

SEEDS = int(os.environ.get("VETL_CHAOS_SEEDS", "20"))
DAYS = 6
PRACTICE = "loc-001"


@pytest.fixture(scope="module")
def platform() -> Iterator[sandbox.Handle]:
    with sandbox.running(practices=1, days=DAYS, calls=60, seed=11, frozen=True) as handle:
        yield handle


@pytest.mark.parametrize("seed", range(SEEDS), ids=lambda seed: f"seed-{seed}-")
def test_at_rest_the_warehouse_equals_the_source(platform: sandbox.Handle, tmp_path: Path, seed: int) -> None:
    platform.reset()
    rng = Random(seed)
    restless = Restless(platform, PRACTICE, seed, pace=rng.uniform(0.02, 0.3))
    platform.platform.faults = restless
    settings = settings_for(platform, tmp_path, DAYS)
    for _ in range(rng.randint(1, 2)):
        sync_until_killed(settings, tmp_path / "ended", rng.uniform(0.0, 1.2))
        platform.advance(timedelta(minutes=rng.randint(0, 600)))
    with suppress(VetlError):
        run_sync(settings, practices=None, endpoints=None, since=None, progress=lambda _: None)
    restless.asleep = True
    platform.advance(timedelta(days=1, minutes=2))

    result = run_sync(settings, practices=None, endpoints=None, since=None, progress=lambda _: None)

    since = settings.practices[0].history_start
    zones = {PRACTICE: settings.practices[0].time_zone}
    replay = f"replay with: VETL_CHAOS_SEEDS={seed + 1} pytest tests/chaos -k seed-{seed}-"
    assert truth.differences(platform, settings.warehouse.path, zones, since=since) == [], replay
    assert result.exit_code == 0, (replay, result)
    assert doubles(settings.warehouse.path) == [], replay


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
