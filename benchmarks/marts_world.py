"""A private warehouse of any size, made by SQL in a minute, for timing builds over it.

Two years of 50 practices; for 20 phone calls two sessions, an appointment, an outreach request and a task. The
facts that matter to the marts are drawn as in a real practice: callers who call again, sessions that name their
appointment, remote ids that carry a server's id.
"""

from collections.abc import Mapping
from datetime import UTC, date, datetime
from pathlib import Path

import duckdb
from vetl.core.list_read import Practice
from vetl.core.pages import Row
from vetl.core.steps import MergeRows, ReplaceDays
from vetl.endpoints import REGISTRY, by_name
from vetl.partner.protocol import CsvAnswer
from vetl.store.control.phone_numbers import note_phone_numbers
from vetl.store.phone_calls.csv_frames import parse_calls
from vetl.store.tables import RawTable, row_hash
from vetl.store.warehouse import Warehouse

from benchmarks.ready_pages import HEADER

PRACTICES = tuple(
    Practice(f"loc-{number:03}", f"Practice {number}", "America/New_York", date(2024, 1, 1), f"Group {number % 5}")
    for number in range(50)
)
CLOCK = datetime(2025, 12, 31, 18, tzinfo=UTC)
DAYS = 730
RUN = "first"

_CALLS = f"""
with drawn as (
    select
        'loc-' || lpad((i // $each)::varchar, 3, '0') as practice_id,
        date '2024-01-02' + (i % $each * {DAYS} // $each)::integer as call_date,
        i, (hash(i) % 1000000)::integer as h, hash(i, 1) % $clients as client, hash(i, 2) % 100 as die
    from range($calls) as numbers(i)
)
select
    practice_id, call_date, md5(i::varchar)[:16] as call_key,
    call_date + to_minutes((480 + h % 600)::integer) as called_at_local,
    timezone('America/New_York', called_at_local) as called_at,
    'Practice' as practice, if(die < 90, 'inbound', 'outbound') as direction,
    if(die < 95, 'completed', 'no_answer') as state, if(die < 70, 'existing', 'new') as caller_type,
    'Client ' || client as client_name, 'Rex' as patient_name,
    '+1212' || (2000000 + client) as phone_number,
    ['scheduling', 'billing', 'medical_question', 'general_inquiry'][1 + h % 4] as call_classification,
    h % 4 = 0 as booking_intent,
    'The caller asked about ' || (h % 5000) || ' and wants to be called back.' as summary,
    'positive' as customer_sentiment,
    if(h % 4 = 0 and die < 40, 'appointment_booked', 'resolved') as outcome, h % 4 = 0 and die < 40 as booked,
    (30 + h % 500)::integer as duration_seconds,
    if(die < 80, 'call-' || i, null) as id, if(die < 80, called_at, null) as created_at,
    if(die < 80, 'c' || client, null) as client_id, if(die < 80, 'R' || client || '-7', null) as remote_client_id,
    if(die < 80, 'p' || client, null) as patient_id, if(die < 80, 'P' || client || '-7', null) as remote_patient_id
from drawn
"""
_THINGS = f"""
select
    'loc-' || lpad((i // $each)::varchar, 3, '0') as practice_id, $kind || i as id, i,
    timezone('UTC', timestamp '2024-01-02 14:00:00')
        + to_seconds(((i % $each) * ({DAYS} * 86400.0) / $each)::bigint) as created_at,
    (hash(i, $kind) % 1000000)::integer as h, hash(i, 1) % $clients as client
from range($rows) as numbers(i)
"""
_LISTS = {
    "booking_sessions": (
        0.1,
        """select practice_id, id, ['completed', 'abandoned', 'abandoned'][1 + h % 3] as status,
        ['started', 'pet', 'slot', 'confirmed'][1 + h % 4] as stage, ['new', 'existing'][1 + h % 2] as client_type,
        if(h % 3 = 0 and i % 4 = 0, 'appointments' || (i // 2), null) as appointment_id,
        ['google', 'mail', null][1 + h % 3] as referral_source, ['spring', null][1 + h % 2] as referral_campaign,
        created_at, created_at + interval 20 minutes as updated_at, updated_at as last_activity_at""",
    ),
    "appointments": (
        0.05,
        """select practice_id, id, 'A' || i as remote_id, 'R' || client || '-7' as remote_client_id,
        'CONFIRMED' as status, created_at + interval 5 days as booking_date, created_at, created_at as updated_at,
        '+1212' || (2000000 + client) as client_phone, 'Rex' as patient_name""",
    ),
    "ai_outbound_requests": (
        0.05,
        """select practice_id, id, 'sms' as channel, ['scheduling', 'refill'][1 + h % 2] as purpose,
        'completed' as status, ['booked', 'no_response', 'opted_out'][1 + h % 3] as outcome,
        'c' || client as client_id, '+1212' || (2000000 + client) as contact_number,
        created_at + interval 1 hour as contacted_at, created_at + interval 5 hours as completed_at, created_at""",
    ),
    "staff_tasks": (
        0.05,
        """select practice_id, id, ['task', 'rx_refill'][1 + h % 2] as task_type,
        ['completed', 'pending', 'canceled'][1 + h % 3] as status, 'Call back' as title,
        'c' || client as client_id, created_at, created_at as updated_at,
        if(h % 3 = 1, null, created_at + interval 7 hours) as finalized_at""",
    ),
}
_CLIENTS = """select 'loc-' || lpad((i // $clients)::varchar, 3, '0') as practice_id, 'c' || (i % $clients) as id,
    'Client ' || (i % $clients) as name, '+1212' || (2000000 + i % $clients) as phone,
    'R' || (i % $clients) as remote_id from range($clients * 50) as numbers(i)"""


def make(path: Path, calls: int) -> None:
    """Make the file, as a first sync leaves it.

    `calls` is a multiple of 1,000, so that each list is spread evenly over the practices.
    """
    clients = max(1, calls // len(PRACTICES) // 20)
    with Warehouse.open(path, REGISTRY, lock_wait_seconds=0) as warehouse:
        warehouse.set_practices(PRACTICES)
        warehouse.start_run(RUN, CLOCK, "sync")
        warehouse.finish_run(RUN, source_clock=CLOCK, exit_code=0, summary={})
    with duckdb.connect(path) as connection:
        connection.execute("set TimeZone = 'UTC'")
        connection.execute("set preserve_insertion_order = true")
        size = {"each": calls // len(PRACTICES), "calls": calls, "clients": clients}
        _fill(connection, "phone_calls", _CALLS, size)
        for name, (share, columns) in _LISTS.items():
            rows = int(calls * share)
            drawn = {"each": rows // len(PRACTICES), "rows": rows, "clients": clients, "kind": name}
            _fill(connection, name, f"{columns} from ({_THINGS})", drawn)
        _fill(connection, "clients", _CLIENTS, {"clients": clients})
    with Warehouse.open(path, REGISTRY, lock_wait_seconds=0) as warehouse, warehouse.writing() as connection:
        note_phone_numbers(connection, {})


def _fill(
    connection: duckdb.DuckDBPyConnection, table: str, query: str, parameters: Mapping[str, int | str]
) -> None:
    [shape] = [RawTable.of(endpoint) for endpoint in REGISTRY if endpoint.table == table]
    connection.execute(
        f"insert into {shape.raw} by name select *, '{RUN}' as _run_id,"
        f" timestamptz '{CLOCK.isoformat()}' as _loaded_at from ({query})",
        dict(parameters),
    )
    connection.execute(f"update {shape.raw} as stored set _row_hash = {row_hash(shape.hashed, 'stored')}")


def small_sync(path: Path, now: datetime) -> None:
    """Add the rows of an hour later: at each practice today's calls, a few new rows and late changes."""
    run = f"sync {now:%H}"
    with Warehouse.open(path, REGISTRY, lock_wait_seconds=0) as warehouse:
        warehouse.set_practices(PRACTICES)
        warehouse.start_run(run, now, "sync")
        for practice in PRACTICES:
            calls = parse_calls(CsvAnswer(_todays_calls(now), now.hour - 5, 0, 5000, now)).frame
            days = ReplaceDays([calls], now.date(), now.date(), now)
            warehouse.commit(run, practice.id, by_name("phone_calls"), [days])
            for name, rows in _news(practice.id, now).items():
                warehouse.commit(run, practice.id, by_name(name), [MergeRows(rows, now)])
        warehouse.finish_run(run, source_clock=now, exit_code=0, summary={})


def _todays_calls(now: datetime) -> bytes:
    """Return one call an hour since six in the morning."""
    lines = (
        f"{now.date()} {hour:02}:10,Practice,Inbound,Completed,Existing,Client 1,Rex,+12122000{hour:03},"
        "Scheduling,Yes,Wants to come,Positive,Voicemail,No,1:05\n"
        for hour in range(6, now.hour + 1)
    )
    return HEADER + "".join(lines).encode()


def _news(practice_id: str, now: datetime) -> dict[str, list[Row]]:
    number, at = int(practice_id[-3:]), now.isoformat()
    new = f"{practice_id} {at}"
    late = {"created_at": "2024-08-01T12:00:00Z", "updated_at": at}
    return {
        "booking_sessions": [
            {"id": new, "status": "active", "stage": "pet", "created_at": at, "updated_at": at},
            {"id": f"late {number}", "status": "abandoned", "stage": at, **late},
        ],
        "appointments": [{"id": new, "remote_client_id": "R1-7", "status": "CONFIRMED", "created_at": at}],
        "ai_outbound": [
            {"id": new, "status": "queued", "purpose": "scheduling", "client_id": "c2", "created_at": at}
        ],
        "staff_tasks": [
            {"id": new, "status": "pending", "task_type": "task", "client_id": "c3", "created_at": at},
            {"id": f"late {number}", "status": "completed", "task_type": "task", "client_id": "c4", **late},
        ],
    }
