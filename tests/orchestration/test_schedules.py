"""The schedules of vetl, and their settings in `[schedule]`."""

from datetime import UTC, datetime
from pathlib import Path

import dagster as dg
import pytest
from vetl.jobs.judgements import USUAL_HOURS
from vetl.orchestration.schedules import EVERYTHING, WATCH, schedules
from vetl.settings.core_sections import ScheduleSettings, open_hours

SEVEN = datetime(2026, 1, 1, 7, tzinfo=UTC)


def test_by_default_there_are_four_and_all_are_off() -> None:
    by_name = {item.name: item for item in schedules(ScheduleSettings())}

    assert {name: (item.cron_schedule, item.job_name) for name, item in by_name.items()} == {
        "hourly": ("0 * * * *", EVERYTHING),
        "nightly": ("30 2 * * 1-6", EVERYTHING),
        "weekly": ("30 2 * * 0", EVERYTHING),
        "watch": ("45 * * * *", WATCH),
    }
    assert {item.default_status for item in by_name.values()} == {dg.DefaultScheduleStatus.STOPPED}


@pytest.mark.parametrize(
    ("name", "again"),
    [
        ("hourly", "no"),
        ("nightly", "recent"),
        ("weekly", "full"),
    ],
)
def test_a_tick_asks_for_one_run_that_reads_as_much_again(name: str, again: str, tmp_path: Path) -> None:
    [schedule] = [item for item in schedules(ScheduleSettings()) if item.name == name]
    with (
        dg.DagsterInstance.local_temp(str(tmp_path)) as instance,
        dg.build_schedule_context(instance=instance, scheduled_execution_time=SEVEN) as context,
    ):
        [request] = schedule.evaluate_tick(context).run_requests or []

    assert request.run_config == {"ops": {"sync": {"config": {"reconcile": again}}}}


def test_a_tick_does_not_pile_up_behind_one_that_is_not_done(tmp_path: Path) -> None:
    [schedule] = [item for item in schedules(ScheduleSettings()) if item.name == "hourly"]
    with dg.DagsterInstance.local_temp(str(tmp_path)) as instance:
        tags = {"dagster/schedule_name": "hourly"}
        instance.add_run(dg.DagsterRun(job_name=EVERYTHING, status=dg.DagsterRunStatus.STARTED, tags=tags))
        with dg.build_schedule_context(instance=instance, scheduled_execution_time=SEVEN) as context:
            tick = schedule.evaluate_tick(context)

    assert "not done yet" in str(tick.skip_message)


@pytest.mark.parametrize(
    ("since", "hours"),
    [
        (datetime(2026, 1, 5, 13, tzinfo=UTC), 2.0),  # Monday, 8 to 10 in New York
        (datetime(2026, 1, 3, 22, tzinfo=UTC), 3.0),  # Saturday 17 to 18, nothing on Sunday, Monday 8 to 10
        (datetime(2026, 1, 4, 6, tzinfo=UTC), 2.0),
    ],
)
def test_nights_and_sundays_make_nothing_stale(since: datetime, hours: float) -> None:
    now = datetime(2026, 1, 5, 15, tzinfo=UTC)

    assert open_hours(since, now, "America/New_York", USUAL_HOURS) == hours
