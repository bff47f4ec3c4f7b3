"""Staff tasks. A final task can be reopened (contract: Staff tasks)."""

from vetl.core.endpoint import Endpoint, FullScan
from vetl.partner.models import StaffTask

STAFF_TASKS = Endpoint(
    name="staff_tasks",
    path="staff_tasks",
    table="staff_tasks",
    record=StaffTask,
    strategy=FullScan(statuses=("pending", "completed", "canceled"), open_statuses=("pending",)),
)
