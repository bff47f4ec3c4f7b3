"""Received webhooks are drained by a sensor."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import dagster as dg
import duckdb
import pytest
from support.deliveries import body_of, message

from pipelines.orchestration.areas import Areas
from pipelines.orchestration.received import received_tables
from pipelines.orchestration.resources import VetlResource
from pipelines.orchestration.sensors import inbox_sensors
from pipelines.partner.webhooks import Channel
from pipelines.receiving.inbox import Entry, Inbox
from pipelines.settings.schedule import ScheduleSettings

RECEIVED_TABLES = received_tables(Areas({"nodes": {}, "sources": {}, "child_map": {}}))
[INBOX] = inbox_sensors(ScheduleSettings())


@pytest.fixture
def vetl(tmp_path: Path) -> VetlResource:
    config = tmp_path / "vetl.toml"
    config.write_text("[webhooks]\ninbox = 'inbox.sqlite'\n", "utf-8")
    return VetlResource(config=str(config))


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
    with duckdb.connect(tmp_path / "warehouse/data/vetl.duckdb", read_only=True) as connection:
        assert connection.execute("select id from raw.messages").fetchall() == [("m-1",)]


def test_a_broken_inbox_is_reported_and_stops_no_sensor(vetl: VetlResource, tmp_path: Path) -> None:
    (tmp_path / "inbox.sqlite").write_text("not a database" * 1000)

    assert "not a database" in str(tick(vetl).skip_message)
