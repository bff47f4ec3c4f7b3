"""Appointments; the list is "proposed" and may vanish (contract: Appointments, Versioning)."""

from pipelines.core.endpoint import Endpoint, UpdatedWindows
from pipelines.partner.models import Appointment

APPOINTMENTS = Endpoint(
    name="appointments",
    path="appointments",
    table="appointments",
    record=Appointment,
    strategy=UpdatedWindows(),
    may_be_withdrawn=True,
)
