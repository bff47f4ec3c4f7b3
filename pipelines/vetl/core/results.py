"""The results of a sync, for the terminal and for Dagster."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Literal

from vetl.core.pages import Changes

State = Literal["certified", "uncertified", "withdrawn", "failed"]


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of one list of one practice; `total` is `None` while it is unknown.

    `done` counts a row each time it is read; `new`, `changed` and `requests` are set at the end.
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
    """The reason why a sync waits, in words; empty once the sync continues."""

    what: str = ""


ReportProgress = Callable[[Progress | Waiting], None]
"""A sync calls it often, in its own thread."""


@dataclass(frozen=True, slots=True)
class EndpointResult:
    """The result for one list of one practice; `rows` counts the rows of its raw table that are not deleted.

    `reason` explains the state. `retryable`: the list failed, but the same sync may work later. `held` counts the
    rows of this list in quarantine, from this sync and earlier ones. `retries` counts the requests that repeated
    an earlier request, and `bytes` is the decompressed size of all answers.
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
    """The result of one run of `sync`; `source_clock` is the platform's clock, `None` if it was never reached.

    `sign_ins` counts the sign-ins of the run. `doubts` are lines about the whole platform that leave the run
    uncertified; `notes` are lines without effect on the exit code.
    """

    run_id: str
    source_clock: datetime | None
    results: tuple[EndpointResult, ...]
    sign_ins: int = 0
    doubts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """Return 1 if a list failed, 3 if a list is uncertified or has rows in quarantine, and else 0."""
        if any(result.state == "failed" for result in self.results):
            return 1
        doubtful = any(result.state == "uncertified" or result.held for result in self.results)
        return 3 if doubtful or self.doubts else 0

    def as_json(self) -> dict[str, Any]:
        """Return the result as plain JSON values, with instants in ISO 8601."""
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
