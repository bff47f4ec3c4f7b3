"""A sync that was killed continues after its last commit."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from support.killed_sync import sync_until_killed

from pipelines.endpoints import REGISTRY
from pipelines.loading.control.snapshot import snapshot_path
from pipelines.loading.warehouse import Warehouse


def test_a_killed_sync_resumes_and_certified_windows_are_not_read_again(
    opened: Callable[..., Any], tmp_path: Path
) -> None:
    practices = opened(practices=1, calls=1500, days=150)
    snapshot = snapshot_path(practices.warehouse)

    def some_window_is_certified() -> bool:
        return snapshot.exists() and '"covered"' in snapshot.read_text("utf-8")

    killed = sync_until_killed(practices.settings, tmp_path / "ended", 0.0, after=some_window_is_certified)
    with Warehouse.open(practices.warehouse, REGISTRY, lock_wait_seconds=5) as warehouse:
        done = [item.endpoint for item in warehouse.status() if (item.cursor or {}).get("covered")]
    result = practices.sync()

    assert killed
    assert done
    assert practices.differences() == []
    requests = {item.endpoint: item.requests for item in result.results}
    assert all(requests[name] < 10 for name in done if name != "phone_calls")
