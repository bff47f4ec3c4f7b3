"""AI outbound contact requests, most recent first (contract: AI outbound requests)."""

from vetl.core.endpoint import Endpoint, NewestFirst
from vetl.partner.models import OutboundRequest

AI_OUTBOUND = Endpoint(
    name="ai_outbound",
    path="ai_outbound/requests",
    table="ai_outbound_requests",
    record=OutboundRequest,
    strategy=NewestFirst(
        statuses=("received", "queued", "in_progress", "completed", "suppressed", "failed"),
        open_statuses=("received", "queued", "in_progress"),
    ),
)
