"""The platform's own records, visit by visit, as the tables that a mart's definition uses.

This is independent of vetl: nothing here goes through its models, parsers or tables. From the warehouse it only
takes a fact that vetl itself creates: a call's key.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from support.lists import MENTIONS, TABLES
from support.mart_inputs import Known
from support.random_rows import Row, Tables
from support.truth import expected_call
from support.warehouse_with_rows import ask
from vetl.core.list_read import Practice

TIMES = {
    "created_at", "updated_at", "last_activity_at", "booking_date", "end_date", "contacted_at", "completed_at",
    "finalized_at", "reference_time_at",
}  # fmt: skip


@dataclass(frozen=True)
class Visit:
    """The platform's rows when vetl read it: its own records by practice and list."""

    at: datetime
    lists: dict[tuple[str, str], list[dict[str, Any]]]


def known_from(practices: Sequence[Practice], visits: Sequence[Visit], warehouse: Path) -> Known:
    """Return the expected inputs of the marts after the last visit, computed without the marts."""
    zones = {one.id: one.time_zone for one in practices}
    keys = dict(ask(warehouse, "select id, call_key from raw.phone_calls where id is not null"))
    tables: Tables = defaultdict(list)
    for (practice_id, name), versions in _versions(visits).items():
        for of_row in versions.values():
            typed = [_typed(row, practice_id) for row in of_row]
            if name == "phone_calls":
                typed = [_as_call(row, zones[practice_id], keys) for row in typed]
            *superseded, latest = typed
            tables[TABLES[name]].append(
                {**latest, "_loaded_at": latest["_valid_from"], "_deleted_at": latest["_valid_to"]}
            )
            tables[f"history.{TABLES[name]}"] += superseded
    for name, mentions in MENTIONS.items():
        ids = {
            (row["practice_id"], row[column])
            for table, column in mentions
            for row in (*tables[table], *tables[f"history.{table}"])
        }
        tables[name] = [row for row in tables[name] if (row["practice_id"], row["id"]) in ids]
    return Known(practices, visits[-1].at, tables)


def _versions(visits: Sequence[Visit]) -> dict[tuple[str, str], dict[str, list[Row]]]:
    """Return the versions of each row: from the visit that first saw it to the visit that saw another."""
    by_list: dict[tuple[str, str], dict[str, list[Row]]] = defaultdict(dict)
    for visit in visits:
        for key, records in visit.lists.items():
            here = {str(record["id"]): record for record in records}
            for identity, versions in by_list[key].items():
                if versions[-1]["_valid_to"] is None and versions[-1]["_record"] != here.get(identity):
                    versions[-1]["_valid_to"] = visit.at
            for identity, record in here.items():
                versions = by_list[key].setdefault(identity, [])
                if not versions or versions[-1]["_valid_to"] is not None:
                    versions.append({**record, "_record": record, "_valid_from": visit.at, "_valid_to": None})
    return by_list


def _typed(row: Row, practice_id: str) -> Row:
    times = {name: datetime.fromisoformat(row[name]).astimezone(UTC) for name in TIMES & row.keys() if row[name]}
    return {**row, **times, "id": str(row["id"]), "practice_id": practice_id, "_deleted_at": None}


def _as_call(row: Row, zone: str, keys: dict[Any, Any]) -> Row:
    """Return a call as the CSV shows it: the minute on the practice's clock, and no seconds."""
    call = expected_call(row["_record"], zone)
    key = keys.get(call["id"], call["id"])
    return {**row, **call, "call_key": key, "call_date": call["called_at_local"].date()}
