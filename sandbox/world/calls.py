"""Phone calls: over within minutes, but some are told differently days later, without a trace."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sandbox.world import call_shares as shares
from sandbox.world import text
from sandbox.world import vocabulary as v
from sandbox.world.dice import Dice
from sandbox.world.hours import DAY
from sandbox.world.lives import NEVER, NO_REFERENCE, NO_SMALL, Mask, Millis, Phase, Plain, Schema, lives
from sandbox.world.month import Births, Month
from sandbox.world.vocabulary import NONE, Codes

SCHEMA: Final[Schema] = {
    "number": Plain.NUMBER,
    "created_at": Plain.INSTANT,
    "direction": v.DIRECTIONS,
    "caller_type": v.CALLER_TYPES,
    "client": Plain.REFERENCE,
    "patient": Plain.REFERENCE,
    "line": Plain.REFERENCE,
    "state": v.CALL_STATES,
    "call_classification": v.CLASSIFICATIONS,
    "customer_sentiment": v.SENTIMENTS,
    "outcome": v.OUTCOMES,
    "booked": Plain.FLAG,
    "booking_intent": Plain.FLAG,
    "summary": v.Vocabulary(text.CALL_SUMMARY_NAMES),
    "duration_seconds": Plain.SMALL,
}

_SECOND: Final = 1000
_TWINS: Final = 0.002
_REVISED: Final = 0.04
_LINES: Final = 1_000_000

_TOOL_WITHOUT_RESULT: Final = 0.05


@dataclass(frozen=True)
class _Drawn:
    """What is known of each call at its birth."""

    created: Millis
    direction: Codes
    caller_type: Codes
    client: NDArray[np.int32]
    patient: NDArray[np.int32]
    line: NDArray[np.int32]
    answered: Millis
    ended: Millis
    end: Codes
    subject: Codes
    sentiment: Codes
    outcome: Codes
    used_tool: Mask
    summary: Codes
    duration: NDArray[np.int64]
    revised: Millis
    revised_outcome: Codes
    revised_summary: Codes


@dataclass(frozen=True)
class Calls:
    """The calls of a month, with the appointments booked in them and the tasks they left."""

    versions: pl.DataFrame
    bookings: Births
    tasks: Births
    refills: Mask


def draw_calls(month: Month) -> Calls:
    """The calls that begin in this month."""
    dice = month.dice(1)
    created = month.times(1.0, dice)
    twin = dice.happens(_TWINS, len(created))
    twin[1:2] = True
    twin[1:] &= ~twin[:-1]
    twin[0:1] = False
    drawn = _with_twins(_draw(month, created, dice), twin)
    booked_late = (drawn.revised < NEVER) & (drawn.revised_outcome == v.OUTCOMES["appointment_booked"])
    booked = (drawn.outcome == v.OUTCOMES["appointment_booked"]) | booked_late
    booked &= drawn.client != NO_REFERENCE
    task = drawn.outcome == v.OUTCOMES["task_created"]
    return Calls(
        versions=_versions(month, drawn),
        bookings=Births(
            np.where(booked_late, drawn.revised, drawn.ended)[booked],
            drawn.client[booked],
            drawn.patient[booked],
        ),
        tasks=Births(drawn.ended[task], drawn.client[task], drawn.patient[task]),
        refills=(drawn.subject == v.CLASSIFICATIONS["prescription_refill"])[task],
    )


def _draw(month: Month, created: Millis, dice: Dice) -> _Drawn:
    size = len(created)
    people = month.people
    direction = dice.pick(v.DIRECTIONS, {"inbound": 0.84, "outbound": 0.16}, size)
    inbound = direction == v.DIRECTIONS["inbound"]
    known = dice.happens(0.8, size) | ~inbound
    client = np.where(known, dice.place(len(people), size), NO_REFERENCE).astype(np.int32)
    visited = known & (people.first_visit[client] < created)
    end = dice.pick_where(v.CALL_STATES, [(inbound, shares.INBOUND_ENDS), (~inbound, shares.OUTBOUND_ENDS)], size)
    completed = end == v.CALL_STATES["completed"]
    subject = np.where(completed, dice.pick(v.CLASSIFICATIONS, shares.SUBJECTS, size), NONE).astype(np.uint8)
    answered = created + dice.between(2 * _SECOND, 25 * _SECOND, size)
    duration = np.where(completed, dice.around(150, size).clip(4, 4000), dice.between(0, 40, size))
    ended = answered + duration * _SECOND
    outcome = _outcomes(dice, end, subject, size)
    revised = np.where(
        completed & dice.happens(_REVISED, size),
        ended + dice.around(4 * DAY, size).clip(60_000, 30 * DAY),
        NEVER,
    )
    return _Drawn(
        created=created,
        direction=direction,
        caller_type=np.where(
            visited,
            v.CALLER_TYPES["existing"],
            np.where(known, v.CALLER_TYPES["new"], v.CALLER_TYPES["unknown"]),
        ).astype(np.uint8),
        client=client,
        patient=np.where(
            dice.happens(0.85, size), people.patient_of(client, dice.luck(size)), NO_REFERENCE
        ).astype(np.int32),
        line=dice.place(_LINES, size),
        answered=answered,
        ended=ended,
        end=end,
        subject=subject,
        sentiment=np.where(
            completed,
            dice.pick(
                v.SENTIMENTS,
                {
                    "positive": 0.35,
                    "neutral": 0.45,
                    "negative": 0.09,
                    "mixed": 0.06,
                    "very_negative": 0.02,
                    None: 0.03,
                },
                size,
            ),
            NONE,
        ),
        outcome=outcome,
        used_tool=completed
        & ((outcome == v.OUTCOMES["appointment_canceled"]) | dice.happens(_TOOL_WITHOUT_RESULT, size)),
        summary=text.pick_summaries(dice, end, subject, size),
        duration=duration,
        revised=revised,
        revised_outcome=dice.pick(v.OUTCOMES, shares.LATER_OUTCOMES, size),
        revised_summary=text.pick_summaries(dice, end, subject, size),
    )


def _outcomes(dice: Dice, end: Codes, subject: Codes, size: int) -> Codes:
    ended = {state: end == v.CALL_STATES[state] for state in shares.INBOUND_ENDS}
    scheduling = subject == v.CLASSIFICATIONS["scheduling"]
    return dice.pick_where(
        v.OUTCOMES,
        [
            (ended["completed"] & scheduling, shares.SCHEDULING_OUTCOMES),
            (ended["completed"], shares.OTHER_OUTCOMES),
            (ended["no_answer"], {"no_answer": 1}),
            (ended["voicemail"], {"voicemail": 1}),
            (ended["busy"], {"quick_abandoned": 0.4, None: 0.6}),
            (ended["failed"], {"dropped": 0.7, None: 0.3}),
            (ended["canceled"], {"abandoned": 0.5, "quick_abandoned": 0.2, None: 0.3}),
        ],
        size,
    )


def _with_twins(drawn: _Drawn, twin: Mask) -> _Drawn:
    """Make some calls like the one before in all but the second: the CSV cannot tell them apart."""
    source = np.maximum.accumulate(np.where(twin, 0, np.arange(len(twin))))
    fields: dict[str, Any] = {name: getattr(drawn, name)[source] for name in drawn.__dataclass_fields__}
    begun = fields["created"]
    end_of_minute = begun // 60_000 * 60_000 + 59_999
    created = np.where(twin, np.minimum(begun + 1 + begun % 900, end_of_minute), begun)
    return _Drawn(**fields | {"created": created})


def _versions(month: Month, drawn: _Drawn) -> pl.DataFrame:
    live = {
        "call_classification": NONE, "customer_sentiment": NONE, "outcome": NONE, "booked": False,
        "booking_intent": False, "summary": NONE, "duration_seconds": NO_SMALL,
    }  # fmt: skip
    states = v.CALL_STATES
    first = np.where(drawn.direction == v.DIRECTIONS["inbound"], states["ringing"], states["queued"])
    final = live | {
        "state": drawn.end,
        "call_classification": drawn.subject,
        "customer_sentiment": drawn.sentiment,
        "summary": drawn.summary,
        "duration_seconds": drawn.duration,
        **_derived(drawn, drawn.outcome),
    }
    return lives(
        SCHEMA,
        born={
            "number": month.numbers(len(drawn.created)),
            "created_at": drawn.created,
            "direction": drawn.direction,
            "caller_type": drawn.caller_type,
            "client": drawn.client,
            "patient": drawn.patient,
            "line": drawn.line,
        },
        phases=[
            Phase(drawn.created, live | {"state": first}),
            Phase(drawn.answered, live | {"state": states["in_progress"]}, drawn.end == states["completed"]),
            Phase(drawn.ended, final),
            Phase(
                drawn.revised,
                final | {"summary": drawn.revised_summary, **_derived(drawn, drawn.revised_outcome)},
                drawn.revised < NEVER,
            ),
        ],
        horizon=month.horizon,
    )


def _derived(drawn: _Drawn, outcome: Codes) -> dict[str, Any]:
    """`booked` and `booking_intent` follow from the rest (contract: Phone call record)."""
    booked = outcome < len(v.BOOKED_OUTCOMES)
    intent = booked | (drawn.subject == v.CLASSIFICATIONS["scheduling"]) | drawn.used_tool
    return {"outcome": outcome, "booked": booked, "booking_intent": intent}
