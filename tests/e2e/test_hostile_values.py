"""Any value in any field of any list, cell or webhook costs its row, and no other row, list or practice."""

import csv
import io
import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zlib import crc32

import duckdb
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from support import truth
from support.deliveries import body_of, message, outreach, reminder
from support.examples import examples
from support.lying_proxy import lying
from support.mart_builds import build_marts_untested
from support.sandbox_settings import at, settings_for

import sandbox
from pipelines.jobs.build import publish_marts
from pipelines.jobs.drain import run_drain
from pipelines.jobs.sync import run_sync
from pipelines.partner.webhooks import Channel
from pipelines.receiving.inbox import Entry, Inbox
from pipelines.settings import Settings

KNOWN: tuple[Any, ...] = (
    "0001-01-01T00:00:00Z",
    "0001-01-01T00:00:00+14:00",
    "9999-12-31T23:59:59.999999Z",
    "9999-12-31T23:59:59-14:00",
    "0001-01-01",
    {"a": {"b": [1]}},
    {},
    ["x", None, 1.5],
    -1.5,
    10**40,
    True,
    None,
    "",
    "\0 \ud83d \u202e '); drop table raw.clients --",
)
"""Times at the ends of the calendar, and every kind of JSON value."""

MINUTES = (
    "2019-05-05 10:00",
    "0001-01-01 00:00",
    "0000-01-01 00:00",
    "9999-12-31 23:59",
    "12026-01-01 00:00",
    "262142-12-31 23:59",
    "-0001-01-01 00:00",
)
"""Minutes in the form of the CSV that no call of a requested day has."""

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False)
    | st.text(max_size=20)
    | st.datetimes().map(lambda at: f"{at.isoformat()}Z"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
MARTS = ("booking_sessions", "appointments", "staff_tasks", "clients", "patients")
"""Marts with one row for each row of the raw table of that name."""
ID_OF = {"booking_sessions": "session_id", "appointments": "appointment_id", "staff_tasks": "task_id"} | {
    "clients": "client_id",
    "patients": "patient_id",
}


class Spoiler:
    """Puts values into fields, each time into another one; `whole` are the ids of rows that it left alone."""

    def __init__(self, values: list[Any]) -> None:
        self._values = values
        self.whole: set[str] = set()

    def row(self, row: dict[str, Any]) -> None:
        number = crc32(f"{row.get('id')}".encode())
        if number % 3:
            if "call_classification" not in row:  # a call is stored from the CSV, which has no id
                self.whole.add(str(row.get("id")))
            return
        names = ["id"] if number % 10 == 0 else sorted(set(row) - {"id"})
        row[names[number // 10 % len(names)]] = self._value(number)

    def cells(self, text: str) -> str:
        head, *rows = csv.reader(io.StringIO(text))
        for number, row in enumerate(rows):
            if number % 3 == 0 and row:
                value = self._value(number)
                row[number // 3 % len(row)] = value if isinstance(value, str) else json.dumps(value)
            elif number % 3 == 1 and number // 3 < len(MINUTES):
                row[head.index("Date")] = MINUTES[number // 3]
        out = io.StringIO()
        csv.writer(out).writerows([head, *rows])
        return out.getvalue()

    def delivery(self, payload: dict[str, Any], number: int) -> bytes:
        names = sorted(set(payload) - {"clinic_id"})
        return body_of({**payload, names[number % len(names)]: self._value(number)})

    def _value(self, number: int) -> Any:
        return self._values[number // 7 % len(self._values)]


def keep_deliveries(inbox: Path, spoiler: Spoiler, practice: str) -> None:
    """Keep deliveries of each kind, as the receiver does with those that are signed."""
    kinds: tuple[tuple[Channel, Callable[..., dict[str, Any]]], ...] = (
        (Channel.MESSAGES, message),
        (Channel.AI_OUTBOUND, outreach),
        (Channel.SERVICE_REMINDERS, reminder),
    )
    with Inbox.open(inbox) as kept:
        kept.keep(
            [
                Entry(
                    channel,
                    practice,
                    spoiler.delivery(make(f"{channel}-{number}", clinic_id=practice), number),
                    datetime.now(UTC),
                )
                for channel, make in kinds
                for number in range(40)
            ]
        )


@settings(
    max_examples=examples(1),
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.lists(JSON, min_size=30, max_size=60))
def test_a_value_of_any_kind_costs_its_row_only(drawn: list[Any]) -> None:
    """Many values in one warehouse: two syncs, the second over stored rows, deliveries, a build, a publication."""
    spoiler = Spoiler([*KNOWN, *drawn])
    world: dict[str, Any] = {"practices": 2, "calls": 300, "days": 9, "seed": 7}
    with sandbox.running(frozen=True, **world) as platform, TemporaryDirectory() as folder:
        ours = settings_for(platform, Path(folder), 9)
        inbox = ours.webhooks.model_copy(update={"inbox": Path(folder) / "inbox.sqlite"})
        ours = ours.model_copy(update={"webhooks": inbox})
        first, second = (practice.id for practice in ours.practices)
        spoiled = lying(platform.base_url, spoiled=spoiler.row, rewritten=spoiler.cells, practice=first)
        with spoiled as base_url:
            ours = at(ours, base_url)
            keep_deliveries(ours.webhooks.inbox, spoiler, first)
            synced = [synced_by(ours), synced_by(ours, reconcile="full")]
            drained = run_drain(ours, catch_up=False)
        build_marts_untested(ours)
        publish_marts(ours)

        for result in synced:
            assert [(item.endpoint, item.reason) for item in result.results if item.state == "failed"] == []
            assert {item.state for item in result.results if item.practice_id == second} == {"certified"}
            assert sum(item.held for item in result.results) > 0
        assert drained.deliveries == 120
        zones = {practice.id: practice.time_zone for practice in ours.practices if practice.id == second}
        since = ours.practices[0].history_start
        assert truth.differences(platform, ours.warehouse.path, zones, since=since) == []
        with duckdb.connect(ours.warehouse.path, read_only=True) as connection:
            stored: set[str] = set()
            for name in MARTS:
                key = ID_OF[name]
                ids = f"select id from raw.{name} where practice_id = ? and _deleted_at is null"
                stored |= {identity for (identity,) in connection.execute(ids, [first]).fetchall()}
                lost = f"select id from ({ids}) where id not in (select {key} from marts.{name})"
                assert connection.execute(lost, [first]).fetchall() == [], name
            stored |= {one for (one,) in connection.execute("select id from raw.ai_outbound_requests").fetchall()}
        assert spoiler.whole - stored == set()


def synced_by(ours: Settings, **chosen: Any) -> Any:
    return run_sync(ours, practices=None, endpoints=None, since=None, progress=lambda _: None, **chosen)
