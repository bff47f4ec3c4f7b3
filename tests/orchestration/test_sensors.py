"""A sensor drains received webhooks; another keeps the partitions of practices as in `vetl.toml`."""

import json
import subprocess
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from support.deliveries import body_of, message
from support.practice_site import practice_tables, vetl_resource
from support.processes import holding, until
from support.warehouse_with_rows import ask
from vetl.endpoints import RECEIVED
from vetl.orchestration.lists import NAME, received_tables
from vetl.orchestration.resources import VetlResource, raw_key
from vetl.orchestration.schedules import inbox_sensors, practices_sensor
from vetl.partner.webhooks import Channel
from vetl.receiving.inbox import Entry, Inbox
from vetl.settings.core_sections import ScheduleSettings

RECEIVED_TABLES = received_tables({raw_key(item.table): dg.AssetSpec(raw_key(item.table)) for item in RECEIVED})
[INBOX] = inbox_sensors(ScheduleSettings())


@pytest.fixture
def vetl(tmp_path: Path) -> VetlResource:
    return vetl_resource(tmp_path, "[webhooks]\ninbox = 'inbox.sqlite'\n")


def receive(folder: Path) -> None:
    body = body_of(message())
    with Inbox.open(folder / "inbox.sqlite") as inbox:
        inbox.keep([Entry(Channel.MESSAGES, "loc-001", body, datetime.now(UTC))])


def tick(vetl: VetlResource) -> Any:
    return INBOX(dg.build_sensor_context(resources={"vetl": vetl}))


def test_without_an_inbox_nothing_is_run_and_none_is_made(vetl: VetlResource, tmp_path: Path) -> None:
    assert isinstance(tick(vetl), dg.SkipReason)
    assert not (tmp_path / "inbox.sqlite").exists()


def test_the_sensor_requests_a_job_that_drains(vetl: VetlResource, tmp_path: Path) -> None:
    """Evaluate the sensor, and run its request as a job, like the daemon."""
    drain = dg.define_asset_job("drain", dg.AssetSelection.assets(RECEIVED_TABLES))
    vetl_side = dg.Definitions(assets=[RECEIVED_TABLES], jobs=[drain], sensors=[INBOX], resources={"vetl": vetl})
    receive(tmp_path)
    with dg.DagsterInstance.ephemeral() as instance:
        context = dg.build_sensor_context(instance=instance, definitions=vetl_side, resources={"vetl": vetl})
        asked = vetl_side.resolve_sensor_def("inbox").evaluate_tick(context).run_requests
        assert asked
        [request] = asked
        assert request.run_key == tick(vetl).run_key, "two ticks before the run request one run"
        job = vetl_side.resolve_job_def(request.job_name or "drain")
        assert job.execute_in_process(instance=instance, tags=request.tags).success
        after = vetl_side.resolve_sensor_def("inbox").evaluate_tick(context)

    assert (after.run_requests or [], after.skip_message) == ([], "the inbox is empty")
    assert ask(tmp_path / "warehouse/data/vetl.duckdb", "select id from raw.messages") == [("m-1",)]


HOLD = "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print('held', flush=True); sys.stdin.read()"


def let_go_once_named(instance: dg.DagsterInstance, holder: "subprocess.Popen[str]") -> None:
    def is_named() -> bool:
        logs = (entry for run in instance.get_runs() for entry in instance.all_logs(run.run_id))
        return any(entry.user_message.startswith("Waiting for ") for entry in logs)

    assert holder.stdin
    try:
        until("the run names the holder", is_named, 60)
    finally:
        holder.stdin.close()


@pytest.mark.parametrize("as_json", [False, True])
def test_a_step_waits_for_the_holder_of_the_warehouse_and_the_run_names_it(
    vetl: VetlResource, tmp_path: Path, capsys: pytest.CaptureFixture[str], *, as_json: bool
) -> None:
    receive(tmp_path)
    with Path(str(vetl.config)).open("a", encoding="utf-8") as config:
        config.write(f"[schedule]\njson_logs = {str(as_json).lower()}\n")
    file = tmp_path / "warehouse/data/vetl.duckdb"
    file.parent.mkdir(parents=True)
    with dg.DagsterInstance.ephemeral() as instance:
        with holding(HOLD, file) as holder, ThreadPoolExecutor(1) as aside:
            let_go = aside.submit(let_go_once_named, instance, holder)
            result = dg.materialize([RECEIVED_TABLES], instance=instance, resources={"vetl": vetl})
            let_go.result()
        log = [entry.user_message for entry in instance.all_logs(result.run_id)]

    assert result.success
    [said] = [line for line in log if line.startswith("Waiting for ")]
    lines = [line for line in capsys.readouterr().err.splitlines() if "warehouse_held" in line]
    assert [json.loads(line)["level"] for line in lines] == ["warning"] * as_json
    assert said == f"Waiting for process {holder.pid}, which holds {file}, up to 10 minutes"


def test_a_broken_inbox_is_reported_and_stops_no_sensor(vetl: VetlResource, tmp_path: Path) -> None:
    (tmp_path / "inbox.sqlite").write_text("not a database" * 1000)

    assert "not a database" in str(tick(vetl).skip_message)


def tick_of_practices(instance: dg.DagsterInstance, vetl: VetlResource) -> None:
    """Evaluate the sensor, and apply its requests like the daemon."""
    context = dg.build_sensor_context(instance=instance, resources={"vetl": vetl})
    for request in practices_sensor.evaluate_tick(context).dynamic_partitions_requests or []:
        if isinstance(request, dg.AddDynamicPartitionsRequest):
            instance.add_dynamic_partitions(NAME, request.partition_keys)
        else:
            for name in request.partition_keys:
                instance.delete_dynamic_partition(NAME, name)


def test_a_practice_that_is_added_appears_and_one_that_is_removed_is_retired_not_erased(tmp_path: Path) -> None:
    key = dg.AssetKey("calls")
    with dg.DagsterInstance.ephemeral() as instance:
        tick_of_practices(instance, vetl_resource(tmp_path, practice_tables("one", "two")))
        assert instance.get_dynamic_partitions(NAME) == ["one", "two"]
        instance.report_runless_asset_event(dg.AssetMaterialization(key, partition="one"))

        vetl = vetl_resource(tmp_path, practice_tables("two", "three"))
        tick_of_practices(instance, vetl)

        assert instance.get_dynamic_partitions(NAME) == ["two", "three"]
        assert instance.get_materialized_partitions(key) == {"one"}
        context = dg.build_sensor_context(instance=instance, resources={"vetl": vetl})
        assert "the same as in vetl.toml" in str(practices_sensor.evaluate_tick(context).skip_message)
