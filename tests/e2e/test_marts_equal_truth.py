"""From the platform's own truth to the last cell of the published marts, past vetl's models on both sides."""

from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import duckdb
import pytest
from support.cells import assert_equal, cells, groups
from support.daily import funnel, intent, outreach

from pipelines import jobs

Opened = Callable[..., Any]
INSTANTS = ("created_at", "updated_at", "last_activity_at", "contacted_at", "completed_at")


def typed(row: Mapping[str, Any], practice_id: str) -> dict[str, Any]:
    times = {name: datetime.fromisoformat(row[name]) for name in INSTANTS if row.get(name)}
    return {**row, **times, "practice_id": practice_id, "_deleted_at": None}


@pytest.mark.parametrize("seed", [3])
def test_the_daily_marts_equal_the_truth_at_rest_and_thirty_days_later(opened: Opened, seed: int) -> None:
    practices = opened(days=45, calls=1200, seed=seed)
    zones = {practice.id: ZoneInfo(practice.time_zone) for practice in practices.settings.practices}

    def truth(name: str) -> list[dict[str, Any]]:
        return [typed(row, key) for key in zones for row in practices.platform.truth(key, name)]

    def local_day(row: Mapping[str, Any]) -> date:
        return row["created_at"].astimezone(zones[row["practice_id"]]).date()

    def mart(name: str) -> list[tuple[Any, ...]]:
        with duckdb.connect(str(practices.settings.warehouse.published), read_only=True) as published:
            return published.execute(f"select * from marts.{name}").fetchall()

    for pause in (timedelta(), timedelta(days=30)):
        practices.platform.advance(pause)
        now = practices.platform.now().astimezone(UTC)
        practices.sync()
        assert jobs.build(practices.settings).exit_code == 0
        jobs.publish(practices.settings)

        referrals = ("referral_source", "referral_campaign", "referral_medium", "client_type")
        sessions = groups(truth("booking_sessions"), local_day, *referrals)
        found = {key: funnel(rows) for key, rows in sessions.items()}
        assert_equal(found, cells(mart("booking_funnel_daily"), key_width=6))

        kinds = ("direction", "caller_type", "call_classification")
        calls = groups(truth("phone_calls"), local_day, *kinds)
        assert_equal({key: intent(rows) for key, rows in calls.items()}, cells(mart("booking_intent_daily"), 5))

        requests = groups(truth("ai_outbound"), local_day, "purpose", "channel")
        outcomes = {key: outreach(rows, now) for key, rows in requests.items()}
        assert_equal(outcomes, cells(mart("outreach_outcomes_daily"), 4))
