"""Three practices whose rows change, read and built twice; and what the platform itself knows of them."""

import os
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path

import vetl_sandbox
from support.dbt_build import BOOKING_STAGES
from support.expected_inputs import Visit, known_from
from support.lists import PAGED, TABLES
from support.mart_builds import build_marts_untested
from support.mart_inputs import Known
from support.sandbox_settings import changed, settings_for, synced

SEED = int(os.environ.get("VETL_TRUTH_SEED", "29"))
START = datetime(2026, 3, 20, 17, 30, tzinfo=UTC)
"""New York puts its clock forward within the days before, London after them, and Phoenix never."""
DAYS = 40
GROUPS = {"loc-001": "Atlantic", "loc-003": "Atlantic"}


def play(folder: Path) -> tuple[Path, Known]:
    """Return a warehouse that was built, and again after days in which rows changed without a trace."""
    visits: list[Visit] = []
    with vetl_sandbox.running(practices=3, calls=450, days=DAYS, seed=SEED, start=START, frozen=True) as platform:
        plain = settings_for(platform, folder, DAYS)
        stages = {"booking_stages": BOOKING_STAGES}
        practices = tuple(replace(one, group=GROUPS.get(one.id)) for one in plain.practices)
        settings = changed(plain, phone_calls={"details": "all"}, definitions=stages)
        settings = settings.model_copy(update={"practices": practices})
        for is_later in (False, True):
            if is_later:
                change_without_a_trace(platform)
            assert synced(settings, reconcile="full").exit_code == 0
            rows = {(of.id, name): platform.truth(of.id, name) for of, name in product(practices, TABLES)}
            visits.append(Visit(platform.now().astimezone(UTC), rows))
            build_marts_untested(settings)
    return settings.warehouse.path, known_from(practices, visits, settings.warehouse.path)


def change_without_a_trace(platform: vetl_sandbox.Handle) -> None:
    platform.advance(timedelta(days=15))
    for practice, name in product(platform.practices, PAGED):
        gone, changed, *_ = platform.truth(practice.id, name)
        platform.delete(practice.id, name, gone["id"])
        platform.update(practice.id, name, changed["id"], {"outcome": None, "stage": None, "title": "changed"})
