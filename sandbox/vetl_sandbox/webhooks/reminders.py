"""Service reminder webhooks (contract: Service reminder webhook): due services, by the practice's rules."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final

import numpy as np

from vetl_sandbox.stamps import stamp
from vetl_sandbox.world import vocabulary as v
from vetl_sandbox.world.ids import opaque
from vetl_sandbox.world.people import People
from vetl_sandbox.world.practices import Practice

USER_AGENT: Final = "Service-Reminders/1.0"
_RULES: Final = (("Due in two weeks", 14), ("Due tomorrow", 1), ("A month overdue", -30))
_SERVICES: Final = (
    ("RAB3", "Rabies vaccine, 3 years"),
    ("DHPP", "DHPP booster"),
    ("HWT", "Heartworm test"),
    ("EXAM", "Annual exam"),
    ("Dental cleaning", "Dental cleaning"),  # no remote id: the display name
)
_STATUS_SHARES: Final = (0.85, 0.08, 0.05, 0.02)
_A_DAY: Final = 3.0
_OPENS, _MINUTES = 9, 120


@dataclass(frozen=True)
class Reminder:
    """A rule that triggers at an instant, and its payload."""

    at: datetime
    payload: dict[str, Any]


def reminders_of(practice: Practice, people: People, seed: int, day: date) -> list[Reminder]:
    """Return the reminders of one local day: the same on every call."""
    rng = np.random.default_rng([seed, practice.number, day.toordinal(), 7])
    opens = datetime.combine(day, time(_OPENS), tzinfo=practice.zone).astimezone(UTC)
    return [
        Reminder(
            opens + timedelta(minutes=int(rng.integers(_MINUTES))),
            _payload(practice, people, day, number, rng),
        )
        for number in range(int(rng.poisson(_A_DAY)))
    ]


def _payload(
    practice: Practice, people: People, day: date, number: int, rng: np.random.Generator
) -> dict[str, Any]:
    patient = people.patients.row(int(rng.integers(people.patients.height)), named=True)
    client = people.clients.row(patient["client"], named=True)
    rule, days = _RULES[int(rng.integers(len(_RULES)))]
    due = datetime.combine(day + timedelta(days=days), time(), tzinfo=practice.zone).astimezone(UTC)
    group = (practice.number << 36) + (day.toordinal() << 12) + (number << 4)
    services = rng.choice(len(_SERVICES), int(rng.integers(1, 4)), replace=False)
    payload = {
        "practice_id": practice.id,
        "practice_name": practice.name,
        "id": opaque("srg", group),
        "client_id": str(client["number"]),
        "remote_client_id": client["remote_client_id"],
        "patient_id": str(patient["number"]),
        "remote_patient_id": patient["remote_patient_id"],
        "notification_rule_name": rule,
        "due_at": due,
        "reminders": [
            {
                "id": opaque("rem", group + place),
                "code": _SERVICES[service][0],
                "description": _SERVICES[service][1],
                "due_at": stamp(due),
            }
            for place, service in enumerate(services)
        ],
        "group_status": str(rng.choice(v.REMINDER_STATUSES.values, p=_STATUS_SHARES)),
    }
    if practice.server_id is None:
        return payload
    return payload | {"custom_fields": {"server_id": practice.server_id, "client_id": client["remote_client_id"]}}
