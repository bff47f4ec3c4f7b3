"""Phone calls: over within minutes, but some change days later, without a trace."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from vetl_sandbox.world import text, vocabulary as v
from vetl_sandbox.world.dice import Dice
from vetl_sandbox.world.lives import NEVER, NO_REFERENCE, NO_SMALL, Mask, Millis, Phase, Plain, Schema, lives
from vetl_sandbox.world.month import Births, Month
from vetl_sandbox.world.talks import Callers, Talks, called_back, draw_callers, draw_talks
from vetl_sandbox.world.vocabulary import NONE, Codes

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

_TWINS: Final = 0.002


@dataclass(frozen=True)
class Calls:
    """The calls of a month, with the appointments booked in them and the tasks they left."""

    versions: pl.DataFrame
    bookings: Births
    tasks: Births
    refills: Mask


def draw_calls(month: Month) -> Calls:
    """Return the calls that begin in this month."""
    dice = month.dice(1)
    created = month.times(1.0, dice, "calls")
    callers = draw_callers(month, created, dice)
    talks = draw_talks(month, created, callers.direction == v.DIRECTIONS["inbound"], dice)
    callers = called_back(month, created, callers, talks, dice)
    alike = _alike(len(created), dice)
    callers, talks = callers.take(alike), talks.take(alike)
    created = _begun(created, alike)
    booked_late = (talks.revised < NEVER) & (talks.revised_outcome == v.OUTCOMES["appointment_booked"])
    booked = (talks.outcome == v.OUTCOMES["appointment_booked"]) | booked_late
    booked &= callers.client != NO_REFERENCE
    booked_at = np.where(booked_late, talks.revised, talks.ended)
    task = talks.outcome == v.OUTCOMES["task_created"]
    return Calls(
        versions=_versions(month, created, callers, talks),
        bookings=Births(booked_at[booked], callers.client[booked], callers.patient[booked]),
        tasks=Births(talks.ended[task], callers.client[task], callers.patient[task]),
        refills=(talks.subject == v.CLASSIFICATIONS["prescription_refill"])[task],
    )


def _alike(size: int, dice: Dice) -> NDArray[np.intp]:
    """Return for each call the call that it resembles: itself, or for a twin the call before."""
    twin = dice.happens(_TWINS, size)
    twin[1:2] = True
    twin[1:] &= ~twin[:-1]
    twin[0:1] = False
    return np.arange(size) - twin


def _begun(created: Millis, alike: NDArray[np.intp]) -> Millis:
    """Return when calls begin: a twin in the same minute as the call before, so the CSV shows no difference."""
    first = created[alike]
    end_of_minute = first // 60_000 * 60_000 + 59_999
    return np.where(alike == np.arange(len(alike)), created, np.minimum(first + 1 + first % 900, end_of_minute))


def _versions(month: Month, created: Millis, callers: Callers, talks: Talks) -> pl.DataFrame:
    live = {
        "call_classification": NONE, "customer_sentiment": NONE, "outcome": NONE, "booked": False,
        "booking_intent": False, "summary": NONE, "duration_seconds": NO_SMALL,
    }  # fmt: skip
    states = v.CALL_STATES
    outbound = callers.direction == v.DIRECTIONS["outbound"]
    first = np.where(outbound, states["pending"], states["ringing"])
    third = (talks.answered - created) // 3
    final = live | {
        "state": talks.end,
        "call_classification": talks.subject,
        "customer_sentiment": talks.sentiment,
        "summary": talks.summary,
        "duration_seconds": talks.duration,
        **_derived(talks, talks.outcome),
    }
    return lives(
        SCHEMA,
        born={
            "number": month.numbers(len(created)),
            "created_at": created,
            "direction": callers.direction,
            "caller_type": callers.caller_type,
            "client": callers.client,
            "patient": callers.patient,
            "line": callers.line,
        },
        phases=[
            Phase(created, live | {"state": first}),
            Phase(created + third, live | {"state": states["queued"]}, outbound),
            Phase(created + 2 * third, live | {"state": states["ringing"]}, outbound),
            Phase(talks.answered, live | {"state": states["in_progress"]}, talks.end == states["completed"]),
            Phase(talks.ended, final),
            Phase(
                talks.revised,
                final | {"summary": talks.revised_summary, **_derived(talks, talks.revised_outcome)},
                talks.revised < NEVER,
            ),
        ],
        horizon=month.horizon,
    )


def _derived(talks: Talks, outcome: Codes) -> dict[str, Any]:
    """Derive `booked` and `booking_intent` from the other fields (contract: Phone call record)."""
    booked = outcome < len(v.BOOKED_OUTCOMES)
    intent = booked | (talks.subject == v.CLASSIFICATIONS["scheduling"]) | talks.used_tool
    return {"outcome": outcome, "booked": booked, "booking_intent": intent}
