"""Staff tasks: left by calls or written by staff; done, canceled, sometimes taken up again."""

from typing import Any, Final

import numpy as np
import polars as pl

from vetl_sandbox.world import text, vocabulary as v
from vetl_sandbox.world.calls import Calls
from vetl_sandbox.world.hours import DAY, HOUR
from vetl_sandbox.world.lives import NEVER, NO_REFERENCE, Mask, Millis, Phase, Plain, Schema, lives
from vetl_sandbox.world.month import Month

_TITLES: Final = v.Vocabulary(tuple(text.TASK_TITLES))
SCHEMA: Final[Schema] = {
    "number": Plain.NUMBER,
    "created_at": Plain.INSTANT,
    "task_type": v.TASK_TYPES,
    "client": Plain.REFERENCE,
    "patient": Plain.REFERENCE,
    "cancellation_allowed": Plain.FLAG,
    "with_action_text": Plain.FLAG,
    "reference_time_at": Plain.INSTANT,
    "status": v.TASK_STATUSES,
    "title": _TITLES,
    "finalized_at": Plain.INSTANT,
    "updated_at": Plain.INSTANT,
}
_A_CALL: Final = 0.05
_LEFT_PENDING, _EDITED, _REOPENED = 0.04, 0.12, 0.09


def draw_tasks(month: Month, calls: Calls) -> pl.DataFrame:
    """Draw the tasks that this month's calls leave, and those that staff write themselves."""
    dice = month.dice(5)
    own = month.times(_A_CALL, dice, "desk")
    created = np.concatenate([calls.tasks.at, own])
    size = len(created)
    refill = np.concatenate([calls.refills, dice.happens(0.3, len(own))])
    own_client = np.where(dice.happens(0.8, len(own)), month.clients(own, dice), NO_REFERENCE)
    client = np.concatenate([calls.tasks.client, own_client.astype(np.int32)])
    own_patient = month.people.patient_of(own_client.astype(np.int32), dice.luck(len(own)))
    title = dice.pick(_TITLES, {"call_back": 0.6, "records": 0.2, "estimate": 0.2}, size)
    title = np.where(refill, _TITLES["refill"], title)
    born = {
        "number": month.numbers(size),
        "created_at": created,
        "task_type": np.where(refill, v.TASK_TYPES["rx_refill"], v.TASK_TYPES["task"]),
        "client": client,
        "patient": np.concatenate([calls.tasks.patient, own_patient]),
        "cancellation_allowed": dice.happens(0.9, size),
        "with_action_text": refill & dice.happens(0.5, size),
        "reference_time_at": np.where(dice.happens(0.3, size), created + dice.around(DAY, size), NEVER),
    }
    done = created + dice.around(7 * HOUR, size).clip(60_000, 45 * DAY)
    done = np.where(dice.happens(_LEFT_PENDING, size), NEVER, done)
    reopened = np.where((done < NEVER) & dice.happens(_REOPENED, size), done + dice.around(2 * DAY, size), NEVER)
    done_again = np.where(reopened < NEVER, reopened + dice.around(9 * HOUR, size), NEVER)
    last = np.minimum(np.where(reopened < NEVER, done_again, done), NEVER)
    edited = np.where((last < NEVER) & dice.happens(_EDITED, size), last + dice.around(5 * DAY, size), NEVER)
    ends = [dice.pick(v.TASK_STATUSES, {"completed": 0.86, "canceled": 0.14}, size) for _ in range(2)]
    return lives(SCHEMA, born, _phases([created, done, reopened, done_again, edited], ends, title), month.horizon)


def _phases(steps: list[Millis], ends: list[v.Codes], title: v.Codes) -> list[Phase]:
    created, done, reopened, done_again, edited = steps
    again = np.where(title == _TITLES["call_back"], _TITLES["call_back_now"], title)
    pending = v.TASK_STATUSES["pending"]

    def phase(at: Millis, status: Any, finalized: Any, words: v.Codes = title) -> Phase:  # noqa: ANN401 - one or many
        happens: Mask = at < NEVER
        return Phase(at, {"status": status, "title": words, "finalized_at": finalized, "updated_at": at}, happens)

    was_reopened = reopened < NEVER
    return [
        phase(created, pending, NEVER),
        phase(done, ends[0], done),
        phase(reopened, pending, NEVER),
        phase(done_again, ends[1], done_again),
        # The text changes after the end: no count by status changes, only the row and its updated_at.
        phase(edited, np.where(was_reopened, ends[1], ends[0]), np.where(was_reopened, done_again, done), again),
    ]
