"""How each list of each practice stands, from the snapshot beside the warehouse: no lock is waited for."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pipelines import bundled
from pipelines.loading.control.snapshot import read_snapshot
from pipelines.settings import Settings


@dataclass(frozen=True, slots=True)
class Standing:
    """One list of one practice that was tried. `read_at`: when it was last read without failing, if ever."""

    practice_id: str
    endpoint: str
    state: str
    reason: str
    read_at: datetime | None
    quarantined: int
    drift: tuple[str, ...]


def standings(settings: Settings) -> list[Standing]:
    """Every configured practice's lists, as the last commit left them; nothing before the first sync.

    Raises:
        WarehouseError: the snapshot cannot be read, or a newer vetl has written it.
    """
    snapshot = read_snapshot(settings.warehouse.path, bundled.migrations())
    configured = {practice.id for practice in settings.practices}
    if snapshot is None:
        return []
    refused = snapshot.not_started["error"] if snapshot.not_started else None
    return [
        _standing(entry, refused)
        for entry in snapshot.lists
        if entry["practice_id"] in configured and entry.get("attempt")
    ]


def _standing(entry: dict[str, Any], refused: str | None) -> Standing:
    """`refused`: why a later sync could not begin; it would have read this list."""
    attempt: dict[str, Any] = entry["attempt"]
    read_at = attempt["finished"] if attempt["state"] != "failed" else entry["last_read"]
    return Standing(
        practice_id=entry["practice_id"],
        endpoint=entry["endpoint"],
        state="failed" if refused else attempt["state"],
        reason=refused or attempt["reason"],
        read_at=datetime.fromisoformat(read_at) if read_at else None,
        quarantined=entry["quarantined"],
        drift=tuple(entry["drift"]),
    )
