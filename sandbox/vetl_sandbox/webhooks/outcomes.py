"""AI outbound outcome webhooks (contract: AI outbound outcome webhook): one per request, at its end."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from vetl_sandbox.agenda import Agenda
from vetl_sandbox.webhooks.deliveries import Deliveries, Webhook

USER_AGENT: Final = "Service-AiOutbound/1.0"
_FIELDS: Final = (
    "partner_request_id", "channel", "purpose", "status", "outcome", "suppression_reason", "error_message",
    "client_id", "patient_id", "contacted_at", "completed_at",
)  # fmt: skip


@dataclass
class OutcomeWebhooks:
    """Sends the outcomes of requests. An hourly job re-sends outcomes that are neither delivered nor given up.

    `stuck`: whether queued webhooks wait for that job, as if the platform had been restarted.
    """

    agenda: Agenda
    now: Callable[[], datetime]
    deliveries: Deliveries
    stuck: Callable[[], bool]
    _queued: dict[str, Webhook] = field(default_factory=dict)

    def finished(self, practice_id: str, request: dict[str, Any], appointment_id: str | None, url: str) -> None:
        """Send the outcome of a request that has ended."""
        payload = {
            "event": f"ai_outbound.{request['status']}",
            "request_id": request["id"],
            "clinic_id": practice_id,
            **{name: request[name] for name in _FIELDS},
            "outcome_detail": None if appointment_id is None else {"appointment_id": appointment_id},
        }
        webhook = Webhook("ai_outbound", url, USER_AGENT, practice_id, payload)
        self._queued[request["id"]] = webhook
        self.agenda.add(_next_hour(self.now()), self._reconcile)
        if not self.stuck():
            self._send(request["id"], webhook)

    def _send(self, request_id: str, webhook: Webhook) -> None:
        self.deliveries.send(webhook, then=lambda _: self._done(request_id))

    def _done(self, request_id: str) -> None:
        self._queued.pop(request_id, None)

    def _reconcile(self) -> None:
        for request_id, webhook in list(self._queued.items()):
            self._send(request_id, webhook)


def _next_hour(now: datetime) -> datetime:
    return now.astimezone(UTC).replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)
