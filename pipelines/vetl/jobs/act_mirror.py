"""Copy the ledger of `vetl act` into the private file, for the marts."""

from collections.abc import Iterable

from vetl.acting.acts import LedgerEntry
from vetl.acting.ledger import read_ledger
from vetl.core.errors import LedgerError
from vetl.jobs.one_writer import opened
from vetl.settings import Settings
from vetl.store.control.acts import KeptAct
from vetl.store.warehouse import Warehouse


def mirror_ledger(settings: Settings) -> None:
    """Copy the acts of the ledger before a build. A ledger that cannot be read is no reason not to build."""
    try:
        entries = read_ledger(settings.act.ledger)
    except LedgerError:
        return  # `vetl status` and `vetl act` name it
    if entries:
        with opened(settings) as warehouse:
            mirror(warehouse, entries)


def mirror(warehouse: Warehouse, entries: Iterable[LedgerEntry]) -> None:
    """Copy these acts into the private file."""
    warehouse.keep_acts([_kept(entry) for entry in entries])


def _kept(entry: LedgerEntry) -> KeptAct:
    return KeptAct(
        practice_id=entry.act.practice_id,
        code=entry.act.code,
        kind=entry.act.kind,
        episode_id=entry.act.episode_id or None,
        state=entry.state.value,
        planned_at=entry.planned_at,
        asked_at=entry.asked_at,
        approved_by=entry.approved_by,
        certified_through=entry.certified_through,
        task_id=entry.task_id,
        found_by=entry.found_by,
    )
