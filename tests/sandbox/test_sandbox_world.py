"""The world: reproducible, changing, with the awkward hours in it, and true to the contract; and its memory."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from support.partner_side import Partner, by_id
from vetl.core.zones import zone
from vetl_sandbox.world.hours import millis, to_instant, to_local


@pytest.mark.parametrize("name", ["appointments", "staff_tasks"])
def test_updated_at_moves_with_every_change(partner: Partner, name: str) -> None:
    partner.platform.advance(timedelta(hours=27))
    before = by_id(partner.truth(name))
    partner.platform.advance(timedelta(days=4))
    after = by_id(partner.truth(name))
    changed = [key for key in before if before[key] != after[key]]
    assert changed
    assert all(before[key]["updated_at"] < after[key]["updated_at"] for key in changed)


@pytest.mark.parametrize("name", ["phone_calls", "ai_outbound", "staff_tasks"])
def test_people_that_rows_mention_exist(partner: Partner, name: str) -> None:
    clients = {client["id"] for client in partner.truth("clients")}
    patients = {patient["id"]: patient for patient in partner.truth("patients")}
    for row in partner.truth(name):
        assert row["client_id"] is None or row["client_id"] in clients
        assert row["patient_id"] is None or patients[row["patient_id"]]["client_id"] == row["client_id"]


def test_the_world_converts_by_the_rules_that_vetl_converts_by() -> None:
    """British Columbia stayed on summer time on 1 November 2026; polars has older rules."""
    name = "America/Vancouver"
    hours = [datetime(2026, month, 20, hour, tzinfo=UTC) for month in (3, 10, 11, 12) for hour in range(24)]
    instants = np.array([millis(hour) for hour in hours])

    local = to_local(instants, name)

    assert local.tolist() == [millis(hour.astimezone(zone(name)).replace(tzinfo=UTC)) for hour in hours]
    assert to_instant(local, name).tolist() == instants.tolist()
