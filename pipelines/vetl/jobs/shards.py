"""The shards of a warehouse: each is a warehouse of some practices with settings of its own."""

from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime
from math import ceil
from typing import Any

from vetl.core.endpoint import Endpoint
from vetl.core.pages import Changes
from vetl.core.practice import Practice
from vetl.core.steps import Save
from vetl.endpoints import REGISTRY
from vetl.jobs.one_writer import writing
from vetl.loading.control.acts import KeptAct
from vetl.loading.control.forecasts import Predictions, of_practices, predicted_practices
from vetl.loading.control.quarantine import QuarantinedRow
from vetl.loading.layout import Layout, read_layout, shard_file
from vetl.loading.pseudonyms import Pseudonyms
from vetl.loading.received import Intake
from vetl.loading.shards import arrange, is_arranged
from vetl.loading.warehouse import Warehouse
from vetl.settings import Settings


def parts(settings: Settings, practices: Sequence[str] | None = None) -> list[Settings]:
    """Return the settings of each shard with one of these practices: its file and its practices alone.

    If `vetl.toml` has changed, practices are moved to their new shard first. If there is one file for all
    practices, the result is `settings`. The caller must hold the lock of the warehouse.

    Raises:
        WarehouseBusy: practices have to be moved, and another process holds a file.
        WarehouseError: a file cannot be opened or written.
    """
    warehouse = settings.warehouse
    layout = layout_of(settings)
    arrange(warehouse.path, layout, lock_wait_seconds=warehouse.lock_wait_seconds)
    if not layout:
        return [settings]
    return [
        _part(settings, name, own)
        for name, own in layout.items()
        if practices is None or not set(practices).isdisjoint(own)
    ]


@contextmanager
def opened(settings: Settings) -> Generator["OpenWarehouse"]:
    """Open all files of the warehouse for a short work on every practice; wait for other writers.

    Raises:
        WarehouseBusy: another process still holds a file after `lock_wait_seconds`.
        WarehouseError: a file cannot be opened.
    """
    with ExitStack() as stack:
        stack.enter_context(writing(settings))
        homes: dict[str, Warehouse] = {}
        files: list[Warehouse] = []
        for part in parts(settings):
            warehouse = part.warehouse
            file = Warehouse.open(warehouse.path, REGISTRY, lock_wait_seconds=warehouse.lock_wait_seconds)
            files.append(stack.enter_context(file))
            homes.update({practice.id: file for practice in part.practices})
        if len(files) > 1:
            # Deliveries that name no practice are in the first file, and may be about people of every practice.
            everybody = {of: its for file in files for of, its in file.people.pseudonyms.by_practice.items()}
            files[0].people.pseudonyms = Pseudonyms(everybody)
        yield OpenWarehouse(files, homes)


@dataclass(frozen=True, slots=True)
class OpenWarehouse:
    """All files of a warehouse; unknown practices belong to the first file."""

    files: Sequence[Warehouse]
    homes: Mapping[str, Warehouse]

    def of(self, practice_id: str) -> Warehouse:
        """Return the file of a practice."""
        return self.homes.get(practice_id, self.files[0])

    def start_run(self, run_id: str, started_at: datetime, command: str, practices: Sequence[Practice]) -> None:
        """Record the start of a command, and the configured practices."""
        for file in self.files:
            file.set_practices([item for item in practices if self.of(item.id) is file])
            file.start_run(run_id, started_at, command)

    def finish_run(
        self, run_id: str, *, source_clock: datetime | None, exit_code: int, summary: Mapping[str, Any]
    ) -> None:
        """Record the end of a command."""
        for file in self.files:
            file.finish_run(run_id, source_clock=source_clock, exit_code=exit_code, summary=summary)

    def keep_acts(self, acts: Sequence[KeptAct]) -> None:
        """Copy acts of the ledger, each into the file of its practice."""
        for file in self.files:
            file.keep_acts([act for act in acts if self.of(act.practice_id) is file])

    def keep_forecasts(self, predictions: Predictions) -> int:
        """Add predictions, each to the file of its practice; return their number."""
        added = 0
        for file in self.files:
            own = [name for name in predicted_practices(predictions) if self.of(name) is file]
            added += file.keep_forecasts(of_practices(predictions, own)) if own else 0
        return added

    def commit(self, run_id: str, practice_id: str, endpoint: Endpoint, work: Sequence[Save]) -> Changes:
        """Commit changes of one list."""
        return self.of(practice_id).commit(run_id, practice_id, endpoint, work)

    def take_in(self, run_id: str, intakes: Sequence[Intake]) -> Changes:
        """Store received rows in one transaction in each file; a repetition changes nothing."""
        changes = Changes()
        for file in self.files:
            own = [item for item in intakes if self.of(item.practice_id) is file]
            changes += file.take_in(run_id, own) if own else Changes()
        return changes

    def due_messages(self, practice_id: str, now: datetime, limit: int) -> list[str]:
        """Return the messages that are due to be read by id."""
        return self.of(practice_id).due_messages(practice_id, now, limit)

    def due_requests(self, practice_id: str, endpoint: Endpoint, now: datetime, limit: int) -> list[str]:
        """Return the outreach requests that are due to be read by id."""
        return self.of(practice_id).due_requests(practice_id, endpoint, now, limit)

    def keep_looks(self, practice_id: str, endpoint: Endpoint, ids: Sequence[str], now: datetime) -> None:
        """Store that these ids were requested now."""
        self.of(practice_id).keep_looks(practice_id, endpoint, ids, now)

    def acknowledge(self, rows: Sequence[QuarantinedRow], reason: str) -> None:
        """Mark rows in quarantine as known, each in the file of its practice."""
        for file in self.files:
            file.acknowledge([row for row in rows if self.of(row.practice_id) is file], reason)

    def is_about(self, practice_id: str, text: str) -> bool:
        """Return whether a text of a practice mentions a forgotten person."""
        return self.of(practice_id).people.pseudonyms.mentions_in(practice_id, text)

    def quarantined_rows(self) -> list[QuarantinedRow]:
        """Return the rows in quarantine."""
        return [row for file in self.files for row in file.quarantined_rows()]


def is_to_be_moved(settings: Settings) -> bool:
    """Return whether practices have to be moved to other shards by `vetl.toml`."""
    return not is_arranged(read_layout(settings.warehouse.path), layout_of(settings))


def layout_of(settings: Settings) -> Layout:
    """Return the practices of each shard by `vetl.toml`, empty if there is one file for all practices."""
    shards = settings.warehouse.shards
    if not isinstance(shards, int):
        return shards
    if shards == 1:
        return {}
    current = read_layout(settings.warehouse.path)
    return _balanced([practice.id for practice in settings.practices], shards, current)


def _balanced(practices: Sequence[str], shards: int, current: Layout) -> dict[str, list[str]]:
    """Distribute practices equally over shards, and move as few of them as possible."""
    before = {practice: name for name, own in current.items() for practice in own}
    placed: dict[str, list[str]] = {str(number): [] for number in range(1, shards + 1)}
    most = ceil(len(practices) / shards)
    left: list[str] = []
    for practice in practices:
        own = placed.get(before.get(practice, ""))
        (left if own is None or len(own) == most else own).append(practice)
    for practice in left:
        min(placed.values(), key=len).append(practice)
    return placed


def _part(settings: Settings, name: str, own: Sequence[str]) -> Settings:
    practices_by_id: dict[str, Practice] = {practice.id: practice for practice in settings.practices}
    file = shard_file(settings.warehouse.path, name)
    return settings.model_copy(
        update={
            "warehouse": settings.warehouse.model_copy(update={"path": file, "shards": 1}),
            "practices": tuple(practices_by_id[practice] for practice in own),
        }
    )
