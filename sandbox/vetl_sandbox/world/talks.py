"""The facts of a call at its birth: the caller, the result, and the later change."""

from dataclasses import dataclass, fields, replace
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from vetl_sandbox.world import call_shares as shares, text, vocabulary as v
from vetl_sandbox.world.dice import Dice, Shares
from vetl_sandbox.world.hours import DAY, HOUR, to_local
from vetl_sandbox.world.lives import NEVER, NO_REFERENCE, Mask, Millis
from vetl_sandbox.world.month import Month
from vetl_sandbox.world.vocabulary import NONE, Codes

_SECOND: Final = 1000
_REVISED: Final = 0.04
_TOOL_WITHOUT_RESULT: Final = 0.05
_LINES: Final = 1_000_000
_NOON: Final = 12 * HOUR


class _Columns:
    def take(self, places: NDArray[np.intp]) -> Self:
        """Return the same columns with the rows at these places."""
        return type(self)(**{field.name: getattr(self, field.name)[places] for field in fields(self)})  # pyright: ignore[reportArgumentType]


@dataclass(frozen=True)
class Callers(_Columns):
    """The callers of calls. `line` numbers the telephones that no client has."""

    direction: Codes
    caller_type: Codes
    client: NDArray[np.int32]
    patient: NDArray[np.int32]
    line: NDArray[np.int32]


@dataclass(frozen=True)
class Talks(_Columns):
    """The results of calls; `revised`: when they change later, `NEVER` for most."""

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


def draw_callers(month: Month, created: Millis, dice: Dice) -> Callers:
    """Draw callers; outbound calls go to clients, inbound calls may come from strangers."""
    size, people = len(created), month.people
    direction = dice.pick(v.DIRECTIONS, shares.DIRECTIONS, size)
    is_client = dice.happens(0.8, size) | (direction == v.DIRECTIONS["outbound"])
    client = np.where(is_client, month.clients(created, dice), NO_REFERENCE).astype(np.int32)
    visited = is_client & (people.first_visit[client] < created)
    patient = people.patient_of(client, dice.luck(size))
    return Callers(
        direction=direction,
        caller_type=np.select(
            [visited, is_client], [v.CALLER_TYPES["existing"], v.CALLER_TYPES["new"]], v.CALLER_TYPES["unknown"]
        ),
        client=client,
        patient=np.where(dice.happens(0.85, size), patient, NO_REFERENCE),
        line=dice.place(_LINES, size),
    )


def called_back(month: Month, created: Millis, callers: Callers, talks: Talks, dice: Dice) -> Callers:
    """Return the callers with some outbound calls made to the last inbound caller who got no appointment."""
    size = len(created)
    inbound = callers.direction == v.DIRECTIONS["inbound"]
    scheduling = talks.subject == v.CLASSIFICATIONS["scheduling"]
    missed = inbound & scheduling & (callers.client != NO_REFERENCE) & (talks.outcome >= len(v.BOOKED_OUTCOMES))
    last = np.maximum.accumulate(np.where(missed, np.arange(size), -1))
    chosen = ~inbound & (last >= 0) & dice.happens(month.practice.character.calls_back, size)
    of = np.where(chosen, last, np.arange(size))
    client = callers.client[of]
    visited = (client != NO_REFERENCE) & (month.people.first_visit[client] < created)
    caller_type = np.where(visited, v.CALLER_TYPES["existing"], v.CALLER_TYPES["new"])
    return replace(
        callers,
        client=client,
        patient=callers.patient[of],
        caller_type=np.where(chosen, caller_type, callers.caller_type).astype(np.uint8),
    )


def draw_talks(month: Month, created: Millis, inbound: Mask, dice: Dice) -> Talks:
    """Draw talks; only completed talks have a subject, a summary and a later change."""
    size = len(created)
    character = month.practice.character
    broken = inbound & _broken(month, created)
    ends = [
        (broken, shares.BROKEN_ENDS),
        (inbound & _on_monday(month, created), character.rush_ends),
        (inbound, character.inbound_ends),
        (~inbound, character.outbound_ends),
    ]
    end = dice.pick_where(v.CALL_STATES, ends, size)
    completed = end == v.CALL_STATES["completed"]
    subject = np.where(completed, dice.pick(v.CLASSIFICATIONS, shares.SUBJECTS, size), NONE)
    answered = created + dice.between(2 * _SECOND, 25 * _SECOND, size)
    duration = np.where(completed, dice.around(150, size).clip(4, 4000), dice.between(0, 40, size))
    ended = answered + duration * _SECOND
    outcome = _outcomes(dice, end, subject, character.scheduling_outcomes)
    canceled = outcome == v.OUTCOMES["appointment_canceled"]
    later = ended + dice.around(4 * DAY, size).clip(60 * _SECOND, 30 * DAY)
    return Talks(
        answered=answered,
        ended=ended,
        end=end,
        subject=subject,
        sentiment=np.where(completed, dice.pick(v.SENTIMENTS, shares.SENTIMENTS, size), NONE),
        outcome=outcome,
        used_tool=completed & (canceled | dice.happens(_TOOL_WITHOUT_RESULT, size)),
        summary=text.pick_summaries(dice, end, subject, size),
        duration=duration,
        revised=np.where(completed & dice.happens(_REVISED, size), later, NEVER),
        revised_outcome=dice.pick(v.OUTCOMES, shares.LATER_OUTCOMES, size),
        revised_summary=text.pick_summaries(dice, end, subject, size),
    )


def _on_monday(month: Month, created: Millis) -> Mask:
    return (to_local(created, month.practice.time_zone) // DAY + 3) % 7 == 0


def _broken(month: Month, created: Millis) -> Mask:
    ago = month.practice.character.broken_days_ago
    if ago is None:
        return np.zeros(len(created), dtype=np.bool_)
    day = to_local(np.array([month.horizon]), month.practice.time_zone)[0] // DAY - ago
    local = to_local(created, month.practice.time_zone)
    return (local // DAY == day) & (local % DAY < _NOON)


def _outcomes(dice: Dice, end: Codes, subject: Codes, scheduled: Shares) -> Codes:
    size = len(end)
    ended = {state: end == v.CALL_STATES[state] for state in shares.INBOUND_ENDS}
    scheduling = subject == v.CLASSIFICATIONS["scheduling"]
    return dice.pick_where(
        v.OUTCOMES,
        [
            (ended["completed"] & scheduling, scheduled),
            (ended["completed"], shares.OTHER_OUTCOMES),
            (ended["no_answer"], {"no_answer": 1}),
            (ended["voicemail"], {"voicemail": 1}),
            (ended["busy"], {"quick_abandoned": 0.4, None: 0.6}),
            (ended["failed"], {"dropped": 0.7, None: 0.3}),
            (ended["canceled"], {"abandoned": 0.5, "quick_abandoned": 0.2, None: 0.3}),
        ],
        size,
    )
