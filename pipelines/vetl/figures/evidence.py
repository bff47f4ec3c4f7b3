"""Return what a figure rests on: the freshness and the certificate of each list that its rows come from."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from vetl.core.names import some_of
from vetl.publishing.query import Read
from vetl.store.connection import literal


@dataclass(frozen=True, slots=True)
class Evidence:
    """The proof of one list of one practice, from `meta.proof`. `as_of` is the practice's last sync."""

    practice_id: str
    endpoint: str
    as_of: datetime | None
    certified_through: datetime | None
    evidence: str | None
    source_count: int | None
    warehouse_count: int
    quarantined_rows: int
    restated_rows: int
    last_reconcile_at: datetime | None


def evidence_of(read: Read, lists: Sequence[str], practices: str = "true") -> list[Evidence]:
    """Return the evidence for these lists, of the practices that the SQL condition `practices` chooses."""
    named = ", ".join(literal(name) for name in lists)
    rows = read(
        "select practice_id, endpoint, as_of, certified_through, evidence, source_count, warehouse_count,"
        " quarantined_rows, restated_rows, last_reconcile_at"
        f" from meta.proof join marts.practices using (practice_id)"
        f" where endpoint in ({named}) and ({practices}) order by practice_id, endpoint",
    ).rows
    return [Evidence(*row) for row in rows]


LATE = timedelta(days=2)
"""A certificate or a practice that is so far behind is stale. A read just after midnight misses one day."""


def doubts_of(read: Read, evidence: Sequence[Evidence]) -> list[str]:
    """Return a line for each reason why rows may be missing, with all lists and practices that it applies to."""
    ((newest,),) = read("select max(as_of) from marts.practices").rows
    lists: dict[tuple[str, str], list[str]] = {}
    for item in evidence:
        for reason in _reasons(item, newest):
            lists.setdefault((reason, item.practice_id), []).append(item.endpoint)
    practices: dict[tuple[str, str], list[str]] = {}
    for (reason, practice_id), names in lists.items():
        practices.setdefault((", ".join(names), reason), []).append(practice_id)
    return [f"{some_of(ids)} {names}: {reason}" for (names, reason), ids in practices.items()]


def _reasons(item: Evidence, newest: datetime | None) -> Iterator[str]:
    """Yield why rows of a list may be missing; `newest` is the newest sync of any practice."""
    if item.certified_through is None:
        yield "no certificate yet"
    elif item.as_of and item.as_of - item.certified_through >= LATE:
        through, synced = item.certified_through.date(), item.as_of.date()
        yield f"stale: certified only through {through}, though synced on {synced}"
    if item.as_of and newest and newest - item.as_of >= LATE:
        yield f"stale: last synced on {item.as_of.date()}, other practices on {newest.date()}"
    if item.quarantined_rows:
        yield f"{item.quarantined_rows:,} rows in quarantine are not counted"
    if item.last_reconcile_at is None:
        yield "not reconciled yet, so late changes may be unseen; vetl reconcile reads them"
