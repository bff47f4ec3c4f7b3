"""Shards in processes of their own: their logs, progress and errors reach the process that started them."""

from pathlib import Path

import pytest
import structlog
from structlog.testing import capture_logs
from vetl.core.errors import ConfigurationError, NotFound, SignInRefused, Unreachable, VetlError
from vetl.core.pages import Changes
from vetl.core.results import EndpointResult, Progress, ReportProgress, SyncResult, Waiting
from vetl.jobs.processes import ShardRead, side_by_side
from vetl.settings import Settings, WarehouseSettings

_log = structlog.stdlib.get_logger("vetl.test")


def read_of(name: str, *practices: str) -> ShardRead:
    settings = Settings(warehouse=WarehouseSettings(path=Path(f"{name}.duckdb")))
    return ShardRead(settings, practices, ("clients", "patients"), None, "no")


def sync(read: ShardRead, progress: ReportProgress) -> SyncResult:
    """A read of a shard that reads no list and fails as the name of the file says."""
    name = read.settings.warehouse.path.stem
    if name == "refused":
        raise SignInRefused("sign in: refused")
    if name == "gone":
        raise Unreachable("no connection")
    for practice in read.practices:
        progress(Progress(practice, "clients", 1, 1, "certified"))
    _log.warning("told", by=name, cause=NotFound("no such thing", status=404))
    results = [
        EndpointResult(practice, name, "certified", "", Changes(), 1, 1, None)
        for practice in read.practices
        for name in read.endpoints
    ]
    return SyncResult(name, None, tuple(results), sign_ins=1, notes=("the same note",))


def test_results_progress_and_logs_of_all_come_together_and_one_that_fails_fails_its_own_lists() -> None:
    progress: list[Progress | Waiting] = []
    reads = [read_of("one", "p1"), read_of("gone", "p2"), read_of("two", "p3")]

    with capture_logs() as logged:
        result = side_by_side(reads, sync, progress.append)

    assert [(item.practice_id, item.state, item.retryable) for item in result.results] == [
        *[("p1", "certified", False)] * 2,
        *[("p2", "failed", True)] * 2,
        *[("p3", "certified", False)] * 2,
    ]
    assert (result.run_id, result.sign_ins, result.notes) == ("one,two", 2, ("the same note",))
    assert {item.practice_id for item in progress if isinstance(item, Progress)} == {"p1", "p3"}
    told = [(name, "no such thing") for name in ("one", "two")]
    assert sorted((item["by"], item["cause"]) for item in logged) == told


def test_refused_credentials_and_errors_of_all_shards_keep_their_type() -> None:
    with pytest.raises(ConfigurationError, match="sign in: refused"):
        side_by_side([read_of("refused", "p1"), read_of("one", "p2")], sync, lambda _: None)
    with pytest.raises(VetlError, match="no connection") as caught:
        side_by_side([read_of("gone", "p1"), read_of("gone", "p2")], sync, lambda _: None)
    assert isinstance(caught.value, Unreachable)
