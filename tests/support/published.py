"""A published file as `vetl run` leaves it, of a small platform, made once for each content of the code."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import vetl_sandbox
from support.mart_builds import build_marts_untested
from support.run_once import shared_result
from support.sandbox_settings import settings_for, synced
from vetl.addons.forecast.job import forecast
from vetl.jobs.build import publish_marts

DAYS, STALE_DAYS = 75, 45


def published_once() -> Path:
    """Return the file of two practices of one group; all tests share it, none may change it."""
    return shared_result("published", publish_small)


def published_stale_once() -> Path:
    """Return the file of three practices, of which only the first was read three days later."""
    return shared_result("published-stale", publish_stale)


def publish_stale(folder: Path) -> Path:
    """Make the same file again in a folder, as `vetl run --practice loc-001` leaves it."""
    with vetl_sandbox.running(practices=3, calls=1200, days=STALE_DAYS, seed=7, frozen=True) as platform:
        settings = settings_for(platform, folder, STALE_DAYS)
        synced(settings)
        platform.advance(timedelta(days=3))
        synced(settings, practices=("loc-001",))
    build_marts_untested(settings)
    return publish_marts(settings.warehouse, settings.privacy).path


def publish_small(folder: Path) -> Path:
    """Make the same file again in a folder."""
    with vetl_sandbox.running(practices=2, calls=2500, days=DAYS, seed=7, frozen=True) as platform:
        settings = settings_for(platform, folder, DAYS)
        practices = tuple(replace(practice, group="America") for practice in settings.practices)
        settings = settings.model_copy(update={"practices": practices})
        synced(settings)
    build_marts_untested(settings)
    publish_marts(settings.warehouse, settings.privacy)
    assert forecast(settings).hours
    build_marts_untested(settings)
    return publish_marts(settings.warehouse, settings.privacy).path
