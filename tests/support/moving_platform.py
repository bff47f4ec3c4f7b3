"""A platform that changes all the time: rows appear, advance and change between any two requests."""

from collections.abc import Callable
from datetime import datetime, timedelta
from random import Random
from typing import Any

import vetl_sandbox
from vetl_sandbox.faults import Faults

PASSING = (
    vetl_sandbox.Fault("status", share=0.02, status=502, body="html"),
    vetl_sandbox.Fault("status", share=0.01, status=500),
    vetl_sandbox.Fault("status", share=0.01, status=503),
    vetl_sandbox.Fault("status", share=0.01, status=504, body="html"),
    vetl_sandbox.Fault("rate_limited", share=0.01, wait_seconds=0.1),
    vetl_sandbox.Fault("rate_limited", share=0.005, retry_after="none"),
    vetl_sandbox.Fault("rate_limited", share=0.005, retry_after="date", wait_seconds=0.1),
    vetl_sandbox.Fault("closed", share=0.02),
    vetl_sandbox.Fault("truncated_csv", path="*/phone_calls", share=0.1),
    vetl_sandbox.Fault("login_page", share=0.01),
    vetl_sandbox.Fault("token_revoked", path="*/open_api/*", share=0.01),
    vetl_sandbox.Fault("slow", share=0.02, wait_seconds=0.05),
    vetl_sandbox.Fault("rows_move", share=0.05),
    vetl_sandbox.Fault("csv_bom", path="*/phone_calls", share=0.1),
    vetl_sandbox.Fault("csv_crlf", path="*/phone_calls", share=0.1),
    vetl_sandbox.Fault("csv_column_order", path="*/phone_calls", share=0.1),
    vetl_sandbox.Fault("csv_extra_column", path="*/phone_calls", share=0.1),
)
"""All kinds of faults that a patient client survives, and that leave no wrong rows behind."""

LYING = (
    vetl_sandbox.Fault("unknown_field", share=0.05),
    vetl_sandbox.Fault("missing_field", share=0.03),
    vetl_sandbox.Fault("wrong_type", share=0.03),
    vetl_sandbox.Fault("new_value", share=0.03),
)
"""Answers with a wrong row, which appeared without a trace, so a reconcile removes it again."""

RESTARTS = 0.005
PURPOSES = {"booking_sessions": "stage", "appointments": "status", "staff_tasks": "title"}
"""A list whose rows show when they were changed, and a field to change."""


class Restless(Faults):
    """Faults that come with changes: before each request, rows change.

    `traceless`: rows are changed and deleted in a way that only a reconcile can see. `restart` restarts the
    platform now and then: its connections break, it does not listen for a moment, and every token is invalid.
    """

    def __init__(
        self,
        handle: vetl_sandbox.Handle,
        practice_id: str,
        seed: int,
        *,
        pace: float,
        traceless: bool = False,
        restart: Callable[[float], None] = lambda _: None,
    ) -> None:
        super().__init__((*LYING, *PASSING) if traceless else PASSING, seed)
        self._traceless, self._restart = traceless, restart
        self._handle, self._practice, self._pace = handle, practice_id, pace
        self._rng = Random(seed)
        self.asleep = False
        self.changes = 0

    def strike(self, path: str, request: str) -> vetl_sandbox.Fault | None:
        if self.asleep:
            return None
        if self._rng.random() < self._pace:
            self.change()
        if self._rng.random() < RESTARTS:
            self._handle.platform.revoke_tokens()
            self._restart(self._rng.uniform(0.0, 0.2))
        return super().strike(path, request)

    def change(self) -> None:
        self.changes += 1
        now = self._handle.now()
        happens = [self._touch, self._touch, self._appear, self._retell, self._reach_out]
        self._rng.choice([*happens, self._vanish] if self._traceless else happens)(now)

    def _touch(self, now: datetime) -> None:
        name = self._rng.choice(list(PURPOSES))
        row = self._some(name)
        changed = {PURPOSES[name]: f"moved {self.changes}", "updated_at": stamp(now)}
        self._handle.update(self._practice, name, str(row["id"]), changed)

    def _appear(self, now: datetime) -> None:
        name = self._rng.choice(list(PURPOSES))
        self._handle.insert(self._practice, name, {"created_at": stamp(now), **_fields(name, stamp(now))})

    def _retell(self, _now: datetime) -> None:
        """Change calls without a trace."""
        row = self._some("phone_calls")
        self._handle.update(self._practice, "phone_calls", str(row["id"]), {"summary": f"retold {self.changes}"})

    def _vanish(self, _now: datetime) -> None:
        """Delete a row at the source without a trace."""
        name = self._rng.choice([*PURPOSES, "phone_calls", "ai_outbound"])
        self._handle.delete(self._practice, name, str(self._some(name)["id"]))

    def _reach_out(self, now: datetime) -> None:
        fields = {"created_at": stamp(now), **_fields("ai_outbound", stamp(now))}
        self._handle.insert(self._practice, "ai_outbound", fields)

    def _some(self, name: str) -> dict[str, Any]:
        return self._rng.choice(self._handle.truth(self._practice, name))


def stamp(at: datetime) -> str:
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def tie(handle: vetl_sandbox.Handle, practice_id: str, rng: Random) -> None:
    """Give rows the same time, in every list."""
    for name in (*PURPOSES, "ai_outbound"):
        at = stamp(handle.now() - timedelta(minutes=rng.randint(0, 6 * 24 * 60)))
        for _ in range(rng.choice([0, 2, 9, 30])):
            handle.insert(practice_id, name, {"created_at": at, **_fields(name, at)})


def _fields(name: str, at: str) -> dict[str, str]:
    return {
        "staff_tasks": {"updated_at": at, "status": "pending", "task_type": "task"},
        "appointments": {"updated_at": at, "status": "REQUESTED"},
        "booking_sessions": {"updated_at": at, "last_activity_at": at},
        "ai_outbound": {"status": "received", "channel": "sms", "purpose": "general"},
    }[name]
