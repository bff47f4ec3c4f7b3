"""The platform's own records, visit by visit, as the tables that a mart's definition uses.

This is independent of vetl: nothing here goes through its models, parsers or tables. From the warehouse it only
takes facts that vetl itself creates: a call's key, and when a webhook was received.
"""

from collections import defaultdict
from datetime import UTC, datetime
from typing import Any

from support.expected import Mart
from support.lists import MENTIONS, TABLES
from support.mart_inputs import Known
from support.random_rows import Row, Tables
from support.story import Chapter, Visit
from support.zones import on_the_wall

TIMES = {
    "created_at", "updated_at", "last_activity_at", "booking_date", "end_date", "contacted_at",
    "completed_at", "finalized_at", "reference_time_at", "sent_at", "delivered_at", "read_at", "failed_at",
    "due_at", "timestamp",
}  # fmt: skip


def known_from(chapter: Chapter) -> Known:
    """Return the expected inputs of a chapter's marts, computed without the marts."""
    zones = {one.id: one.time_zone for one in chapter.practices}
    keys = column_by_id(chapter.marts["phone_calls"], "call_id", "call_key")
    tables: Tables = defaultdict(list)
    for (practice_id, name), versions in _versions(chapter.visits).items():
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
    read = {practice_id for practice_id, _ in chapter.visits[-1].lists}
    unread = frozenset(one.id for one in chapter.practices) - read
    own = {**_webhooks(chapter), "control.acts": chapter.acts}
    return Known(chapter.practices, chapter.visits[-1].at, {**tables, **own}, unread)


def column_by_id(mart: Mart, key: str, column: str) -> dict[Any, Any]:
    key_at, column_at = mart.columns.index(key), mart.columns.index(column)
    return {row[key_at]: row[column_at] for row in mart.rows}


def _versions(visits: tuple[Visit, ...]) -> dict[tuple[str, str], dict[str, list[Row]]]:
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
    times = {name: _instant(row[name]) for name in TIMES & row.keys()}
    return {**row, **times, "id": str(row["id"]), "practice_id": practice_id, "_deleted_at": None}


def _instant(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text).astimezone(UTC) if text else None


def _as_call(row: Row, zone_name: str, keys: dict[Any, Any]) -> Row:
    """Return a call as the CSV shows it: the minute on the practice's clock, and no seconds."""
    minute = row["created_at"].replace(second=0, microsecond=0)
    local = on_the_wall(minute, zone_name)
    assert local
    return {
        **row,
        "call_key": keys.get(row["id"], row["id"]),
        "practice": row["practice_name"],
        "call_date": local.date(),
        "called_at_local": local,
        "called_at": minute,
    }


def _webhooks(chapter: Chapter) -> Tables:
    reminders = chapter.marts["service_reminders"]
    received = column_by_id(reminders, "reminder_group_id", "received_at")
    assert all(chapter.began <= at <= datetime.now(UTC) for at in received.values())
    return {
        "messages": [_typed(row, row["practice_id"]) for row in chapter.messages],
        "outreach_events": [_outcome(body) for kind, body in chapter.webhooks if kind == "ai_outbound"],
        "service_reminder_events": [
            {**_typed(body, body["practice_id"]), "received_at": received.get(body["id"])}
            for kind, body in chapter.webhooks
            if kind == "service_reminders"
        ],
    }


def _outcome(body: dict[str, Any]) -> Row:
    detail = body["outcome_detail"] or {}
    return {**_typed({"id": None, **body}, body["clinic_id"]), "appointment_id": detail.get("appointment_id")}
