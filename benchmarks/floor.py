"""The floor: the same bytes downloaded with httpx, eight requests in flight, then DuckDB's own typed load."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
import httpx

from benchmarks.ready_pages import NOW, first_day

IN_FLIGHT = 8
Query = dict[str, str]


def call_queries(count: int) -> list[Query]:
    """Return requests of two days each."""
    start = first_day(count)
    return [
        {
            "start_date": (start + timedelta(days=day)).isoformat(),
            "end_date": (start + timedelta(days=day + 1)).isoformat(),
            "page": "0",
            "per_page": "5000",
        }
        for day in range(0, (NOW.date() - start).days, 2)
    ]


def appointment_queries(count: int) -> list[Query]:
    """Return requests of a hundred rows each, over equal slices of time."""
    first = datetime(2025, 1, 1, 12, tzinfo=UTC)
    step = (NOW - timedelta(days=1) - first) / count
    return [
        {
            "start_date": (first + step * number).isoformat(timespec="seconds").replace("+00:00", "Z"),
            "end_date": (first + step * (number + 2000)).isoformat(timespec="seconds").replace("+00:00", "Z"),
            "page": str(page),
            "per_page": "100",
        }
        for number in range(0, count, 2000)
        for page in range(20)
    ]


def calls(base_url: str, count: int, folder: Path) -> None:
    """Download calls and drop each answer; then load all calls from one file into typed columns."""
    asyncio.run(_download(base_url, "phone_calls", call_queries(count)))
    with duckdb.connect(str(folder / "floor.duckdb")) as connection:
        connection.execute(
            f"""create table calls as select
                strptime("Date", '%Y-%m-%d %H:%M') as called_at, * exclude ("Date", "Booking Intent", Booked),
                "Booking Intent" = 'Yes' as booking_intent, Booked = 'Yes' as booked
            from read_csv('{folder / "calls.csv"}', all_varchar=true, header=true)"""
        )


def appointments(base_url: str, count: int, folder: Path) -> None:
    """Download appointments and drop each answer; then do one typed load from disk."""
    asyncio.run(_download(base_url, "appointments", appointment_queries(count)))
    with duckdb.connect(str(folder / "floor.duckdb")) as connection:
        connection.execute(
            f"""create table appointments as select unnest(from_json(content, '[{_STRUCTURE}]'), recursive := true)
            from read_json('{folder / "appointments.ndjson"}', columns = {{'content': 'JSON'}})"""
        )


async def _download(base_url: str, path: str, queries: list[Query]) -> None:
    turn = asyncio.Semaphore(IN_FLIGHT)
    async with httpx.AsyncClient(base_url=f"{base_url}/services/core/open_api/v1", timeout=60) as client:

        async def get(query: Query) -> None:
            async with turn:
                (await client.get(path, params=query)).raise_for_status()

        await asyncio.gather(*(get(query) for query in queries))


_TEXTS = [
    "id",
    "remote_id",
    "remote_client_id",
    "remote_patient_id",
    "status",
    "referral_source",
    "referral_campaign",
    "referral_medium",
    "client_first_name",
    "client_last_name",
    "client_email",
    "client_phone",
    "client_type",
    "patient_name",
]
_TIMES = ["booking_date", "end_date", "created_at", "updated_at"]
_STRUCTURE = (
    "{"
    + ",".join([*(f'"{name}":"VARCHAR"' for name in _TEXTS), *(f'"{name}":"TIMESTAMPTZ"' for name in _TIMES)])
    + "}"
)
