"""Appointments: made in calls, sessions and outreach or at the desk; accepted, moved, kept or missed."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl

from vetl_sandbox.world import vocabulary as v
from vetl_sandbox.world.dice import Dice
from vetl_sandbox.world.hours import DAY, HOUR, to_instant, to_local
from vetl_sandbox.world.lives import NEVER, Mask, Millis, Phase, Plain, Schema, lives
from vetl_sandbox.world.month import Births, Month, Referral
from vetl_sandbox.world.people import FIRST_VISIT_WITHIN
from vetl_sandbox.world.sessions import Sessions

SCHEMA: Final[Schema] = {
    "number": Plain.NUMBER,
    "created_at": Plain.INSTANT,
    "client": Plain.REFERENCE,
    "patient": Plain.REFERENCE,
    "client_type": v.CLIENT_TYPES,
    "referral_source": v.SOURCES,
    "referral_campaign": v.CAMPAIGNS,
    "referral_medium": v.MEDIUMS,
    "status": v.APPOINTMENT_STATUSES,
    "remote": Plain.FLAG,
    "booking_date": Plain.INSTANT,
    "end_date": Plain.INSTANT,
    "updated_at": Plain.INSTANT,
}
_A_CALL: Final = 0.12
_QUARTER: Final = 15 * 60_000
_CANCELED: Final = np.uint8(v.APPOINTMENT_STATUSES["CANCELED"])


@dataclass(frozen=True)
class _Timeline:
    """The times at which an appointment changes; `NEVER` if it does not."""

    synced: Millis
    confirmed: Millis
    moved: Millis
    ended: Millis
    visit: Millis
    new_visit: Millis
    length: Millis
    end: v.Codes


def draw_appointments(month: Month, sessions: Sessions, others: list[Births]) -> pl.DataFrame:
    """Draw the appointments of this month's sessions, calls and outreach, and those made at the desk."""
    dice = month.dice(3)
    desk = month.times(_A_CALL, dice, "desk")
    at_desk = Births(desk, month.clients(desk, dice), np.full(len(desk), -1, dtype=np.int32))
    births = [sessions.bookings, *others, at_desk]
    created, client, patient = (
        np.concatenate([getattr(birth, name) for birth in births]) for name in ("at", "client", "patient")
    )
    patient = np.where(patient < 0, month.people.patient_of(client, dice.luck(len(client))), patient)
    visited = month.people.first_visit[client] < created
    referral = _referrals(sessions.referral, len(created))
    timeline = _draw_timeline(month, created, sessions.synced, month.people.first_visit[client], dice)
    born = {
        "number": month.numbers(len(created)),
        "created_at": created,
        "client": client,
        "patient": patient,
        "client_type": np.where(visited, v.CLIENT_TYPES["existing"], v.CLIENT_TYPES["new"]),
        "referral_source": referral.source,
        "referral_campaign": referral.campaign,
        "referral_medium": referral.medium,
    }
    return lives(SCHEMA, born, _phases(created, timeline, dice), month.horizon)


def _referrals(referral: Referral, size: int) -> Referral:
    """Return the referrals of bookings: those from a session first, and none for all other bookings."""
    missing = np.full(size - len(referral.source), v.NONE, dtype=np.uint8)
    drawn = (referral.source, referral.campaign, referral.medium)
    return Referral(*(np.concatenate([codes, missing]) for codes in drawn))


def _draw_timeline(month: Month, created: Millis, synced: Millis, first_visit: Millis, dice: Dice) -> _Timeline:
    size = len(created)
    wished = created + dice.around(6 * DAY, size).clip(3 * HOUR, 90 * DAY)
    is_first = (created < first_visit) & (first_visit < created + FIRST_VISIT_WITHIN)
    visit = _slots(month, np.where(is_first, np.maximum(wished, first_visit + DAY), wished), dice)
    moved = np.where(
        dice.happens(0.12, size), created + (dice.luck(size) * (visit - created)).astype(np.int64), NEVER
    )
    new_visit = _slots(month, visit + dice.around(5 * DAY, size).clip(DAY, 40 * DAY), dice)
    visited = np.where(moved < NEVER, new_visit, visit)
    length = (1 + dice.place(4, size).astype(np.int64)) * _QUARTER
    end = dice.pick(v.APPOINTMENT_STATUSES, month.practice.character.visits, size)
    # A client who is still new in the calls has never been here, so that client's visit falls through.
    end = np.where((end == v.APPOINTMENT_STATUSES["COMPLETED"]) & (visited < first_visit), _CANCELED, end)
    canceled = end == _CANCELED
    last_change = np.where(moved < NEVER, moved, created)
    ended = np.where(
        canceled,
        last_change + (dice.luck(size) * (visited - last_change)).astype(np.int64),
        visited + length + dice.around(20 * 60_000, size),
    )
    all_synced = np.concatenate([synced, created[len(synced) :] + dice.around(4 * 60_000, size - len(synced))])
    confirmed = np.where(dice.happens(0.7, size), visited - dice.between(DAY // 2, 3 * DAY, size), NEVER)
    confirmed = np.where((confirmed > all_synced) & (confirmed < ended), confirmed, NEVER)
    return _Timeline(all_synced, confirmed, moved, ended, visit, new_visit, length, end)


def _slots(month: Month, wished: Millis, dice: Dice) -> Millis:
    """Return quarters of an hour within opening hours on the wished days; Sunday's are Monday's."""
    practice = month.practice
    day = to_local(wished, practice.time_zone) // DAY
    sunday = (day + 4) % 7 == 0
    quarters = dice.place((practice.closes - practice.opens) * 4 - 2, len(wished)).astype(np.int64)
    local = (day + sunday) * DAY + practice.opens * HOUR + quarters * _QUARTER
    return np.maximum(to_instant(local, practice.time_zone), wished // _QUARTER * _QUARTER)


def _phases(created: Millis, timeline: _Timeline, dice: Dice) -> list[Phase]:
    size = len(created)
    statuses = v.APPOINTMENT_STATUSES
    accepted = np.where(dice.happens(0.9, size), statuses["ACCEPTED"], statuses["REQUESTED"])

    def phase(at: Millis, status: Any, of: Mask | None = None, *, remote: bool = True) -> Phase:  # noqa: ANN401 - one or many
        visited = np.where(at >= timeline.moved, timeline.new_visit, timeline.visit)
        fields = {
            "status": status,
            "remote": remote,
            "booking_date": visited,
            "end_date": visited + timeline.length,
            "updated_at": at,
        }
        return Phase(at, fields, of)

    return [
        phase(created, statuses["REQUESTED"], remote=False),
        phase(timeline.synced, accepted),
        phase(timeline.moved, accepted, timeline.moved < NEVER),
        phase(timeline.confirmed, statuses["CONFIRMED"], timeline.confirmed < NEVER),
        phase(timeline.ended, timeline.end),
    ]
