"""A platform, a vetl.toml as a user would write it, and the results of doctor and sync."""

from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

import vetl_sandbox
from support import truth
from support.lists import PAGED
from support.sandbox_settings import synced
from vetl.core.list_read import SyncResult
from vetl.discovery.examination import Report
from vetl.discovery.probes import Finding
from vetl.jobs.checkup import run_doctor
from vetl.settings import Settings, load_settings

DAYS = 40
PRACTICE = "loc-001"
TOML = """\
# Settings of a practice that likes comments.
[partner]
base_url = "{base_url}"  # the platform

[warehouse]
path = "vetl.duckdb"
published = "analytics.duckdb"
lock_wait_seconds = 0

[[practices]]
id = "loc-001"
name = "Harbor Animal Hospital"
time_zone = "{zone}"  # as we were told
history_start = {start}
"""


@dataclass
class Clinic:
    """A platform, the settings of its user, and the results of doctor and sync."""

    platform: vetl_sandbox.Handle
    config: Path

    @property
    def settings(self) -> Settings:
        return load_settings(self.config)

    def configure(self, *, zone: str, more: str = "") -> None:
        toml = TOML.format(base_url=self.platform.base_url, zone=zone, start=self.start)
        self.config.write_text(toml + more)

    @property
    def start(self) -> date:
        return self.platform.now().date() - timedelta(days=DAYS + 1)

    @property
    def zone(self) -> str:
        """The practice's real zone, which the interface never shows."""
        return self.platform.practices[0].time_zone

    def doctor(self, *lists: str, write: bool = False) -> Report:
        config = self.config if write else None
        return run_doctor(self.settings, practices=None, endpoints=lists, config=config, progress=lambda _: None)

    def sync(self, *lists: str) -> SyncResult:
        """Sync without clients and patients: they are read one by one, which does not depend on switches."""
        return synced(self.settings, endpoints=lists or PAGED)

    def differences(self, *lists: str) -> list[str]:
        zones, file = {PRACTICE: self.zone}, self.settings.warehouse.path
        return truth.differences(self.platform, file, zones, since=self.start, lists=lists or PAGED)


def findings_by_check(report: Report) -> dict[tuple[str, str], Finding]:
    return {(item.endpoint, item.check): item for item in report.practices[0].findings}
