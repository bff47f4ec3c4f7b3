"""All lists by name."""

from typing import Final

from vetl_sandbox.resources.ai_outbound import AI_OUTBOUND
from vetl_sandbox.resources.appointments import APPOINTMENTS
from vetl_sandbox.resources.booking_sessions import BOOKING_SESSIONS
from vetl_sandbox.resources.people import CLIENTS, PATIENTS
from vetl_sandbox.resources.phone_calls import PHONE_CALLS
from vetl_sandbox.resources.staff_tasks import STAFF_TASKS

RESOURCES: Final = {
    resource.name: resource
    for resource in (PHONE_CALLS, BOOKING_SESSIONS, APPOINTMENTS, AI_OUTBOUND, STAFF_TASKS, CLIENTS, PATIENTS)
}
