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

import vetl_sandbox
from hypothesis import HealthCheck, Phase, given, settings, strategies as st
from support import truth
from support.deliveries import body_of, message, outreach, reminder
from support.examples import examples
from support.lying_proxy import lying
from support.mart_builds import build_marts_untested
from support.sandbox_settings import at, changed, settings_for, synced
from support.warehouse_with_rows import ask
from vetl.jobs.build import publish_marts
from vetl.jobs.drain import run_drain
from vetl.partner.webhooks import Channel
from vetl.receiving.inbox import Entry, Inbox

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
    float("inf"),
    -float("inf"),
    2.0**60,
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
    "2026-11-25 24:20",
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
ID_OF = {
    "booking_sessions": "session_id",
    "appointments": "appointment_id",
    "staff_tasks": "task_id",
    "clients": "client_id",
    "patients": "patient_id",
}
"""Marts with one row for each row of the raw table of that name, and its id there."""


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
    kinds: dict[Channel, Callable[..., dict[str, Any]]] = {
        Channel.MESSAGES: message,
        Channel.AI_OUTBOUND: outreach,
        Channel.SERVICE_REMINDERS: reminder,
    }
    with Inbox.open(inbox) as kept:
        for channel, make in kinds.items():
            made = [make(f"{channel}-{number}", clinic_id=practice) for number in range(40)]
            bodies = [spoiler.delivery(payload, number) for number, payload in enumerate(made)]
            kept.keep([Entry(channel, practice, body, datetime.now(UTC)) for body in bodies])


@settings(
    max_examples=examples(1),
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.lists(JSON, min_size=30, max_size=60))
def test_a_value_of_any_kind_costs_its_row_only(drawn: list[Any]) -> None:
    """Many values in one warehouse: two syncs, the second over stored rows, deliveries, a build, a publication."""
    spoiler = Spoiler([*KNOWN, *drawn])
    running = vetl_sandbox.running(practices=2, calls=300, days=9, seed=7, frozen=True)
    with running as platform, TemporaryDirectory() as folder:
        plain = settings_for(platform, Path(folder), 9)
        ours = changed(plain, webhooks={"inbox": Path(folder) / "inbox.sqlite"})
        first, second = (practice.id for practice in ours.practices)
        spoiled = lying(platform.base_url, spoiled=spoiler.row, rewritten=spoiler.cells, practice=first)
        with spoiled as base_url:
            ours = at(ours, base_url)
            keep_deliveries(ours.webhooks.inbox, spoiler, first)
            results = [synced(ours), synced(ours, reconcile="full")]
            drained = run_drain(ours, catch_up=False)
        build_marts_untested(ours)
        publish_marts(ours.warehouse, ours.privacy)

        for result in results:
            assert [(item.endpoint, item.reason) for item in result.results if item.state == "failed"] == []
            assert {item.state for item in result.results if item.practice_id == second} == {"certified"}
            assert sum(item.held for item in result.results) > 0
        assert drained.deliveries == 120
        zones = {practice.id: practice.time_zone for practice in ours.practices if practice.id == second}
        since = ours.practices[0].history_start
        assert truth.differences(platform, ours.warehouse.path, zones, since=since) == []
        file = ours.warehouse.path
        stored = {one for (one,) in ask(file, "select id from raw.ai_outbound_requests")}
        for name, key in ID_OF.items():
            ids = f"select id from raw.{name} where practice_id = ? and _deleted_at is null"
            stored |= {one for (one,) in ask(file, ids, first)}
            lost = f"select id from ({ids}) where id not in (select {key} from marts.{name})"
            assert ask(file, lost, first) == [], name
        assert spoiler.whole - stored == set()
