"""Appointments. The contract marks this list as "proposed", so it may vanish (Appointments, Versioning)."""

from vetl.core.endpoint import Endpoint, UpdatedWindows
from vetl.partner.models import Appointment

APPOINTMENTS = Endpoint(
    name="appointments",
    path="appointments",
    table="appointments",
    record=Appointment,
    strategy=UpdatedWindows(),
    may_be_withdrawn=True,
)
