"""The warehouse compared with the sandbox's own truth: row by row, value by value.

Both sides are read independently: nothing here goes through vetl's own models or parsers.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from itertools import product
from pathlib import Path
from typing import Any, Protocol
from zoneinfo import ZoneInfo

import duckdb
from support.lists import MENTIONS, TABLES

LISTS = {name: table for name, table in TABLES.items() if name != "phone_calls"}
"""A list's name and its raw table, for the lists whose rows have ids."""

CALL_COLUMNS = {"practice": "practice_name"} | {
    name: name
    for name in (
        "direction", "state", "caller_type", "client_name", "patient_name", "phone_number", "call_classification",
        "booking_intent", "summary", "customer_sentiment", "outcome", "booked", "duration_seconds",
    )
}  # fmt: skip
"""A column of raw.phone_calls that the CSV fills, and the JSON field it shows."""

DETAILS = ("id", "created_at", "client_id", "remote_client_id", "patient_id", "remote_patient_id")


class Platform(Protocol):
    def truth(self, practice_id: str, list_name: str, /) -> list[dict[str, Any]]: ...


def differences(
    platform: Platform,
    warehouse: Path,
    practices: Mapping[str, str],
    *,
    since: date,
    lists: Sequence[str] | None = None,
) -> list[str]:
    """Return the differences, at most a few lines a list. `practices` are time zones by id."""
    lines: list[str] = []
    wanted = (*LISTS, "phone_calls") if lists is None else lists
    with duckdb.connect(warehouse, read_only=True) as connection:
        for (practice_id, zone), name in product(practices.items(), wanted):
            there = platform.truth(practice_id, name)
            here = rows_of(connection, LISTS.get(name, name), practice_id)
            if name in MENTIONS:
                there = _mentioned(connection, practice_id, name, there)
            found = _calls(there, here, zone, since) if name == "phone_calls" else _by_id(there, here)
            lines += [f"{practice_id} {name}: {line}" for line in found]
    return lines


def rows_of(connection: duckdb.DuckDBPyConnection, table: str, practice_id: str) -> list[dict[str, Any]]:
    cursor = connection.execute(
        f"select * from raw.{table} where practice_id = ? and _deleted_at is null", [practice_id]
    )
    names = [column[0] for column in cursor.description or ()]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def _mentioned(
    connection: duckdb.DuckDBPyConnection, practice_id: str, name: str, there: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    mentions = " union ".join(
        f"select {column} from raw.{table} where practice_id = $1" for table, column in MENTIONS[name]
    )
    ids = connection.execute(mentions, [practice_id]).fetchall()
    return [row for row in there if (str(row["id"]),) in ids]


def _by_id(there: Iterable[Mapping[str, Any]], here: Iterable[Mapping[str, Any]]) -> list[str]:
    truth = {str(row["id"]): row for row in there}
    stored = {row["id"]: row for row in here}
    lines = [f"{identity} is missing" for identity in truth if identity not in stored]
    lines += [f"{identity} is too many" for identity in stored if identity not in truth]
    for identity, row in truth.items():
        if identity in stored:
            lines += [
                f"{identity}.{field} is {stored[identity][field]!r}, should be {value!r}"
                for field, value in row.items()
                if not same(value, stored[identity][field])
            ]
    return lines[:5]


def same(there: object, here: object) -> bool:
    if isinstance(here, datetime):
        return isinstance(there, str) and _instant(there) == here.astimezone(UTC)
    if isinstance(there, list | dict):
        return isinstance(here, str) and json.loads(here) == there
    if isinstance(there, int) and not isinstance(there, bool) and isinstance(here, str):
        return str(there) == here
    return there == here


def _instant(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


def _calls(
    there: Iterable[Mapping[str, Any]], here: Iterable[Mapping[str, Any]], zone: str, since: date
) -> list[str]:
    """Compare calls, which have no id in the CSV: all columns as multisets, then the details of each."""
    truth = [expected_call(row, zone) for row in there]
    truth = [row for row in truth if row["called_at_local"].date() >= since]
    stored = list(here)
    shown = ("called_at_local", *CALL_COLUMNS)
    want = Counter(tuple(row[name] for name in shown) for row in truth)
    have = Counter(tuple(row[name] for name in shown) for row in stored)
    lines = [f"missing {key}" for key in (want - have)]
    lines += [f"too many {key}" for key in (have - want)]
    instants = Counter((row["called_at_local"], row["called_at"]) for row in truth)
    stored_instants = Counter((row["called_at_local"], row["called_at"].astimezone(UTC)) for row in stored)
    lines += [f"no call at {key}" for key in (instants - stored_instants)]
    by_id = {row["id"]: row for row in truth}
    attached = [row for row in stored if row["id"] is not None]
    if len({row["id"] for row in attached}) < len(attached):
        lines.append("an id is attached twice")
    for row in attached:
        expected = by_id.get(row["id"])
        if expected is None:
            lines.append(f"id {row['id']} is not there")
            continue
        lines += [
            f"{row['id']}.{name} is {row[name]!r}, should be {expected[name]!r}"
            for name in (*shown, *DETAILS, "called_at")
            if row[name] != expected[name]
        ]
    return lines[:5]


def expected_call(row: Mapping[str, Any], zone: str) -> dict[str, Any]:
    created_at = _instant(row["created_at"])
    minute = created_at.replace(second=0, microsecond=0)
    columns = {name: row.get(field) for name, field in CALL_COLUMNS.items()}
    columns = {name: None if value == "" else value for name, value in columns.items()}
    details = {name: None if row.get(name) is None else str(row[name]) for name in DETAILS}
    return {
        **columns,
        **details,
        "created_at": created_at,
        "called_at": minute,
        "called_at_local": minute.astimezone(ZoneInfo(zone)).replace(tzinfo=None),
    }


def lacking_details(warehouse: Path, today: date) -> int:
    """Return calls of the last 35 days without an id."""
    recent = f"_deleted_at is null and call_date > '{today - timedelta(days=35)}'"
    with duckdb.connect(warehouse, read_only=True) as connection:
        return len(connection.execute(f"from raw.phone_calls where id is null and {recent}").fetchall())
