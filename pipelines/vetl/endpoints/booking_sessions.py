"""Online booking sessions, which expire without a new `updated_at` (contract: Booking sessions)."""

from vetl.core.endpoint import Endpoint, UpdatedWindows
from vetl.partner.models import BookingSession

BOOKING_SESSIONS = Endpoint(
    name="booking_sessions",
    path="booking_sessions",
    table="booking_sessions",
    record=BookingSession,
    strategy=UpdatedWindows(derived_from="active", final=("completed", "abandoned")),
)
