"""Contract: Booking session; its derived status; the two endpoints."""

from datetime import datetime, timedelta

from support.breaking import edited
from support.partner_side import Partner, Row
from support.rules import rule
from support.shapes import ENDS_EARLIER, ISO, by_id, without

ALL = {"start_date": "2025-01-01"}
LIST = "Endpoints / Booking sessions"


def every(partner: Partner, **query: str) -> list[Row]:
    found = partner.everything("booking_sessions", **ALL, **query)
    assert found
    return found


@rule("Resources / Booking session", without("remote_appointment_id"), without("last_activity_at"))
def test_a_session_has_its_fields(partner: Partner) -> None:
    assert set(every(partner)[0]) == {
        "id", "status", "stage", "client_type", "appointment_id", "remote_appointment_id", "referral_source",
        "referral_campaign", "referral_medium", "created_at", "updated_at", "last_activity_at",
    }  # fmt: skip


@rule(
    "Resources / Booking session",
    edited(
        "resources.booking_sessions:render", '"last_activity_at",', 'pl.lit("today").alias("last_activity_at"),'
    ),
    edited("resources.booking_sessions:render", '"updated_at",', 'pl.lit("just now").alias("updated_at"),'),
    says="times",
)
def test_its_times_are_date_times(partner: Partner) -> None:
    for session in every(partner)[:100]:
        assert all(ISO.fullmatch(session[name]) for name in ("created_at", "updated_at", "last_activity_at"))


@rule(
    "Resources / Booking session",
    edited("resources.booking_sessions:render", '"status",', 'pl.lit("open").alias("status"),'),
    says="status",
)
def test_its_status_is_one_of_three(partner: Partner) -> None:
    assert {session["status"] for session in every(partner)} <= {"active", "completed", "abandoned"}


@rule(
    "States / Booking session",
    edited("resources.booking_sessions:derive", '.then(pl.lit("completed"))', '.then(pl.lit("active"))'),
    edited(
        "resources.booking_sessions:derive",
        'pl.col("appointment").is_not_null()',
        'pl.col("appointment").is_null()',
    ),
    says="completed",
)
def test_completed_means_a_booked_appointment(partner: Partner) -> None:
    visits = by_id(partner.everything("appointments", **ALL))
    for session in every(partner):
        assert (session["status"] == "completed") == (session["appointment_id"] is not None)
        assert session["appointment_id"] is None or session["appointment_id"] in visits


NEVER = edited("resources.booking_sessions:derive_record", '"active" if active else "abandoned"', '"active"')


@rule("States / Booking session", NEVER, says="active, then abandoned")
@rule(
    "States / Booking session",
    edited("resources.booking_sessions:derive_record", '"active" if active else "abandoned"', '"abandoned"'),
    says="active while in progress",
)
def test_a_session_without_appointment_expires(partner: Partner) -> None:
    """After how long is not shown: after two days at most, not within a minute."""
    row = partner.platform.insert("loc-001", "booking_sessions", {"stage": "started"})
    seen: list[str] = []
    for minutes in (1, 2 * 24 * 60):
        partner.later(minutes=minutes)
        seen.append(partner.page(f"booking_sessions/{row}")["status"])
    assert seen == ["active", "abandoned"]


@rule(
    "States / Booking session",
    edited("resources.booking_sessions:derive_record", 'return record | {"status": "completed"}', "pass"),
    says="completed for good",
)
def test_a_session_with_an_appointment_does_not_expire(partner: Partner) -> None:
    visit = partner.everything("appointments", **ALL)[0]["id"]
    row = partner.platform.insert("loc-001", "booking_sessions", {"stage": "started", "appointment_id": visit})
    for hours in (0, 100):
        partner.later(hours=hours)
        assert partner.page(f"booking_sessions/{row}")["status"] == "completed"


@rule(
    "States / Booking session",
    edited("resources.booking_sessions:derive", "expires(switches) > now", "expires(switches) < now"),
)
def test_active_sessions_have_been_active_of_late(partner: Partner) -> None:
    partner.later(minutes=20)
    active = every(partner, status="active")
    oldest = min(datetime.fromisoformat(session["last_activity_at"]) for session in active)
    assert partner.platform.now() - oldest < timedelta(days=2)


def chosen(status: str) -> str:
    return f'if status in statuses and status != "{status}":'


@rule(
    LIST,
    edited("server.lists:_chosen", "if status in statuses:", chosen("active")),
    says="active",
    status="active",
)
@rule(
    LIST,
    edited("server.lists:_chosen", "if status in statuses:", chosen("completed")),
    says="done",
    status="completed",
)
@rule(
    LIST,
    edited("server.lists:_chosen", "if status in statuses:", chosen("abandoned")),
    says="left",
    status="abandoned",
)
def test_the_status_filter_lets_through_its_status(partner: Partner, status: str) -> None:
    partner.later(minutes=20)
    wanted = [session for session in every(partner) if session["status"] == status]
    assert by_id(every(partner, status=status)) == by_id(wanted)


@rule(
    LIST,
    edited("server.query:updated_range", "if start is not None:", "if False:"),
    edited("server.query:updated_range", "if end is not None:", "if False:"),
    edited("server.query:updated_range", "chosen &= ~_after(end", "chosen &= _after(end"),
    says="updated_at",
)
def test_the_range_goes_by_updated_at(partner: Partner) -> None:
    """Whether its bounds are inclusive is not shown: they lie between two sessions here."""
    rows = sorted(every(partner), key=lambda row: row["updated_at"])
    wanted, half = rows[10:20], timedelta(milliseconds=0.5)
    bounds = [
        (datetime.fromisoformat(wanted[0]["updated_at"]) - half).isoformat(),
        (datetime.fromisoformat(wanted[-1]["updated_at"]) + half).isoformat(),
    ]
    read = partner.everything("booking_sessions", start_date=bounds[0], end_date=bounds[1])
    assert by_id(read) == by_id(wanted)


@rule(LIST, ENDS_EARLIER, says="end defaults to the current date")
def test_a_range_without_end_reaches_the_present(partner: Partner) -> None:
    row = partner.platform.insert("loc-001", "booking_sessions", {"stage": "started"})
    assert row in by_id(partner.everything("booking_sessions", start_date="2026-01-14T00:00:00Z"))


NEIGHBOUR = edited(
    "server.records:_body", "bodies[ends[place] : ends[place + 1]]", "bodies[ends[place - 1] : ends[place]]"
)


@rule(LIST, NEIGHBOUR, says="get")
def test_a_session_is_got_by_id(partner: Partner) -> None:
    session = every(partner)[-2]
    assert partner.page(f"booking_sessions/{session['id']}") == session
