"""AI outbound requests: gates at intake and dispatch, a conversation, silence, the sweeper."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl

from vetl_sandbox.world import text, vocabulary as v
from vetl_sandbox.world.dice import Dice
from vetl_sandbox.world.hours import HOUR, within
from vetl_sandbox.world.lives import NEVER, NO_REFERENCE, Mask, Millis, Phase, Plain, Schema, lives
from vetl_sandbox.world.month import Births, Month
from vetl_sandbox.world.vocabulary import NONE, Codes

_CONTEXTS: Final = v.Vocabulary(tuple(text.OUTREACH_CONTEXTS))
SCHEMA: Final[Schema] = {
    "number": Plain.NUMBER,
    "created_at": Plain.INSTANT,
    "channel": v.CHANNELS,
    "purpose": v.PURPOSES,
    "client": Plain.REFERENCE,
    "patient": Plain.REFERENCE,
    "with_partner_id": Plain.FLAG,
    "appointment": Plain.NUMBER,
    "context": _CONTEXTS,
    "status": v.REQUEST_STATUSES,
    "outcome": v.REQUEST_OUTCOMES,
    "suppression_reason": v.SUPPRESSIONS,
    "contacted_at": Plain.INSTANT,
    "completed_at": Plain.INSTANT,
}
NO_RESPONSE_AFTER: Final = 48 * HOUR
SWEPT_AFTER: Final = 96 * HOUR
_A_CALL: Final = 0.1
_SENDING_HOURS: Final = (8, 21)

# The end of a request, and for a suppressed request its time: at intake, at dispatch, or in the conversation.
_ENDS: Final = v.Vocabulary(
    ("booked", "opted_out", "no_response", "undeliverable", "swept", "at_intake", "at_dispatch", "in_thread")
)
_SHARES: Final = {
    "booked": 0.27,
    "opted_out": 0.05,
    "no_response": 0.34,
    "undeliverable": 0.05,
    "swept": 0.02,
    "at_intake": 0.16,
    "at_dispatch": 0.06,
    "in_thread": 0.05,
}
_AT_INTAKE: Final = {
    "recent_contact": 0.35,
    "active_conversation": 0.15,
    "sms_opted_out": 0.25,
    "notifications_disabled": 0.15,
}
_AT_DISPATCH: Final = {"recent_contact": 0.3, "client_inactive": 0.4, "sms_opted_out": 0.3}
_IN_THREAD: Final = {"pet_deceased": 0.3, "stopped": 0.7}


@dataclass(frozen=True)
class Outreach:
    """The requests of a month, and the appointments of their conversations."""

    versions: pl.DataFrame
    bookings: Births


@dataclass(frozen=True)
class _Timeline:
    end: Codes
    queued: Millis
    contacted: Millis
    ended: Millis
    reason: Codes


def draw_outreach(month: Month, appointments_before: int) -> Outreach:
    """Draw the requests that are created in this month; the first ones that end in an appointment have it."""
    dice = month.dice(4)
    created = month.times(_A_CALL, dice, "outreach")
    size = len(created)
    client = month.clients(created, dice)
    patient = month.people.patient_of(client, dice.luck(size))
    channel = dice.pick(v.CHANNELS, {"sms": 0.96, "voice": 0.04}, size)
    purpose = dice.pick(
        v.PURPOSES, {"scheduling": 0.55, "callback_followup": 0.2, "refill": 0.15, "general": 0.1}, size
    )
    timeline = _draw_timeline(month, created, channel, purpose, dice)
    booked = timeline.end == _ENDS["booked"]
    born = {
        "number": month.numbers(size),
        "created_at": created,
        "channel": channel,
        "purpose": purpose,
        "client": client,
        "patient": np.where(dice.happens(0.9, size), patient, -1),
        "appointment": np.where(
            booked, month.numbers(1)[0] + appointments_before + np.cumsum(booked) - 1, NO_REFERENCE
        ),
        "with_partner_id": dice.happens(0.6, size),
        "context": dice.pick(_CONTEXTS, {**dict.fromkeys(text.OUTREACH_CONTEXTS, 1.0), None: 0.5}, size),
    }
    return Outreach(
        versions=lives(SCHEMA, born, _phases(created, timeline), month.horizon),
        bookings=Births(timeline.ended[booked], client[booked], patient[booked]),
    )


def _draw_timeline(month: Month, created: Millis, channel: Codes, purpose: Codes, dice: Dice) -> _Timeline:
    size = len(created)
    voice = channel == v.CHANNELS["voice"]
    end = np.where(voice, _ENDS["at_intake"], dice.pick(_ENDS, _SHARES, size)).astype(np.uint8)
    scheduling = purpose == v.PURPOSES["scheduling"]
    queued = created + dice.between(300, 8_000, size)
    dispatched = within(
        _SENDING_HOURS, queued + dice.around(20 * 60_000, size).clip(0, 12 * HOUR), month.practice.time_zone
    )
    is_end = {name: end == code for code, name in enumerate(_ENDS.values)}
    never_sent = is_end["swept"] | is_end["at_intake"] | is_end["at_dispatch"]
    contacted = np.where(never_sent, NEVER, dispatched)
    replied = np.where(dice.happens(0.25, size), dice.between(60_000, 8 * HOUR, size), 0)
    silent_until = dispatched + replied + NO_RESPONSE_AFTER
    resolved = dispatched + dice.around(90 * 60_000, size).clip(60_000, 40 * HOUR)
    ended = np.select(
        [
            is_end["at_intake"],
            is_end["at_dispatch"],
            is_end["no_response"],
            is_end["swept"],
            is_end["undeliverable"],
        ],
        [
            created,
            dispatched,
            silent_until,
            created + SWEPT_AFTER,
            dispatched + dice.between(2_000, 90_000, size),
        ],
        resolved,
    )
    reason = _reasons(dice, is_end, voice, scheduling)
    return _Timeline(end, queued, contacted, ended, reason)


def _reasons(dice: Dice, is_end: Mapping[str, Mask], voice: Mask, scheduling: Mask) -> Codes:
    cases = [
        (voice, {"voice_not_supported": 1.0}),
        (is_end["at_intake"] & scheduling, _AT_INTAKE | {"recent_or_upcoming_appointment": 0.3}),
        (is_end["at_intake"], _AT_INTAKE),
        (is_end["at_dispatch"], _AT_DISPATCH),
        (is_end["in_thread"], _IN_THREAD),
    ]
    return dice.pick_where(v.SUPPRESSIONS, cases, len(voice))


def _phases(created: Millis, timeline: _Timeline) -> list[Phase]:
    statuses = v.REQUEST_STATUSES
    open_ = {"outcome": NONE, "suppression_reason": NONE, "contacted_at": NEVER, "completed_at": NEVER}
    accepted = timeline.end != _ENDS["at_intake"]
    talking = timeline.contacted < NEVER
    suppressed = timeline.reason != NONE
    failed = (timeline.end == _ENDS["undeliverable"]) | (timeline.end == _ENDS["swept"])
    final: dict[str, Any] = {
        "status": np.select(
            [suppressed, failed], [statuses["suppressed"], statuses["failed"]], statuses["completed"]
        ),
        "outcome": np.where(timeline.end <= _ENDS["undeliverable"], timeline.end, NONE),
        "suppression_reason": timeline.reason,
        "contacted_at": timeline.contacted,
        "completed_at": timeline.ended,
    }
    return [
        Phase(created, open_ | {"status": statuses["received"]}, accepted),
        Phase(timeline.queued, open_ | {"status": statuses["queued"]}, accepted),
        Phase(
            timeline.contacted,
            open_ | {"status": statuses["in_progress"], "contacted_at": timeline.contacted},
            talking,
        ),
        Phase(timeline.ended, final),
    ]
