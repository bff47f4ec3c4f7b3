"""For any behaviour of source and machine, no certificate is false, and at rest the warehouse equals the source.

Each seed is another story: its server is one of all that the contract allows (`support.servers`), rows change
between any two requests, requests meet every fault, the platform restarts and forgets its tokens, and the syncing
process is killed at random moments. After every sync, killed or not, each certificate is compared with the
source's rows. In every second story the source also sends wrong values and deletes without a trace; these stories
end with a full reconcile, the others with a sync. `VETL_CHAOS_SEEDS` is the number of stories, or a range of seeds
(`20-200`). A failing story prints the line that repeats it, and the special points of its server.
"""

from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from pathlib import Path
from random import Random

import pytest
import vetl_sandbox
from support import servers, truth
from support.claim_checker import Witness
from support.examples import seeds
from support.killed_sync import sync_until_killed
from support.moving_platform import Restless, tie
from support.sandbox_settings import at, settings_for, synced
from support.servers import Server
from support.tcp_proxy import Door, door_before
from support.warehouse_with_rows import ask
from vetl.core.errors import ConfigurationError, VetlError
from vetl.core.list_read import Reconcile, SyncResult
from vetl.partner import client
from vetl.partner.limits import Timing
from vetl.settings import Settings

DAYS = 6
PRACTICE = "loc-001"


@pytest.fixture(scope="module")
def platform() -> Iterator[vetl_sandbox.Handle]:
    with vetl_sandbox.running(practices=1, days=DAYS, calls=60, seed=11, frozen=True) as handle:
        yield handle


@pytest.fixture(scope="module")
def door(platform: vetl_sandbox.Handle) -> Iterator[Door]:
    with door_before(platform.base_url) as door:
        yield door


@pytest.mark.parametrize("seed", seeds(4), ids=lambda seed: f"seed-{seed}-")
def test_no_certificate_is_false_and_at_rest_the_warehouse_equals_the_source(
    platform: vetl_sandbox.Handle, door: Door, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setattr(client, "Timing", partial(Timing, now=platform.now))
    rng, server, traceless = Random(seed), servers.server_of(seed), bool(seed % 2)
    replay = f"replay with: VETL_CHAOS_SEEDS={seed}-{seed + 1} pytest tests/chaos; drawn: {server}"
    platform.reset()
    platform.set(**server.switches)
    tie(platform, PRACTICE, rng)
    restless = Restless(
        platform, PRACTICE, seed, pace=rng.uniform(0.02, 0.3), traceless=traceless, restart=door.restart
    )
    platform.platform.faults = restless
    settings = at(settings_for(platform, tmp_path, DAYS, server.parameters), door.base_url)
    zone = platform.practices[0].time_zone
    witness = Witness(platform, settings, server.endpoints, zone=zone, lies=traceless)

    for _ in range(rng.randint(0, 1)):
        ended = tmp_path / "ended"
        seconds = rng.uniform(0.0, 1.2)
        sync_until_killed(settings, ended, seconds, endpoints=server.endpoints, now=platform.now())
        assert witness.false_claims(None) == [], replay
        assert not ended.exists() or ended.read_text() in ("0", "1", "3"), replay
        platform.advance(timedelta(minutes=rng.randint(0, 600)))
        witness.look()
    moved = run(settings, server, replay)
    assert witness.false_claims(moved) == [], replay

    restless.asleep = True
    platform.set(sign_in_refusals=0)
    door.open()
    platform.advance(timedelta(days=1, minutes=2))
    witness.look()
    result = run(settings, server, replay, reconcile="full" if traceless else "no")

    assert result is not None, replay
    assert witness.false_claims(result) == [], replay
    assert result.exit_code in server.exits, (replay, result)
    assert differences_of(platform, settings, server) == [], replay
    assert duplicate_keys(settings.warehouse.path) == [], replay
    if "wrong_zone" in server.drawn and "phone_calls" in server.endpoints:
        reasons = [one.reason for one in result.results if one.endpoint == "phone_calls"]
        words = (f"{settings.practices[0].time_zone} does not: run `vetl doctor`", "is the time zone right?")
        assert any(word in reason for word in words for reason in reasons), (replay, reasons)


def run(settings: Settings, server: Server, replay: str, reconcile: Reconcile = "no") -> SyncResult | None:
    """Run one sync; return nothing if it was refused. Its exit code is that of its worst list, and never 2."""
    try:
        result = synced(settings, endpoints=server.endpoints, reconcile=reconcile)
    except ConfigurationError as error:
        pytest.fail(f"nothing is wrong with the settings, but: {error}; {replay}")
    except VetlError:
        return None
    states = {one.state for one in result.results}
    if "failed" in states:
        assert result.exit_code == 1, (replay, result)
    elif "uncertified" in states or result.doubts or has_quarantined_rows(settings.warehouse.path):
        assert result.exit_code == 3, (replay, result)
    else:
        assert result.exit_code == 0, (replay, result)
    return result


def differences_of(platform: vetl_sandbox.Handle, settings: Settings, server: Server) -> list[str]:
    """Return the differences of the lists that the server shows completely."""
    practice = settings.practices[0]
    shown = [name for name in server.endpoints if name not in server.hidden]
    zones = {PRACTICE: practice.time_zone}
    differences = truth.differences(
        platform, settings.warehouse.path, zones, since=practice.history_start, lists=shown
    )
    kept = tuple(f"{practice.id} {name}: " for name in server.keeps)
    return [line for line in differences if not (line.startswith(kept) and line.endswith(" is too many"))]


def has_quarantined_rows(warehouse: Path) -> bool:
    return bool(ask(warehouse, "from control.quarantine where resolved_at is null"))


def duplicate_keys(warehouse: Path) -> list[str]:
    keys = {**dict.fromkeys(truth.LISTS.values(), "practice_id, id"), "phone_calls": "practice_id, call_key"}
    twice = "select 1 from raw.{} group by {} having count(*) > 1 limit 1"
    return [table for table, key in keys.items() if ask(warehouse, twice.format(table, key))]
