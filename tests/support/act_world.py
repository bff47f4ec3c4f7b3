"""A practice with unbooked requests: a sandbox, a synced warehouse, and marts that hold exactly these."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import vetl_sandbox
from support.practice_site import practice_table
from support.sandbox_settings import changed, settings_for, synced
from vetl.addons.act.acts import codes_in
from vetl.addons.act.job import apply_acts, plan_acts
from vetl.settings import Settings
from vetl_sandbox import Fault
from vetl_sandbox.faults import Faults

PRACTICE = "loc-001"
DAYS = 3
_TABLES = """
create schema if not exists marts;
create or replace table marts.call_back_list (
    practice_id varchar, episode_id varchar, client_id varchar, channel varchar, last_at timestamptz,
    reason varchar, phone_number varchar, wanted varchar, contacts bigint, urgency bigint);
create or replace table marts.booking_request_contacts (
    practice_id varchar, channel varchar, contact_id varchar, episode_id varchar, began_at timestamptz);
create or replace table marts.booking_requests (practice_id varchar, episode_id varchar, booked_at timestamptz);
create or replace table marts.practices as
    select id as practice_id, (select max(source_clock) from control.runs) as as_of from control.practices;
"""


@dataclass(frozen=True)
class Unbooked:
    """An unbooked episode, by the number of its first contact. `contacts`: the numbers of all."""

    number: int
    contacts: tuple[int, ...] = ()
    client_id: str | None = None
    phone_number: str | None = "+12125550100"
    booked: bool = False

    @property
    def episode_id(self) -> str:
        return f"call:c-{self.number}"


class AtTasks(Faults):
    """Calls a function with the method of each request about staff tasks; it may return a fault."""

    def __init__(self, happen: Callable[[str], Fault | None]) -> None:
        super().__init__()
        self._happen = happen

    def strike(self, path: str, event: str, /) -> Fault | None:
        del event
        method, _, rest = path.partition(" ")
        return self._happen(method) if rest.endswith("/staff_tasks") else None


def unbooked(count: int) -> list[Unbooked]:
    return [Unbooked(number) for number in range(count)]


@dataclass
class ActWorld:
    """A platform and the settings of a user who acts for its practice."""

    platform: vetl_sandbox.Handle
    settings: Settings

    def act(self, **changes: Any) -> Settings:
        """Return the settings with other values in `[act]`."""
        return changed(self.settings, act=changes)

    def build(self, requests: Sequence[Unbooked]) -> None:
        """Put these requests into the marts, as a build would."""
        with duckdb.connect(str(self.settings.warehouse.path)) as connection:
            connection.execute("set TimeZone = 'UTC'")
            connection.execute(_TABLES)
            began = datetime(2026, 1, 5, 15, tzinfo=UTC)
            for place, one in enumerate(requests):
                last = began + timedelta(minutes=one.number)
                if not one.booked:
                    connection.execute(
                        "insert into marts.call_back_list"
                        " values (?, ?, ?, 'call', ?, 'voicemail', ?, 'scheduling', 1, ?)",
                        [PRACTICE, one.episode_id, one.client_id, last, one.phone_number, place + 1],
                    )
                for number in one.contacts or (one.number,):
                    connection.execute(
                        "insert into marts.booking_request_contacts values (?, 'call', ?, ?, ?)",
                        [PRACTICE, f"c-{number}", one.episode_id, began],
                    )
                connection.execute(
                    "insert into marts.booking_requests values (?, ?, ?)",
                    [PRACTICE, one.episode_id, last if one.booked else None],
                )

    def sync(self) -> None:
        result = synced(self.settings)
        assert result.exit_code == 0, result

    def codes(self) -> list[str]:
        """Return the codes of vetl's tasks on the platform, one for each task."""
        return [code for task in self.tasks() for code in codes_in(task["description"])]

    def tasks(self) -> list[dict[str, Any]]:
        tasks = self.platform.truth(PRACTICE, "staff_tasks")
        return [task for task in tasks if codes_in(task["description"])]

    def posts(self) -> int:
        log = self.platform.requests.log
        return sum(seen.method == "POST" and seen.path.endswith("/staff_tasks") for seen in log)

    def plan(self, requests: Sequence[Unbooked]) -> str:
        """Put these requests into the marts, and return the digest of a plan for them."""
        self.build(requests)
        return plan_acts(self.settings, None).digest

    def plan_and_apply(self, settings: Settings | None = None) -> Any:
        settings = settings or self.settings
        return apply_acts(settings, plan_acts(settings, None).digest)


def act_world(platform: vetl_sandbox.Handle, folder: Path, **act: Any) -> ActWorld:
    """Return a world in which acting is on, without caps that matter."""
    wanted = {"enabled": True, "practices": (PRACTICE,), "per_practice_per_day": 10_000, "per_day": 10_000}
    files = {"ledger": folder / "acts.sqlite", "stop_file": folder / "act.stop"}
    return ActWorld(platform, changed(settings_for(platform, folder, DAYS), act=files | wanted | act))


def toml_of(world: ActWorld, *, enabled: bool = False) -> str:
    practice = world.settings.practices[0]
    return (
        f"[partner]\nbase_url = '{world.platform.base_url}'\n"
        f"[warehouse]\npath = 'vetl.duckdb'\npublished = 'analytics.duckdb'\nlock_wait_seconds = 0\n"
        f"[act]\nenabled = {str(enabled).lower()}\npractices = ['{practice.id}']\nledger = 'acts.sqlite'\n"
        "stop_file = 'act.stop'\n"
    ) + practice_table(practice.id, name=practice.name, time_zone=practice.time_zone, start=practice.history_start)
