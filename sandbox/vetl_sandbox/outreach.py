"""AI outbound requests that were created here: gates, dispatch, a conversation, silence, the sweeper.

Contract: States and transitions, AI outbound request. The number decides how a conversation goes
(`vetl_sandbox.messages.numbers`); this module decides how long its parts take.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Final

from vetl_sandbox.ground import Ground
from vetl_sandbox.messages.numbers import behaviour
from vetl_sandbox.resources.resource import Record
from vetl_sandbox.world.practices import Practice

QUEUED_AFTER: Final = timedelta(seconds=2)
DISPATCHED_AFTER: Final = timedelta(minutes=20)
REFUSED_AFTER: Final = timedelta(minutes=1)
RESOLVED_AFTER: Final = timedelta(hours=1)
NO_RESPONSE_AFTER: Final = timedelta(hours=48)
SWEPT_AFTER: Final = timedelta(hours=96)
FINAL: Final = ("completed", "suppressed", "failed")
_OPENS, _CLOSES = 8, 21


class Outreach:
    """The life of requests from their creation to their end.

    `closed` returns the gate that blocks a request now, `book` makes an appointment for a request. `finished` is
    called with each request that has reached its end, and its appointment.
    """

    def __init__(
        self,
        ground: Ground,
        closed: Callable[[Practice, Record], str | None],
        book: Callable[[Practice, Record], str | None],
        finished: Callable[[Practice, Record, str | None], None],
    ) -> None:
        self._ground = ground
        self._closed = closed
        self._book_for = book
        self._finished = finished

    def accept(self, practice: Practice, row_id: str) -> None:
        """Suppress a request that was just written at intake, or send it on its way."""
        request = self._open(practice, row_id)
        gate = self._closed(practice, request) if request else None
        if gate is not None:
            self._finish(practice, row_id, status="suppressed", suppression_reason=gate)
            return
        self._after(QUEUED_AFTER, lambda: self._queue(practice, row_id))
        self._after(SWEPT_AFTER, lambda: self._sweep(practice, row_id))

    def _queue(self, practice: Practice, row_id: str) -> None:
        request = self._open(practice, row_id)
        if request is None:
            return
        self._write(practice, row_id, {"status": "queued"})
        if behaviour(request["contact_number"]) != "never_dispatched":
            sent = within_hours(self._ground.now() + DISPATCHED_AFTER, practice)
            self._ground.agenda.add(sent, lambda: self._dispatch(practice, row_id))

    def _dispatch(self, practice: Practice, row_id: str) -> None:
        request = self._open(practice, row_id)
        if request is None:
            return
        special = behaviour(request["contact_number"])
        gate = "client_inactive" if special == "inactive" else self._closed(practice, request)
        if gate is not None:
            self._finish(practice, row_id, status="suppressed", suppression_reason=gate)
            return
        self._write(practice, row_id, {"status": "in_progress", "contacted_at": self._ground.now()})
        if special == "books":
            self._after(RESOLVED_AFTER, lambda: self._book(practice, row_id))
        else:
            after, end = _ENDS.get(special or "", _SILENCE)
            self._after(after, lambda: self._finish(practice, row_id, **end))

    def _book(self, practice: Practice, row_id: str) -> None:
        request = self._open(practice, row_id)
        if request is not None:
            booked = self._book_for(practice, request)
            self._finish(practice, row_id, booked, status="completed", outcome="booked")

    def _sweep(self, practice: Practice, row_id: str) -> None:
        message = "Dispatch did not complete within 96 hours"
        self._finish(practice, row_id, status="failed", error_message=message)

    def _finish(self, practice: Practice, row_id: str, appointment_id: str | None = None, **end: Any) -> None:  # noqa: ANN401 - fields
        if self._open(practice, row_id) is None:
            return
        self._write(practice, row_id, {**end, "completed_at": self._ground.now()})
        request = self._get(practice, row_id)
        assert request is not None
        self._finished(practice, request, appointment_id)

    def _get(self, practice: Practice, row_id: str) -> Record | None:
        ground = self._ground
        with ground.lock:
            return ground.table(practice.id, "ai_outbound").get(row_id, ground.now(), ground.switches)

    def _write(self, practice: Practice, row_id: str, changes: dict[str, Any]) -> None:
        ground = self._ground
        with ground.lock:
            ground.table(practice.id, "ai_outbound").update(row_id, changes, ground.now(), ground.switches)

    def _open(self, practice: Practice, row_id: str) -> Record | None:
        """Return the request, or None if it has ended."""
        request = self._get(practice, row_id)
        return None if request is None or request["status"] in FINAL else request

    def _after(self, wait: timedelta, work: Callable[[], None]) -> None:
        self._ground.agenda.add(self._ground.now() + wait, work)


_SILENCE: Final = (NO_RESPONSE_AFTER, {"status": "completed", "outcome": "no_response"})
_ENDS: Final = {
    "replies_once": (RESOLVED_AFTER + NO_RESPONSE_AFTER, _SILENCE[1]),  # the quiet window begins again
    "blocked": (
        REFUSED_AFTER,
        {
            "status": "failed",
            "outcome": "undeliverable",
            "error_message": "The carrier reports that the number cannot receive SMS",
        },
    ),
    "replies_stop": (RESOLVED_AFTER, {"status": "completed", "outcome": "opted_out"}),
    "pet_deceased": (RESOLVED_AFTER, {"status": "suppressed", "suppression_reason": "pet_deceased"}),
    "stopped": (RESOLVED_AFTER, {"status": "suppressed", "suppression_reason": "stopped"}),
}


def within_hours(at: datetime, practice: Practice) -> datetime:
    """Return the instant itself, or the next opening of the practice's sending hours."""
    local = at.astimezone(practice.zone)
    if _OPENS <= local.hour < _CLOSES:
        return at
    opening = local.replace(hour=_OPENS, minute=0, second=0, microsecond=0)
    return opening if local.hour < _OPENS else opening + timedelta(days=1)
