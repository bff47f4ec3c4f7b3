"""The registry of all synced lists. A new list is one file here and one line below."""

from vetl.core.endpoint import Endpoint
from vetl.endpoints.ai_outbound import AI_OUTBOUND
from vetl.endpoints.appointments import APPOINTMENTS
from vetl.endpoints.booking_sessions import BOOKING_SESSIONS
from vetl.endpoints.clients import CLIENTS
from vetl.endpoints.patients import PATIENTS
from vetl.endpoints.phone_calls import PHONE_CALLS
from vetl.endpoints.staff_tasks import STAFF_TASKS

REGISTRY: tuple[Endpoint, ...] = (
    PHONE_CALLS,
    BOOKING_SESSIONS,
    APPOINTMENTS,
    AI_OUTBOUND,
    STAFF_TASKS,
    CLIENTS,
    PATIENTS,
)
"""In the order of reading: lists that are read by id come after the lists that mention the ids."""


def by_name(name: str) -> Endpoint:
    """Return the endpoint with this name.

    Raises:
        KeyError: no endpoint has this name.
    """
    return {endpoint.name: endpoint for endpoint in REGISTRY}[name]
