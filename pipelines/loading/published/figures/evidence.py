"""Return what a figure rests on: the freshness and the certificate of each list that its rows come from."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from pipelines.loading.connection import literal
from pipelines.loading.published.query import Read


@dataclass(frozen=True, slots=True)
class Evidence:
    """The proof of one list of one practice, from `marts.proof`. `as_of` is the practice's last sync."""

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
        f" from marts.proof join marts.practices using (practice_id)"
        f" where endpoint in ({named}) and ({practices}) order by practice_id, endpoint",
    ).rows
    return [Evidence(*row) for row in rows]
