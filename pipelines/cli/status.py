"""`vetl status`: how every list stands, without disturbing a running sync."""

import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from pipelines import bundled
from pipelines.cli.terminal import TableColumn, count, print_aside, print_json, print_line, print_table, say, short
from pipelines.cli.times import ago, local, zone
from pipelines.core.errors import ConfigurationError, InboxError, WarehouseError, WrongUse
from pipelines.endpoints.received import RECEIVED
from pipelines.loading.control.snapshot import Snapshot, read_snapshot
from pipelines.loading.file_header import what_is_wrong
from pipelines.loading.layout import written_files
from pipelines.receiving.inbox import look
from pipelines.settings import load_settings

_RECEIVED = {endpoint.name for endpoint in RECEIVED}
_LOOKS_EVERY = 2.0
"""Seconds, with `--watch`."""
_WORST_FIRST = ("failed", "uncertified", "not read", "withdrawn", "certified")
_FINE = {"certified", "withdrawn", "received"}

COLUMNS = (
    "practice",
    "list",
    "state",
    "certified until",
    TableColumn("last read", 2),
    TableColumn("rows", 1),
    TableColumn("open", 5),
    TableColumn("quarantined", 3),
    TableColumn("restated", 6),
    TableColumn("drift", 4),
    TableColumn("last window proven by", 7),
)


@dataclass(frozen=True, slots=True)
class StatusReport:
    """Everything that is told: the lists, the inbox, and what is wrong, a line each. `exit_code`: see `status`."""

    warehouse: Path
    snapshot: Snapshot
    inbox: dict[str, Any] | None
    wrong: tuple[str, ...]
    exit_code: int

    @property
    def error(self) -> str | None:
        """What is wrong, in one line."""
        return "; ".join(self.wrong) or None

    @property
    def summary(self) -> str:
        """One line that sums up."""
        read = [item for item in self.snapshot.lists if item["endpoint"] not in _RECEIVED]
        states = Counter(_state(item) for item in read)
        practices = len({item["practice_id"] for item in read})
        parts = [f"{states[state]} {state}" for state in _WORST_FIRST if states[state]]
        held = sum(item["quarantined"] for item in self.snapshot.lists)
        parts += [f"{count(held, 'row')} quarantined"] if held else []
        lists = f"{count(len(read), 'list')} of {count(practices, 'practice')}: {', '.join(parts)}"
        return f"{lists}; {_last_run(self.snapshot)}"

    def as_json(self) -> dict[str, Any]:
        """The same as plain JSON values."""
        document = {
            "exit_code": self.exit_code,
            "summary": self.summary,
            "warehouse": self.warehouse,
            "written_at": self.snapshot.written_at,
            "run": self.snapshot.run,
            "lists": self.snapshot.lists,
            "inbox": self.inbox,
        }
        return {**document, "error": self.error} if self.wrong else document


def status(practices: Sequence[str] | None, *, watch: bool, as_json: bool) -> int:
    """`vetl status`: what the last commit left beside the warehouse. The inbox is asked itself.

    Exit codes: 1 where the last attempt of a list or of a whole sync failed, or the warehouse is gone or broken;
    3 where something is uncertified, never read or quarantined; else 0.
    """
    if watch and as_json:
        raise WrongUse("--watch is for people; with --json, ask as often as you like")
    settings = load_settings()
    if watch:
        return _watch(settings.warehouse.path, settings.webhooks.inbox, practices)
    standing = look_at(settings.warehouse.path, settings.webhooks.inbox, practices)
    if as_json:
        print_json(standing.as_json())
    else:
        show(standing)
    return standing.exit_code


def _watch(warehouse: Path, inbox: Path, practices: Sequence[str] | None) -> int:
    """Show it again and again until interrupted, which is how it is meant to end."""
    code = 0
    console = Console()
    try:
        while True:
            standing = look_at(warehouse, inbox, practices)
            console.clear()
            show(standing)
            sys.stdout.flush()
            code = standing.exit_code
            time.sleep(_LOOKS_EVERY)
    except KeyboardInterrupt:
        return code


def look_at(warehouse: Path, inbox_file: Path, practices: Sequence[str] | None = None) -> StatusReport:
    """How things stand now, of these practices alone where some are named.

    Raises:
        WarehouseError: nothing has been synced or received yet, or a newer vetl wrote the warehouse.
        ConfigurationError: there is nothing of a practice that is named.
    """
    inbox = inbox_status(inbox_file)
    snapshot = read_snapshot(warehouse, bundled.migrations())
    if snapshot is None:
        if not inbox:
            raise WarehouseError(f"{warehouse}: nothing has been synced yet; run `vetl sync`")
        return StatusReport(warehouse, Snapshot(), {**inbox, "quarantined": 0}, (), 0)
    if inbox:
        inbox["quarantined"] = sum(item["quarantined"] for item in snapshot.lists if item["endpoint"] in _RECEIVED)
    broken = [broken_warehouse(file) for file in written_files(warehouse) or [warehouse]]
    wrong = tuple(filter(None, (*broken, _cut_short(snapshot))))
    snapshot = _narrowed(snapshot, practices)
    return StatusReport(warehouse, snapshot, inbox, wrong, 1 if wrong else _verdict(snapshot))


def _narrowed(snapshot: Snapshot, practices: Sequence[str] | None) -> Snapshot:
    practice_ids = dict.fromkeys(item["practice_id"] for item in snapshot.lists)
    for name in practices or ():
        if name not in practice_ids:
            raise ConfigurationError(
                f"practice {name} has nothing in the warehouse; known are {', '.join(practice_ids)}"
            )
    lists = [item for item in snapshot.lists if not practices or item["practice_id"] in practices]
    return Snapshot(lists, snapshot.written_at, snapshot.run, snapshot.not_started)


def _cut_short(snapshot: Snapshot) -> str | None:
    """Why the last sync could not begin, or that it ended without a result for any list."""
    run = snapshot.run
    if snapshot.not_started:
        return f"the last sync could not begin, {ago(snapshot.not_started['at'])}: {snapshot.not_started['error']}"
    if not run or not run["finished_at"] or run["exit_code"] != 1:
        return None
    if any((item["attempt"] or {}).get("run_id") == run["run_id"] for item in snapshot.lists):
        return None
    return f"the last {run['command']} ended early, {ago(run['finished_at'])}; what was committed stays"


def _verdict(snapshot: Snapshot) -> int:
    states = {_state(item) for item in snapshot.lists}
    if "failed" in states:
        return 1
    held = any(item["quarantined"] for item in snapshot.lists)
    return 3 if held or not states <= _FINE else 0


def show(standing: StatusReport) -> None:
    """The sum first, then a line for each list; below, what is not as it should be."""
    print_table(standing.summary, COLUMNS, [_row(item) for item in standing.snapshot.lists])
    if standing.snapshot.lists:
        written = standing.snapshot.written_at
        as_of = f"as of {local(written)}; " if written else ""
        print_aside(f"{as_of}times in {zone()}; {short(standing.warehouse)}")
    _show_inbox(standing.inbox)
    for item in standing.snapshot.lists:
        if _state(item) not in {*_FINE, "not read"}:
            attempt = item["attempt"]
            where = f"{item['practice_id']} {item['endpoint']}"
            say(f"{where}: {attempt['state']} {ago(attempt['finished'])}: {attempt['reason']}")
    for line in standing.wrong:
        say(line)


def _row(item: Mapping[str, Any]) -> tuple[object, ...]:
    attempt, certificate = item.get("attempt") or {}, item["certificate"] or {}
    return (
        item["practice_id"],
        item["endpoint"],
        _state(item),
        local(item["certified_through"]),
        *(local(attempt.get("finished")), item["rows"], item["open"]),
        item["quarantined"],
        item["restated"],
        "; ".join(item["drift"]),
        certificate.get("reason"),
    )


def _state(item: Mapping[str, Any]) -> str:
    """A snapshot of vetl 0.1.0 tells only how the last window was read."""
    if "state" in item:
        return item["state"]
    certificate = item["certificate"]
    if certificate is None:
        return "received" if item["endpoint"] in _RECEIVED else "not read"
    return "certified" if certificate["certified"] else "uncertified"


def _last_run(snapshot: Snapshot) -> str:
    run = snapshot.run
    if snapshot.not_started:
        return f"the last sync could not begin, {ago(snapshot.not_started['at'])}"
    if run is None:
        read = any(item["certificate"] for item in snapshot.lists)
        return "the last sync was an older vetl's" if read and not snapshot.written_at else "nothing synced yet"
    if run["finished_at"]:
        failed = " failed" if run["exit_code"] == 1 else ""
        return f"last {run['command']}{failed} {ago(run['finished_at'])}"
    return f"a {run['command']} began {ago(run['started_at'])} and runs on, or was killed"


def _show_inbox(inbox: Mapping[str, Any] | None) -> None:
    if not inbox:
        return
    if inbox["error"]:
        say(inbox["error"])
        return
    parts = [f"{count(inbox['waiting'], 'webhook')} waiting"]
    parts += [f"the oldest since {local(inbox['oldest'])}"] if inbox["oldest"] else []
    parts += [f"the last came {local(inbox['last_received'])}"] if inbox["last_received"] else []
    parts += [f"{inbox['quarantined']} quarantined"] if inbox.get("quarantined") else []
    print_line(f"{', '.join(parts)}; {short(inbox['path'])}")


def broken_warehouse(path: Path) -> str | None:
    """Why the file is no database that the snapshot could be of, in one line; `None` where it looks like one."""
    try:
        why = what_is_wrong(path)
    except OSError as error:
        why = f"cannot be read: {error.strerror}"
    shown = "the table is what the last commit left beside it; restore the file, or move both away and sync anew"
    return f"{path}: {why}; {shown}" if why else None


def inbox_status(path: Path) -> dict[str, Any] | None:
    """What waits in the inbox, or why it cannot be read; `None` where there is no inbox."""
    if not path.exists():
        return None
    document: dict[str, Any] = {"path": path, "waiting": None, "oldest": None, "last_received": None}
    try:
        backlog = look(path)
    except InboxError as error:
        return {**document, "error": str(error)}
    return {
        **document,
        "waiting": backlog.waiting,
        "oldest": backlog.oldest,
        "last_received": backlog.last_received,
        "error": None,
    }
