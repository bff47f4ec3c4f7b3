"""Rows of every raw table, drawn from a seed: possible rows of the source, awkward values included."""

from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from random import Random
from zoneinfo import ZoneInfo

from support.random_rows_beside import (
    ZONES,
    Row,
    Tables,
    random_acts,
    random_deliveries,
    random_forecasts,
    random_headlines,
)
from vetl.core.list_read import Practice

GROUPS = {"ny": "coast", "syd": "coast", "empty": "quiet"}
PRACTICES = tuple(
    Practice(id=key, name=key, time_zone=zone, history_start=date(2025, 1, 1), group=GROUPS.get(key))
    for key, zone in {**ZONES, "empty": "Europe/London"}.items()
)
"""Rows are drawn for those in `ZONES`, and for a practice that is no longer configured, but not for `empty`."""

SOURCE_CLOCK = datetime(2025, 11, 12, 12, tzinfo=UTC)
CLOCKS = (SOURCE_CLOCK - timedelta(days=1), SOURCE_CLOCK, None)
"""The source's clock at the end of each run; the last run never reached the source."""

_FIRST = datetime(2025, 10, 27, tzinfo=UTC)  # New York leaves summer time on 2 November

_CLIENTS = 220
_PATIENTS = 300
"""Those of appointments; reminders are about the first of them, so that some are booked before and after."""
_STAGES = ["started", "pet_details", "slot_selected", "confirmed"]
_SOURCES = ["google", "Google", "mail", " ", "", None]
_REASONS = ["recent_contact", "full_moon", "recent_or_upcoming_appointment", "pet_deceased", "", None]
_CALL_OUTCOMES = [
    *(["appointment_booked", "resolved"] * 4),
    "appointment_rescheduled",
    "appointment_canceled",
    "do_not_call",
]
_OUTCOMES = {
    "completed": ["booked", "booked", "opted_out", "no_response", None],
    "failed": ["undeliverable", None, "", "no_response"],
}


def every_table(seed: int = 20251112) -> Tables:
    """Return the rows of all lists, and of what vetl adds to them."""
    tables = random_tables(seed)
    acts = random_acts(Random(seed), tables, SOURCE_CLOCK)
    forecasts = random_forecasts(Random(seed), SOURCE_CLOCK)
    return {**tables, **acts, **forecasts, **random_headlines(Random(seed), SOURCE_CLOCK)}


def random_tables(seed: int, rows: int = 1500) -> Tables:
    random = Random(seed)
    draws: dict[str, Callable[[Random, str], Row]] = {
        "phone_calls": _call,
        "booking_sessions": _session,
        "appointments": _appointment,
        "ai_outbound_requests": _request,
        "staff_tasks": _task,
        "clients": _client,
        "patients": _patient,
    }
    tables = {table: [_row(random, number, draw) for number in range(rows)] for table, draw in draws.items()}
    for row in tables["clients"]:
        row |= {"remote_id": f"R{row['id']}", "phone": _phone(random, int(row["id"]))}
    _book_in_calls(random, tables)
    return {
        **tables,
        **random_deliveries(Random(seed), tables, SOURCE_CLOCK),
        **random_history(Random(seed), tables),
    }


def _book_in_calls(random: Random, tables: Tables) -> None:
    """Move some appointments to within an hour of a call of the same client, or a little more."""
    candidates = [row for row in tables["phone_calls"] if row["remote_client_id"]]
    for row in random.sample(tables["appointments"], 150):
        here = [call for call in candidates if call["practice_id"] == row["practice_id"]]
        call = random.choice(here)
        after = timedelta(minutes=random.randrange(-5, 90))
        row |= {"remote_client_id": call["remote_client_id"], "created_at": call["called_at"] + after}


def random_history(random: Random, tables: Tables) -> Tables:
    """Return earlier versions of some rows: at most two each, the later one until the row was loaded."""
    changes: dict[str, Callable[[Random, Row], Row]] = {
        "booking_sessions": lambda random, row: {
            "stage": _earlier_stage(random, row["stage"]),
            "status": "active",
        },
        "staff_tasks": lambda random, _: {"status": random.choice(["pending", "completed", "canceled", None])},
        "phone_calls": lambda random, _: {"booked": False, "booking_intent": random.choice([True, None])},
    }
    return {
        f"history.{table}": list(_superseded(random, tables[table], change)) for table, change in changes.items()
    }


def _superseded(random: Random, rows: list[Row], change: Callable[[Random, Row], Row]) -> Iterator[Row]:
    for row in rows:
        until = row["_loaded_at"]
        for _ in range(random.choice([0, 0, 0, 1, 2])):
            since = until - timedelta(hours=1 + random.randrange(100))
            yield {**row, **change(random, row), "_deleted_at": None, "_valid_from": since, "_valid_to": until}
            until = since


def _earlier_stage(random: Random, stage: str | None) -> str | None:
    """Return mostly an earlier stage; sometimes a session goes back."""
    place = _STAGES.index(stage) if stage in _STAGES else 0
    return random.choice([*_STAGES[: max(place, 1)] * 4, *_STAGES, None])


def _row(random: Random, number: int, draw: Callable[[Random, str], Row]) -> Row:
    practice = random.choice([*ZONES, "gone"])
    return {
        "practice_id": practice,
        "id": str(number),
        **draw(random, practice),
        "_loaded_at": SOURCE_CLOCK - timedelta(hours=random.randrange(24)),
        "_deleted_at": SOURCE_CLOCK if random.random() < 0.1 else None,
    }


def _instant(random: Random) -> datetime:
    return _FIRST + timedelta(microseconds=random.randrange(16 * 86_400_000_000))


def _later(random: Random, start: datetime | None, hours: float) -> datetime | None:
    """Return some time after, or None; always None without a beginning."""
    if start is None or random.random() < 0.2:
        return None
    return start + timedelta(hours=random.random() * hours)


def _created(random: Random) -> datetime | None:
    return _instant(random) if random.random() < 0.97 else None


def _call(random: Random, practice: str) -> Row:
    instant = _instant(random)
    minute = instant.replace(second=0, microsecond=0)
    local = minute.astimezone(ZoneInfo(ZONES.get(practice, "UTC"))).replace(tzinfo=None)
    is_detailed = random.random() < 0.5
    client = random.randrange(_CLIENTS)
    return {
        "call_date": local.date(),
        "call_key": f"{random.getrandbits(64):016x}",
        "called_at_local": local,
        "called_at": minute,
        "direction": random.choice(["inbound", "outbound", "", None]),
        "state": random.choice(["completed", "no_answer", "in_progress", "teleported"]),
        "caller_type": random.choice(["existing", "new", "unknown", None]),
        "call_classification": random.choice(["scheduling", "prescription_refill", "emergency", "", None]),
        "booking_intent": random.choice([True, True, False, None]),
        "booked": random.choice([True, False, False, None]),
        "outcome": random.choice([*_CALL_OUTCOMES, "", None]),
        "duration_seconds": random.randrange(600),
        "id": f"call-{random.getrandbits(64):016x}" if is_detailed else None,
        "created_at": instant if is_detailed else None,
        "client_id": str(client) if is_detailed else None,
        "patient_id": str(random.randrange(2000)) if is_detailed and random.random() < 0.5 else None,
        "remote_patient_id": f"P{random.randrange(900)}-7" if is_detailed and random.random() < 0.5 else None,
        "customer_sentiment": random.choice(["positive", "", None]),
        "remote_client_id": _remote_id(random, client) if is_detailed else None,
        "phone_number": _phone(random, client),
    }


def _session(random: Random, _practice: str) -> Row:
    created = _created(random)
    return {
        "status": random.choice(["active", "completed", "completed", "abandoned", "paused", None]),
        "stage": random.choice([*_STAGES, "", None]),
        "client_type": random.choice(["new", "existing", "", None]),
        "appointment_id": random.choice([str(random.randrange(1500)), "", None]),
        "remote_appointment_id": random.choice([f"A{random.randrange(1500)}", "", None]),
        "referral_source": random.choice(_SOURCES),
        "referral_campaign": random.choice(["spring", "", None]),
        "referral_medium": random.choice(["cpc", None]),
        "created_at": created,
        "updated_at": _later(random, created, 30),
        "last_activity_at": _later(random, created, 1),
    }


def _appointment(random: Random, _practice: str) -> Row:
    created = _created(random)
    client = random.randrange(_CLIENTS)
    return {
        "remote_id": f"A{random.randrange(1500)}",
        "remote_client_id": random.choice([_remote_id(random, client), "", None]),
        "remote_patient_id": random.choice([f"P{random.randrange(_PATIENTS)}-7", "", None]),
        "client_phone": _phone(random, client),
        "status": random.choice(["REQUESTED", "COMPLETED", "COMPLETED", "CANCELED", "NO_SHOW", ""]),
        # Some clients came long ago only: they have lapsed.
        "booking_date": _later(
            random, created - timedelta(days=450) if created and client % 7 == 3 else created, 500
        ),
        "created_at": created,
        "updated_at": _later(random, created, 100),
        "referral_source": random.choice(_SOURCES),
        "client_email": random.choice(["zoë@example.org", "", None]),
        "client_type": ("new", "existing", "existing", "")[client % 4],
    }


def _request(random: Random, _practice: str) -> Row:
    created = _created(random)
    status = random.choice(["received", "queued", "completed", "completed", "suppressed", "failed", "paused"])
    ended = status in {"completed", "suppressed", "failed"}
    client = random.randrange(_CLIENTS)
    return {
        "channel": random.choice(["sms", "voice", "", None]),
        "purpose": random.choice(["scheduling", "refill", "recall", None]),
        "status": status,
        "outcome": random.choice(_OUTCOMES.get(status, [None])),
        "suppression_reason": random.choice(_REASONS) if status == "suppressed" else None,
        "client_id": str(client) if random.random() < 0.9 else None,
        "contact_number": _phone(random, client),
        "contacted_at": _later(random, created, 10) if status != "suppressed" else None,
        "completed_at": _later(random, created, 96) if ended else None,
        "created_at": created,
    }


def _task(random: Random, _practice: str) -> Row:
    created = _created(random)
    status = random.choice(["pending", "completed", "canceled"])
    return {
        "task_type": random.choice(["task", "rx_refill"]),
        "status": status,
        "client_id": random.choice([str(random.randrange(_CLIENTS)), "", None]),
        "cancellation_allowed": random.choice([True, False, None]),
        "finalized_at": _later(random, created, 200) if status != "pending" else None,
        "created_at": created,
    }


def _client(random: Random, _practice: str) -> Row:
    return {
        "name": random.choice(["Siobhán O'Neill", "", None]),
        "patients": random.choice(['[{"id": "1"}, {"id": "2"}]', "[]", None]),
    }


def _remote_id(random: Random, client: int) -> str:
    """Return the id qualified with the server's id; sometimes another client's."""
    return f"R{client if random.random() < 0.98 else random.randrange(_CLIENTS)}-7"


def _phone(random: Random, client: int) -> str | None:
    """Return a client's number in one of its spellings; every tenth shares it with another."""
    number = f"555{client - client % 10 if client % 10 == 1 else client:04}"
    told = [f"+1212{number}", f"(212) {number[:3]}-{number[3:]}", f"212.{number}", f"+1 212 {number}"]
    spellings = [*told, *told, "anonymous", "+266696687", "+10000000000", "", None]
    return random.choice(spellings)


def _patient(random: Random, _practice: str) -> Row:
    return {"client_id": str(random.randrange(2000)), "species": random.choice(["Dog", "Cat", "", None])}
