"""Every command refuses a warehouse that a newer vetl has migrated."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pytest
import vetl_sandbox
from support.practice_site import practice_table
from support.sandbox_settings import enter
from vetl.cli import app
from vetl.endpoints import REGISTRY
from vetl.store.notes import read_note, write_note
from vetl.store.warehouse import Warehouse

WAREHOUSE = Path("warehouse/data/vetl.duckdb")
HARBOR = {"name": "Harbor Animal Hospital", "time_zone": "America/New_York", "more": "group = 'East'\n"}
SETTINGS = '[partner]\nbase_url = "http://127.0.0.1:9"\n' + practice_table("loc-001", start="2026-01-14", **HARBOR)
COMMANDS = (
    *("status", "sync", "reconcile", "build", "run", "publish", "doctor", "dbt ls", "dagster asset list"),
    *("quarantine list", "quarantine retry", "webhooks drain"),
    "forget --practice loc-001 --client 1 --yes",
    "query --private from.raw.clients",
)


@pytest.fixture(scope="module")
def newer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Provide a warehouse that a later version has migrated, and a platform that answers."""
    with (
        pytest.MonkeyPatch.context() as patch,
        vetl_sandbox.running(practices=1, days=1, calls=5, frozen=True) as platform,
    ):
        enter(tmp_path_factory.mktemp("newer"), platform, patch)
        _make_newer()
        Path("vetl.toml").write_text(SETTINGS.replace("http://127.0.0.1:9", platform.base_url), "utf-8")
        yield


def _make_newer() -> None:
    with Warehouse.open(WAREHOUSE, REGISTRY, lock_wait_seconds=0) as warehouse:
        warehouse.start_run("run", datetime.now(UTC), "sync")
        warehouse.finish_run("run", source_clock=None, exit_code=0, summary={})
    with duckdb.connect(WAREHOUSE) as connection:
        connection.execute("insert into control.migrations values ('9999_later', now())")
    write_note(WAREHOUSE, "status", {**read_note(WAREHOUSE, "status"), "migration": "9999_later"})


@pytest.mark.usefixtures("newer")
@pytest.mark.parametrize("command", COMMANDS)
def test_a_newer_warehouse_is_refused_in_one_line(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert app.execute([word.replace(".", " ", 1) for word in command.split()]) == 1

    out, err = capsys.readouterr()
    assert out == ""
    *waited, refusal = err.splitlines()
    assert all(line.startswith("examining") for line in waited), "what a slow machine waits for"
    assert "the warehouse is newer than this vetl (it has 9999_later): upgrade vetl" in refusal
