"""Online booking sessions: step by step towards an appointment, or left alone until they expire."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from vetl_sandbox.world import vocabulary as v
from vetl_sandbox.world.dice import Dice
from vetl_sandbox.world.hours import HOUR
from vetl_sandbox.world.lives import NO_REFERENCE, Mask, Millis, Phase, Plain, Schema, lives
from vetl_sandbox.world.month import Births, Month, Referral

SCHEMA: Final[Schema] = {
    "number": Plain.NUMBER,
    "created_at": Plain.INSTANT,
    "client_type": v.CLIENT_TYPES,
    "referral_source": v.SOURCES,
    "referral_campaign": v.CAMPAIGNS,
    "referral_medium": v.MEDIUMS,
    "stage": v.STAGES,
    "appointment": Plain.NUMBER,
    "remote_appointment": Plain.FLAG,
    "last_activity_at": Plain.INSTANT,
    "updated_at": Plain.INSTANT,
}
_A_CALL: Final = 0.25
_SOURCES: Final = {
    "google": 0.3, "website": 0.22, "facebook": 0.1, "instagram": 0.06, "newsletter": 0.05, "Nextdoor": 0.03,
    "": 0.08, None: 0.16,
}  # fmt: skip
_CAMPAIGNS: Final = {
    "spring_wellness": 0.15, "dental-month": 0.1, "Puppy & kitten, first visit": 0.06, "win_back": 0.04,
    "": 0.15, None: 0.5,
}  # fmt: skip
_MEDIUMS: Final = {
    "cpc": 0.25, "organic": 0.25, "email": 0.08, "social": 0.1, "referral": 0.05, "": 0.07, None: 0.2,
}  # fmt: skip
_COMES_BACK: Final = 0.06
_NEW: Final = 0.5


@dataclass(frozen=True)
class Sessions:
    """The sessions of a month, and their appointments: those of the first sessions, in this order."""

    versions: pl.DataFrame
    bookings: Births
    synced: Millis
    referral: Referral


def draw_referrals(dice: Dice, size: int) -> Referral:
    """Draw the sources of clients; missing, empty and given in all mixtures."""
    return Referral(
        dice.pick(v.SOURCES, _SOURCES, size),
        dice.pick(v.CAMPAIGNS, _CAMPAIGNS, size),
        dice.pick(v.MEDIUMS, _MEDIUMS, size),
    )


def draw_sessions(month: Month) -> Sessions:
    """Draw the sessions that begin in this month. Their status is derived when they are shown."""
    dice = month.dice(2)
    created = month.times(_A_CALL, dice, "sessions")
    size = len(created)
    client = month.clients(created, dice, new=_NEW)
    reached = dice.pick(v.STAGES, month.practice.character.reaches, size)
    confirmed = reached == v.STAGES["confirmed"]
    steps = _steps(created, confirmed, dice)
    booked_at = steps[-1]
    synced = booked_at + dice.around(4 * 60_000, size)
    referral = draw_referrals(dice, size)
    appointment = np.where(confirmed, month.numbers(1)[0] + np.cumsum(confirmed) - 1, NO_REFERENCE)
    visited = month.people.first_visit[client] < created
    born = {
        "number": month.numbers(size),
        "created_at": created,
        "client_type": np.where(
            dice.happens(0.95, size),
            np.where(visited, v.CLIENT_TYPES["existing"], v.CLIENT_TYPES["new"]),
            v.NONE,
        ),
        "referral_source": referral.source,
        "referral_campaign": referral.campaign,
        "referral_medium": referral.medium,
    }
    patient = month.people.patient_of(client, dice.luck(size))
    return Sessions(
        versions=lives(SCHEMA, born, _phases(steps, reached, confirmed, appointment, synced), month.horizon),
        bookings=Births(booked_at[confirmed], client[confirmed], patient[confirmed]),
        synced=synced[confirmed],
        referral=referral[confirmed],
    )


def _steps(created: Millis, confirmed: Mask, dice: Dice) -> list[Millis]:
    """Draw when each stage is reached; a few sessions come back hours after they expired, and finish."""
    steps = [created]
    for _ in v.STAGES.values[1:]:
        steps.append(steps[-1] + dice.around(50_000, len(created)).clip(2_000, 15 * 60_000))
    later = np.where(
        confirmed & dice.happens(_COMES_BACK, len(created)), dice.between(HOUR, 9 * HOUR, len(created)), 0
    )
    return [*steps[:-1], steps[-1] + later]


def _phases(
    steps: list[Millis], reached: v.Codes, confirmed: Mask, appointment: NDArray[np.int64], synced: Millis
) -> list[Phase]:
    phases = [
        Phase(
            at,
            {
                "stage": stage,
                "appointment": appointment if stage == v.STAGES["confirmed"] else NO_REFERENCE,
                "remote_appointment": False,
                "last_activity_at": at,
                "updated_at": at,
            },
            reached >= stage,
        )
        for stage, at in enumerate(steps)
    ]
    return [
        *phases,
        Phase(synced, {**phases[-1].fields, "remote_appointment": True, "updated_at": synced}, confirmed),
    ]
