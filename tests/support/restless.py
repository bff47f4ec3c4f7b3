"""A platform that never rests: rows appear, move on and change between any two requests."""

from datetime import datetime
from random import Random
from typing import Any

import sandbox
from sandbox.faults import Faults

FAULTS = (
    sandbox.Fault("status", share=0.02, status=502, body="html"),
    sandbox.Fault("status", share=0.01, status=500),
    sandbox.Fault("rate_limited", share=0.01, wait_seconds=0.1),
    sandbox.Fault("closed", share=0.02),
    sandbox.Fault("truncated_csv", path="*/phone_calls", share=0.1),
    sandbox.Fault("login_page", share=0.01),
    sandbox.Fault("token_revoked", share=0.01),
)
"""All kinds of faults that a patient client gets through."""

PURPOSES = {"booking_sessions": "stage", "appointments": "status", "staff_tasks": "title"}
"""A list whose rows tell when they were changed, and a field to change."""


class Restless(Faults):
    """Faults that come with changes: asked before each request, it first lets something happen."""

    def __init__(self, handle: sandbox.Handle, practice_id: str, seed: int, *, pace: float) -> None:
        super().__init__(FAULTS, seed)
        self._handle, self._practice, self._pace = handle, practice_id, pace
        self._rng = Random(seed)
        self.asleep = False
        self.changes = 0

    def strike(self, path: str, request: str) -> sandbox.Fault | None:
        """What this request meets."""
        if not self.asleep and self._rng.random() < self._pace:
            self.change()
        return None if self.asleep else super().strike(path, request)

    def change(self) -> None:
        """One thing happens at the practice."""
        self.changes += 1
        now = self._handle.now()
        self._rng.choice((self._touch, self._touch, self._appear, self._retell, self._reach_out))(now)

    def _touch(self, now: datetime) -> None:
        name = self._rng.choice(list(PURPOSES))
        row = self._some(name)
        changed = {PURPOSES[name]: f"moved {self.changes}", "updated_at": stamp(now)}
        self._handle.update(self._practice, name, row["id"], changed)

    def _appear(self, now: datetime) -> None:
        name = self._rng.choice(list(PURPOSES))
        fields = {"created_at": stamp(now), "updated_at": stamp(now)}
        status = {
            "staff_tasks": {"status": "pending", "task_type": "task"},
            "appointments": {"status": "REQUESTED"},
        }
        self._handle.insert(self._practice, name, {**fields, **status.get(name, {})})

    def _retell(self, _now: datetime) -> None:
        """Calls change without a trace."""
        row = self._some("phone_calls")
        self._handle.update(self._practice, "phone_calls", row["id"], {"summary": f"retold {self.changes}"})

    def _reach_out(self, now: datetime) -> None:
        fields = {"status": "received", "channel": "sms", "purpose": "general", "created_at": stamp(now)}
        self._handle.insert(self._practice, "ai_outbound", fields)

    def _some(self, name: str) -> dict[str, Any]:
        return self._rng.choice(self._handle.truth(self._practice, name))


def stamp(at: datetime) -> str:
    """An instant as the platform writes it."""
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
