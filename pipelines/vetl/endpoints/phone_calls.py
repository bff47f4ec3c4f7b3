"""Phone calls of the AI voice agent (contract: Phone calls)."""

from vetl.core.endpoint import DateWindows, Endpoint
from vetl.partner.models import CallRow

PHONE_CALLS = Endpoint(
    name="phone_calls",
    path="phone_calls",
    table="phone_calls",
    record=CallRow,
    key=("call_date", "call_key"),
    strategy=DateWindows(),
)
