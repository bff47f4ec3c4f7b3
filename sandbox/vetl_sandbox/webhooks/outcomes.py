"""AI outbound outcome webhooks (contract: AI outbound outcome webhook): one per request, at its end."""

from typing import Any, Final

from vetl_sandbox.webhooks.deliveries import Webhook

USER_AGENT: Final = "Service-AiOutbound/1.0"
_FIELDS: Final = (
    "partner_request_id", "channel", "purpose", "status", "outcome", "suppression_reason", "error_message",
    "client_id", "patient_id", "contacted_at", "completed_at",
)  # fmt: skip


def outcome_of(practice_id: str, request: dict[str, Any], appointment_id: str | None, url: str) -> Webhook:
    """Return the webhook of a request that has ended."""
    payload = {
        "event": f"ai_outbound.{request['status']}",
        "request_id": request["id"],
        "clinic_id": practice_id,
        **{name: request[name] for name in _FIELDS},
        "outcome_detail": None if appointment_id is None else {"appointment_id": appointment_id},
    }
    return Webhook("ai_outbound", url, USER_AGENT, practice_id, payload)
