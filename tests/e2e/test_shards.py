"""A warehouse of several files stores and publishes the same rows as one file, at the same cost."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import vetl_sandbox
from support.mart_builds import build_marts_untested
from support.sandbox_settings import changed, settings_for, synced
from support.small_project import few_models
from support.warehouse_with_rows import ask
from vetl.jobs.act import apply_acts, plan_acts
from vetl.jobs.build import publish_marts, reason_to_build
from vetl.jobs.drain import run_drain
from vetl.jobs.forget import forget_person
from vetl.jobs.lake import run_export
from vetl.jobs.shards import parts
from vetl.jobs.status import read_status
from vetl.loading.layout import shards_of
from vetl.loading.published.inputs import verify_inputs
from vetl.loading.published.query import query
from vetl.partner.webhooks import Channel
from vetl.receiving.inbox import Entry, Inbox
from vetl.settings import Settings

DAYS = 5


def sharded(settings: Settings, shards: Any) -> Settings:
    return changed(settings, warehouse={"shards": shards})


def marts(settings: Settings) -> dict[str, list[Any]]:
    publish_marts(settings)
    file = settings.warehouse.published
    names = ask(file, "select table_name from duckdb_tables() where schema_name = 'marts'")
    tables = {name: ask(file, f"from marts.{name} order by all") for (name,) in names}
    # The runs differ, because the file of all practices is synced once more.
    tables["digests"] = [row for row in tables["digests"] if row[0] != "control.runs"]
    return tables


def act_for_everybody(settings: Settings, folder: Path) -> None:
    """Make a task for each practice with a leak; the act is in the shard of its practice."""
    ids = tuple(practice.id for practice in settings.practices)
    files = {"ledger": folder / "acts.sqlite", "stop_file": folder / "act.stop"}
    acting = changed(settings, act={"enabled": True, "practices": ids, "per_practice_per_day": 1, **files})
    result = apply_acts(acting, plan_acts(acting, None).digest)
    assert result.exit_code == 0, result
    acted = 0
    for part in parts(settings):
        rows = query(part.warehouse.path, "select practice_id from control.acts").rows
        assert rows
        assert {name for (name,) in rows} <= {practice.id for practice in part.practices}
        acted += len(rows)
    assert acted == result.sent


@pytest.fixture(scope="module", autouse=True)
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Build few of the models: those of the acts, and one for each raw table."""
    lists = ("appointments", "booking_sessions", "outreach_requests", "phone_calls", "staff_tasks")
    acts = ("acts", "demand_contacts", "demand_ledger", "leak_list")
    with few_models(tmp_path_factory.mktemp("few-models"), "clients", "patients", *lists, *acts):
        yield


@pytest.fixture(scope="module")
def platform() -> Iterator[vetl_sandbox.Handle]:
    with vetl_sandbox.running(practices=3, calls=90, days=DAYS, seed=5, frozen=True) as running:
        yield running


def test_shards_are_read_side_by_side_and_become_one_file_without_reading_again(
    platform: vetl_sandbox.Handle, tmp_path: Path
) -> None:
    """Marts built over two files equal those built after the files were merged."""
    settings = settings_for(platform, tmp_path, DAYS)
    two = sharded(settings, 2)

    first = synced(two)
    assert first.exit_code == 0
    assert [item.practice_id for item in first.results] == [p.id for p in settings.practices for _ in range(7)]
    assert [len(part.practices) for part in parts(two)] == [2, 1]
    assert len(read_status(two).snapshot.lists) == 21
    [(rows,)] = query(two.warehouse.path, "select count(*) from raw.phone_calls").rows
    assert rows == sum(item.rows for item in first.results if item.endpoint == "phone_calls") > 0

    assert reason_to_build(two)
    build_marts_untested(two)
    assert reason_to_build(two) is None

    act_for_everybody(two, tmp_path)
    assert reason_to_build(two) == "rows changed"
    synced(two)
    build_marts_untested(two)
    of_two = marts(two)
    assert of_two["acts"]
    inputs = verify_inputs(two.warehouse.path, two.warehouse.published)
    assert inputs.rows > rows
    assert (inputs.changed, inputs.different, inputs.is_older) == ((), (), False)
    again = synced(two)
    assert not any(item.changes.inserted or item.changes.updated for item in again.results)
    assert reason_to_build(two) is None

    one = synced(settings)
    assert not shards_of(settings.warehouse.path)
    assert not any(item.changes.inserted or item.changes.updated for item in one.results)
    assert sum(item.requests for item in one.results) <= sum(item.requests for item in again.results)
    build_marts_untested(settings)
    assert marts(settings) == of_two


def test_webhooks_exports_and_forgetting_find_the_shard_of_a_practice(
    platform: vetl_sandbox.Handle, tmp_path: Path
) -> None:
    settings = settings_for(platform, tmp_path, DAYS)
    ids = [practice.id for practice in settings.practices]
    inbox = tmp_path / "inbox.sqlite"
    two = sharded(settings, {"north": ids[:1], "south": ids[1:]})
    two = changed(two, webhooks={"inbox": inbox}, lake={"path": str(tmp_path / "lake")})
    synced(two)

    body = b'{"request_id": "r1", "clinic_id": "%s"}'
    with Inbox.open(inbox) as opened:
        now = platform.now()
        entries = [Entry(Channel.AI_OUTBOUND, name, body % name.encode(), now) for name in (*ids, "stranger")]
        opened.keep(entries)
    drained = run_drain(two, catch_up=False)
    assert drained.deliveries == 4

    north, south = shards_of(two.warehouse.path).values()
    statement = (
        "select distinct practice_id from control.quarantine union select practice_id from raw.outreach_events"
    )
    assert {name for (name,) in query(north, statement).rows} == {ids[0], "stranger"}
    assert {name for (name,) in query(south, statement).rows} == set(ids[1:])

    assert query(two.warehouse.path, "select run_id from control.runs group by all having count(*) > 1").rows == []

    exported = run_export(two)
    [(rows,)] = query(two.warehouse.path, "select count(*) from raw.clients").rows
    assert f"raw/clients/practice_id={ids[2]}" in "".join(str(file) for file in Path(exported.location).rglob("*"))

    [(client,)] = query(south, f"select min(id) from raw.clients where practice_id = '{ids[2]}'").rows
    forgotten = forget_person(two, ids[2], client, lambda _settings: {"exit_code": 0})  # no mart was built
    assert forgotten.left == []
    assert query(two.warehouse.path, f"from raw.clients where id = '{client}'").rows == []
    assert query(two.warehouse.path, f"from raw.phone_calls where client_id = '{client}'").rows == []
    assert query(two.warehouse.path, "select count(*) from raw.clients").rows == [(rows,)]
