"""What a sync reports, to the terminal and to Dagster alike."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Literal

from pipelines.core.pages import Changes

State = Literal["certified", "uncertified", "withdrawn", "failed"]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far one list of one practice has come. `total` is `None` while nobody can know it.

    `done` counts a row each time that it is read; `new`, `changed` and `requests` are known at the end.
    """

    practice_id: str
    endpoint: str
    done: int
    total: int | None
    phase: str
    new: int = 0
    changed: int = 0
    requests: int = 0


@dataclass(frozen=True, slots=True)
class Waiting:
    """What is waited for while no row can come, in words; nothing once it goes on."""

    what: str = ""


ReportProgress = Callable[[Progress | Waiting], None]
"""Called as a sync goes on, often, from the thread that syncs."""


@dataclass(frozen=True, slots=True)
class EndpointResult:
    """One list of one practice. `rows` is how many rows its raw table holds now, deleted ones left out.

    `reason` says why the state is what it is; `retryable`: it failed, but the same sync may work in a moment;
    `held`: rows of it that are in quarantine now, whichever sync put them there. `requests` are all that were
    sent, `retries` those of them that repeated an earlier one, `bytes` the size of their answers, decompressed.
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
    held: int = 0
    retries: int = 0
    bytes: int = 0


@dataclass(frozen=True, slots=True)
class SyncResult:
    """One run of `sync`. `source_clock` is the platform's clock, `None` where it was never reached.

    `sign_ins` is how often the run signed in; `doubts` are about the platform as a whole, one line each, and leave
    the run uncertain; `notes` are worth a line and no more.
    """

    run_id: str
    source_clock: datetime | None
    results: tuple[EndpointResult, ...]
    sign_ins: int = 0
    doubts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """1: a list failed; 3: one is uncertified or holds rows in quarantine; else 0 (design: commands)."""
        if any(result.state == "failed" for result in self.results):
            return 1
        doubtful = any(result.state == "uncertified" or result.held for result in self.results)
        return 3 if doubtful or self.doubts else 0

    def as_json(self) -> dict[str, Any]:
        """The same as plain JSON values; instants in ISO 8601."""
        return {
            "run_id": self.run_id,
            "source_clock": _iso(self.source_clock),
            "exit_code": self.exit_code,
            "sign_ins": self.sign_ins,
            "doubts": list(self.doubts),
            "notes": list(self.notes),
            "results": [
                {**asdict(result), "certified_through": _iso(result.certified_through)} for result in self.results
            ],
        }


def _iso(instant: datetime | None) -> str | None:
    return None if instant is None else instant.isoformat()
