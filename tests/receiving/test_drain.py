"""From the inbox into raw: once in effect, and messages only forward, for any order and any interruption.

Messages and outreach whose webhooks may have been missed are read by id.
"""

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from support.deliveries import body_of, message, outreach, reminder
from support.drain_side import NOW, Side
from support.examples import examples
from support.lakes import lake_settings, rows_of
from vetl.addons.lake.job import run_export
from vetl.core.errors import InboxError, PracticeRefused, RequestRefused, Unreachable, VetlError
from vetl.core.list_read import problem_of_id
from vetl.core.pages import Row
from vetl.core.zones import TimesWithoutOffset
from vetl.endpoints import REGISTRY
from vetl.partner.client import PartnerClient
from vetl.partner.webhooks import MESSAGE_ORDER, Channel, message as message_of, parse_delivery, rank, row
from vetl.receiving.inbox import Entry, Inbox
from vetl.receiving.into_warehouse import CatchUp, Caught, intakes
from vetl.store.warehouse import Warehouse


@pytest.fixture
def side(tmp_path: Path) -> Iterator[Side]:
    side = Side(tmp_path)
    yield side
    side.close()


def test_every_table_has_the_fields_of_its_webhook_and_the_body_as_it_came(side: Side) -> None:
    side.receive(
        ("messages", message("m-1", "failed", error_code=30005, later_field=[1])),
        ("ai_outbound", outreach("r-1", outcome_detail={"appointment_id": 17})),
        ("service_reminders", reminder("g-1", custom_fields={"server_id": "9", "client_id": "17-9"})),
    )

    assert side.drain().inserted == 4

    assert side.rows(
        "select practice_id, message_id, status, event, error_code, _extra, body->>'clinic_id', received_at"
        " from raw.message_events"
    ) == [("loc-001", "m-1", "failed", "message.failed", "30005", '{"later_field":[1]}', "loc-001", NOW)]
    assert side.rows("select request_id, outcome, appointment_id, completed_at from raw.outreach_events") == [
        ("r-1", "booked", "17", datetime(2026, 3, 1, 12, tzinfo=UTC))
    ]
    assert side.rows(
        "select id, reminders->>'$[0].code', custom_fields->>'server_id', group_status"
        " from raw.service_reminder_events"
    ) == [("g-1", "RAB", "9", "incomplete")]
    assert side.rows("select id, status, _extra from raw.messages") == [("m-1", "failed", '{"later_field":[1]}')]


def test_an_empty_outcome_detail_may_be_an_empty_list(side: Side) -> None:
    side.receive(("ai_outbound", outreach("r-1", outcome_detail=[])))

    assert side.drain().inserted == 1

    assert side.rows("select request_id, outcome_detail from raw.outreach_events") == [("r-1", None)]


@pytest.mark.parametrize(
    ("setting", "at", "drift"),
    [
        ("practice", datetime(2026, 3, 1, 17, tzinfo=UTC), ()),
        ("utc", datetime(2026, 3, 1, 12, tzinfo=UTC), ()),
        (None, datetime(2026, 3, 1, 12, tzinfo=UTC), ("message_events", "messages")),
    ],
)
def test_times_of_webhooks_without_an_offset_are_read_as_the_settings_say(
    side: Side, setting: TimesWithoutOffset | None, at: datetime, drift: tuple[str, ...]
) -> None:
    side.warehouse.times_without_offset = setting
    side.receive(("messages", message("m-1", "delivered", delivered_at="2026-03-01T12:00:00")))

    changes = side.drain()

    assert side.rows("select delivered_at from raw.message_events") == [(at,)]
    assert side.rows("select delivered_at from raw.messages") == [(at,)]
    assert tuple(note.partition(":")[0] for note in changes.drift if "delivered_at" in note) == drift


def test_a_drain_that_stops_before_it_marks_the_inbox_counts_nothing_twice(
    side: Side, monkeypatch: pytest.MonkeyPatch
) -> None:
    side.receive(
        ("messages", message("m-1", "sent")), ("ai_outbound", outreach()), ("service_reminders", reminder())
    )

    def fail(_numbers: Sequence[int]) -> None:
        raise InboxError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(side.inbox, "settle", fail)
        with pytest.raises(InboxError):
            side.drain()
    before = side.rows("from raw.message_events")

    assert side.drain().inserted == 0
    assert before == side.rows("from raw.message_events")
    assert side.rows("select count(*) from history.messages") == [(0,)]


def test_a_replay_to_a_new_inbox_is_without_effect(side: Side, tmp_path: Path) -> None:
    """The keys hold in raw too: an inbox may be lost, or may have forgotten."""
    side.receive(("ai_outbound", outreach("r-1")), ("messages", message("m-1", "read")))
    side.drain()
    side.inbox.close()
    side.inbox = Inbox.open(tmp_path / "another.sqlite")
    side.receive(
        ("ai_outbound", outreach("r-1", outcome="opted_out")), ("messages", message("m-1", "read", client_id="x"))
    )

    assert side.drain().inserted == 0
    assert side.rows("select outcome from raw.outreach_events") == [("booked",)]
    assert side.rows("select client_id from raw.messages") == [("c-1",)]


def test_a_repeated_reminder_is_stored_only_if_its_content_changed(side: Side) -> None:
    side.receive(
        ("service_reminders", reminder()),
        ("service_reminders", {**reminder(), "sent_at": "2026-03-01T10:00:00Z"}),
        ("service_reminders", dict(reversed(reminder().items()))),
        ("service_reminders", reminder(group_status="completed")),
    )
    side.drain()

    stored = side.rows("select id, group_status from raw.service_reminder_events order by all")
    assert stored == [("g-1", "completed"), ("g-1", "incomplete")]


UNREADABLE = {
    b"{": "not JSON",
    b'{"id": NaN}': "not JSON",
    b"[" * 100_000: "not JSON",
    b"\xff\xfe": "not JSON",
    b"[1]": "not an object",
    b'{"status": "sent", "clinic_id": "loc-001"}': "id: missing",
    b'{"id": 1e400, "status": "sent", "clinic_id": "loc-001"}': "id: missing",
    b'{"id": "m-1", "clinic_id": "loc-001"}': "status: missing",
    b'{"id": "\\ud800", "status": "sent", "clinic_id": "loc-001"}': "id: missing",
    b'{"id": "m-1", "status": "sent"}': "clinic_id: missing",
}


def test_a_genuine_body_that_cannot_become_a_row_is_kept_with_the_reason(side: Side) -> None:
    for body, reason in UNREADABLE.items():
        practice = "" if reason.startswith("clinic_id") else "loc-001"
        side.receive(("messages", body), ("messages", message("m-2")), practice=practice)

        assert side.drain().quarantined == 1, body
        assert side.rows("select endpoint, practice_id, reason from control.quarantine") == [
            ("message_events", practice, reason)
        ]
        side.rows("delete from control.quarantine")
    assert side.rows("select id from raw.messages") == [("m-2",)]


def test_a_raw_tab_or_a_cut_emoji_costs_no_delivery(side: Side) -> None:
    side.receive(
        ("messages", json.dumps(message("m-1", error_message="a?b")).encode().replace(b"?", b"\t\xf0\x9f"))
    )

    assert side.drain().quarantined == 0
    assert side.rows("select error_message from raw.messages") == [("a\t\ufffdb",)]


def test_a_body_is_understood_however_it_is_written(side: Side) -> None:
    """Any JSON of the same meaning, in any encoding that JSON may have; ids as numbers, times in every form."""
    odd = "Größe 🐶"
    error = {"error_message": odd}
    side.receive(
        ("messages", json.dumps(message("m-1", **error), indent=4).encode() + b"\n"),
        ("messages", b"\xef\xbb\xbf" + body_of(message("m-2", **error))),
        ("messages", json.dumps(message("m-3", **error), ensure_ascii=False).encode()),
        ("messages", json.dumps(message("m-4", **error)).encode("utf-16")),
        ("messages", body_of({"id": 5, "status": "sent", "clinic_id": "loc-001", **error})),
        ("messages", body_of({"id": "m-6", "event": "message.sent", "clinic_id": "loc-001", **error})),
        ("messages", body_of(message("m-7", occurred_at="2026-03-01T05:00:05.25-05:00", **error))),
        ("messages", body_of(message("m-8", event="message.teleported", clinic_id=1, **error))),
    )

    assert side.drain().quarantined == 0
    ids = [("1", "m-8"), ("loc-001", "5"), *(("loc-001", f"m-{number}") for number in (1, 2, 3, 4, 6, 7))]
    stored = side.rows("select practice_id, id, error_message from raw.messages order by all")
    assert stored == [(practice, identity, odd) for practice, identity in ids]
    assert side.rows("select occurred_at from raw.message_events where message_id = 'm-7'") == [
        (datetime(2026, 3, 1, 10, 0, 5, 250_000, tzinfo=UTC),)
    ]


STATUSES = st.sampled_from([*MESSAGE_ORDER, "a_new_status"])
ARRIVALS = st.lists(st.tuples(st.sampled_from(["m-1", "m-2"]), STATUSES), min_size=1, max_size=12)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Side]:
    """Provide one warehouse for all examples, which keep apart by their practices."""
    side = Side(tmp_path_factory.mktemp("drain"))
    yield side
    side.close()


EXAMPLES = count()


@settings(max_examples=examples(12))
@given(arrivals=ARRIVALS, cuts=st.sets(st.integers(0, 12), max_size=2))
def test_in_any_order_with_any_pauses_a_message_ends_at_its_latest_status(
    shared: Side, arrivals: list[tuple[str, str]], cuts: set[int]
) -> None:
    practice = f"loc-{next(EXAMPLES)}"
    for index, (identity, status) in enumerate(arrivals):
        shared.receive(("messages", message(identity, status, clinic_id=practice)))
        if index in cuts:
            shared.drain()
    shared.drain()

    arrived = sorted(set(arrivals))
    events = shared.rows(f"select message_id, status from raw.message_events where practice_id = '{practice}'")
    assert arrived == sorted(events)
    latest = dict(shared.rows(f"select id, status from raw.messages where practice_id = '{practice}'"))
    assert latest == {
        identity: max((status for other, status in arrived if other == identity), key=rank)
        for identity, _ in arrived
    }


FIELDS = st.sampled_from(["id", "status", "event", "clinic_id", "request_id", "reminders", "outcome_detail"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=5),
    lambda inner: st.dictionaries(FIELDS, inner),
    max_leaves=6,
)


@given(body=st.binary(max_size=60) | VALUES.map(json.dumps).map(str.encode), channel=st.sampled_from(Channel))
def test_no_body_whatever_it_holds_stops_the_drain(body: bytes, channel: Channel) -> None:
    delivery = parse_delivery(channel, body)

    assert intakes([Entry(channel, "loc-001", body, NOW)])
    if not delivery.problem:
        assert row(delivery, NOW)["received_at"]
        assert channel is not Channel.MESSAGES or message_of(delivery)["id"]


def test_a_corrected_delivery_comes_in_after_one_that_could_not_be_read(side: Side) -> None:
    """Both were acknowledged: the first is quarantined, and the second must not be taken for its repeat."""
    side.receive(("ai_outbound", outreach("r-1", completed_at="soon")), ("messages", message("m-1", sent_at="?")))
    assert side.drain().quarantined > 0
    assert side.rows("select * from raw.outreach_events") == []

    side.receive(("ai_outbound", outreach("r-1")), ("messages", message("m-1")))

    assert side.drain().inserted == 3
    assert side.rows("select request_id from raw.outreach_events") == [("r-1",)]
    assert side.rows("select message_id from raw.message_events") == [("m-1",)]
    assert side.rows("select count(*) from control.quarantine where resolved_at is null") == [(0,)]


def test_a_corrected_delivery_comes_in_beside_the_other(side: Side) -> None:
    side.receive(("ai_outbound", outreach("r-1", completed_at="soon")), ("ai_outbound", outreach("r-1")))

    assert side.drain().inserted == 1
    assert side.rows("select count(*) from control.quarantine where resolved_at is null") == [(0,)]


IDS = ("x" * 300, "loc\n001", "\0", "\u00e9" * 60, "a" * 80, "../../a", ".", "a/b c=%")


def test_no_id_of_a_practice_stops_the_export_of_the_lake(side: Side, tmp_path: Path) -> None:
    """An id that no practice can have is kept in quarantine; an earlier receiver let such ids into the inbox."""
    side.receive(("messages", message("m-2")))
    for number, practice in enumerate(IDS):
        side.receive(("messages", message(f"m-{number}", clinic_id=practice)))
        body = body_of(message(f"n-{number}", clinic_id=practice))
        side.inbox.keep([Entry(Channel.MESSAGES, practice, body, NOW)])
    possible = [practice for practice in IDS if problem_of_id(practice) is None]

    side.drain()

    assert side.rows("select distinct practice_id from raw.messages order by all") == [
        (practice,) for practice in sorted([*possible, "loc-001"])
    ]
    assert side.rows("select count(*) from control.quarantine") == [(2 * (len(IDS) - len(possible)),)]
    side.warehouse.close()
    lake = lake_settings(side.path.parent, tmp_path / "lake")
    run_export(lake.model_copy(update={"warehouse": lake.warehouse.model_copy(update={"path": side.path})}))
    assert {row["practice_id"] for row in rows_of(lake, "raw.messages")} == {*possible, "loc-001"}
    side.warehouse = Warehouse.open(side.path, REGISTRY, lock_wait_seconds=0)


class Platform(PartnerClient):
    """The answers of get-message and get-request."""

    def __init__(self, rows: Mapping[str, Row | int | VetlError]) -> None:
        self.rows = rows
        self.asked: list[str] = []

    async def record(self, practice_id: str, path: str, record_id: str, **_: Any) -> Row | None:
        assert practice_id == "loc-001"
        self.asked.append(f"{path}/{record_id}")
        answer = self.rows.get(record_id)
        if isinstance(answer, VetlError):
            raise answer
        if isinstance(answer, int):
            raise RequestRefused("no", status=answer)
        return answer


def caught_up(side: Side, platform: Any, now: datetime = NOW) -> Caught:
    return asyncio.run(CatchUp(platform, side.warehouse, "run-2", now).messages("loc-001"))


def outreach_caught_up(side: Side, platform: Any, now: datetime = NOW) -> Caught:
    return asyncio.run(CatchUp(platform, side.warehouse, "run-2", now).outreach("loc-001"))


def test_a_message_that_moved_on_without_a_webhook_is_caught_up(side: Side) -> None:
    side.receive(("messages", message("m-1", "sent")), ("messages", message("m-2", "read")))
    side.drain()
    platform = Platform({"m-1": {"id": "m-1", "status": "delivered", "channel_used": "sms"}})

    assert caught_up(side, platform).changes.updated == 1

    assert platform.asked == ["messages/m-1"]
    assert side.rows("select status from raw.messages order by id") == [("delivered",), ("read",)]
    assert side.rows("select id, status from history.messages") == [("m-1", "sent")]
    assert caught_up(side, platform, NOW + timedelta(days=9)) == Caught()


TIMELESS = {"created_at": None, "sent_at": None, "occurred_at": None, "timestamp": None}


@pytest.mark.parametrize(("times", "often"), [({}, 7), (TIMELESS, 8)], ids=["with its time", "without any time"])
def test_a_message_that_stays_as_it_is_is_asked_for_as_often_as_its_age_doubles(
    side: Side, times: dict[str, None], often: int
) -> None:
    side.receive(("messages", message("m-1", "sent", **times)))
    side.drain()
    created = {} if times else {"created_at": "2026-03-01T10:00:00Z"}
    platform = Platform({"m-1": {"id": "m-1", "status": "sent", **created}})

    for hours in range(0, 24 * 8, 2):
        caught_up(side, platform, NOW + timedelta(hours=hours))

    assert len(platform.asked) == often


def test_outreach_that_contradicts_its_webhook_is_requested_as_often_as_its_age_doubles(side: Side) -> None:
    """Its webhook has ended it; get-request continues to say that it is in progress."""
    side.receive(("ai_outbound", outreach("r-1")))
    side.drain()
    platform = Platform({"r-1": {"id": "r-1", "status": "in_progress"}})

    for hours in range(2, 24 * 8, 2):
        outreach_caught_up(side, platform, NOW + timedelta(hours=hours))

    assert len(platform.asked) == 7


def test_a_message_that_fails_for_itself_stops_no_other_and_waits_its_turn(side: Side) -> None:
    side.receive(*(("messages", message(f"m-{number}", "sent")) for number in range(4)))
    side.drain()
    later = {"status": "delivered", "channel_used": "sms"}
    platform = Platform({"m-0": Unreachable("500"), **{f"m-{n}": {"id": f"m-{n}", **later} for n in (1, 2, 3)}})

    caught = caught_up(side, platform)

    assert (caught.changes.updated, caught.notes) == (3, ("loc-001: 1 of messages not caught up: 500",))
    assert caught_up(side, platform) == Caught()
    assert caught_up(side, platform, NOW + timedelta(hours=3)).requested == 1


def test_a_platform_that_answers_nothing_is_not_asked_for_everything(side: Side) -> None:
    side.receive(*(("messages", message(f"m-{number}", "sent")) for number in range(40)))
    side.drain()
    platform = Platform({f"m-{number}": Unreachable("500") for number in range(40)})

    caught_up(side, platform)

    assert len(platform.asked) < 20
    with pytest.raises(PracticeRefused):
        caught_up(side, Platform({f"m-{number}": PracticeRefused("no", status=403) for number in range(40)}))


def test_a_message_that_was_given_is_followed_like_any_other(side: Side) -> None:
    platform: Any = Platform({"m-1": {"id": "m-1", "status": "sent", "created_at": "2026-03-01T11:00:00Z"}})
    catching = CatchUp(platform, side.warehouse, "run-2", NOW)

    caught = asyncio.run(catching.messages_by_id("loc-001", ["m-1", "m-2"]))

    assert (caught.changes.inserted, caught.missing) == (1, ("m-2",))
    assert side.rows("select id, status from raw.messages") == [("m-1", "sent")]
    assert caught_up(side, platform) == Caught()
    assert caught_up(side, platform, NOW + timedelta(hours=1)).requested == 1


def test_right_after_a_webhook_the_next_one_is_waited_for(side: Side) -> None:
    side.receive(("messages", message("m-1", "sent", occurred_at="2026-03-01T11:58:00Z")))
    side.drain()
    platform = Platform({})

    assert caught_up(side, platform) == Caught()
    assert caught_up(side, platform, NOW + timedelta(minutes=4)).requested == 1


@pytest.mark.parametrize("answer", [None, 400, 404, 422])
def test_a_message_that_the_platform_does_not_know_stays_and_is_marked(side: Side, answer: int | None) -> None:
    side.receive(("messages", message("m-1", "sent")), ("messages", message("m-2", "sent")))
    side.drain()
    known = {"m-2": {"id": "m-2", "status": "sent"}}
    caught_up(side, Platform(known if answer is None else {"m-1": answer, **known}))

    assert side.rows("select id, _deleted_at from raw.messages order by id") == [("m-1", NOW), ("m-2", None)]


def test_messages_of_which_none_is_found_are_not_marked(side: Side) -> None:
    """An account that may not read them gets the answer to an unknown id."""
    side.receive(("messages", message("m-1", "sent")))
    side.drain()

    (note,) = caught_up(side, Platform({})).notes

    assert note.startswith("loc-001: 1 of messages not caught up: no row is found by its id")
    assert side.rows("select status, _deleted_at from raw.messages") == [("sent", None)]
    assert caught_up(side, Platform({})) == Caught()
    assert caught_up(side, Platform({}), NOW + timedelta(hours=3)).requested == 1


def test_a_stale_answer_moves_no_message_back(side: Side) -> None:
    side.receive(("messages", message("m-1", "delivered")))
    side.drain()
    caught_up(side, Platform({"m-1": {"id": "m-1", "status": "sent"}}))

    assert side.rows("select status from raw.messages") == [("delivered",)]


def test_outreach_that_ended_before_a_sync_has_seen_it_is_got_by_id(side: Side) -> None:
    side.receive(("ai_outbound", outreach("r-1")), ("ai_outbound", outreach("r-2")))
    side.drain()
    platform = Platform({"r-1": {"id": "r-1", "status": "completed", "outcome": "booked"}})

    assert outreach_caught_up(side, platform).requested == 2

    assert side.rows("select id, outcome from raw.ai_outbound_requests") == [("r-1", "booked")]
    assert outreach_caught_up(side, platform) == Caught()
