"""What a sync reports, to the terminal and to Dagster alike."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Literal

from pipelines.pages import Changes

State = Literal["certified", "uncertified", "withdrawn", "failed"]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far one list of one practice has come. `total` is `None` while nobody can know it."""

    practice_id: str
    endpoint: str
    done: int
    total: int | None
    phase: str


Report = Callable[[Progress], None]
"""Called as a sync goes on, often, from the thread that syncs."""


@dataclass(frozen=True, slots=True)
class EndpointResult:
    """One list of one practice. `rows` is how many rows its raw table holds now, deleted ones left out.

    `reason` says why the state is what it is; `retryable`: it failed, but the same sync may work in a moment.
    """

    practice_id: str
    endpoint: str
    state: State
    reason: str
    changes: Changes
    rows: int
    requests: int
    certified_through: datetime | None
    notes: tuple[str, ...] = ()
    retryable: bool = False


@dataclass(frozen=True, slots=True)
class SyncResult:
    """One run of `sync`. `source_clock` is the platform's clock, `None` where it was never reached."""

    run_id: str
    source_clock: datetime | None
    results: tuple[EndpointResult, ...]

    @property
    def exit_code(self) -> int:
        """1: a list failed; 3: one is uncertified, or a row quarantined; else 0 (design: commands)."""
        if any(result.state == "failed" for result in self.results):
            return 1
        if any(result.state == "uncertified" or result.changes.quarantined for result in self.results):
            return 3
        return 0

    def as_json(self) -> dict[str, Any]:
        """The same as plain JSON values; instants in ISO 8601."""
        return {
            "run_id": self.run_id,
            "source_clock": _iso(self.source_clock),
            "exit_code": self.exit_code,
            "results": [
                {**asdict(result), "certified_through": _iso(result.certified_through)} for result in self.results
            ],
        }


def _iso(instant: datetime | None) -> str | None:
    return None if instant is None else instant.isoformat()
