"""From booking requests to a plan: the acts, the requests that are held back, and a digest of both. Pure."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from vetl.addons.act import acts
from vetl.addons.act.acts import KINDS, OPEN, UNASKED, Act, ActState, BookingRequest, HeldBack, LedgerEntry
from vetl.addons.act.settings import ActSettings
from vetl.core.zones import zone

LONGEST_TEXT = 200
"""Characters of one field in a task: words of the source are short, and an unknown value may be anything."""


@dataclass(frozen=True, slots=True)
class CertifiedList:
    """A list that a plan rests on, as its last sync left it."""

    practice_id: str
    endpoint: str
    state: str
    certified_through: str | None


@dataclass(frozen=True, slots=True)
class ActFacts:
    """The facts that a plan rests on, beside the booking requests.

    `unfit`: why nothing is done for a practice, by its id. `task_codes`: practices and codes of the tasks that the
    last sync read. `booked`: practices and contacts of acts whose episode is booked by now. `made_today`: tasks by
    practice.
    """

    entries: Sequence[LedgerEntry] = ()
    unfit: Mapping[str, str] = field(default_factory=dict[str, str])
    task_codes: frozenset[tuple[str, str]] = frozenset()
    booked: frozenset[tuple[str, str]] = frozenset()
    made_today: Mapping[str, int] = field(default_factory=dict[str, int])
    certificates: Sequence[CertifiedList] = ()


@dataclass(frozen=True, slots=True)
class ActPlan:
    """The acts, the booking requests that are held back, and the acts to be canceled, as the client has booked."""

    acts: tuple[Act, ...]
    held_back: tuple[HeldBack, ...]
    cancellations: tuple[Act, ...]
    certificates: tuple[CertifiedList, ...]

    @property
    def digest(self) -> str:
        """Return a digest of all of it."""
        parts = (self.acts, self.held_back, self.cancellations, self.certificates)
        content = json.dumps([[asdict(item) for item in part] for part in parts], sort_keys=True, default=_iso)
        return hashlib.sha256(content.encode()).hexdigest()[:16]

    @property
    def holdout(self) -> tuple[HeldBack, ...]:
        """Return the booking requests that are left alone to compare with."""
        return tuple(item for item in self.held_back if item.reason == "holdout")


def make_plan(requests: Iterable[BookingRequest], rules: ActSettings, facts: ActFacts) -> ActPlan:
    """Return the plan: the most urgent requests of each practice first, as many as the caps allow."""
    known = _Known(facts)
    planned: list[Act] = []
    held_back: list[HeldBack] = []
    counts = Counter(facts.made_today)
    for request in sorted(requests, key=lambda item: (item.urgency, item.practice_id, item.episode_id)):
        act = act_for(request, rules)
        reason = _reason(request, rules, known)
        if reason is None and (
            counts[request.practice_id] >= rules.per_practice_per_day or counts.total() >= rules.per_day
        ):
            reason = "above_cap"
        if (
            reason is None
            and acts.share_of(act.practice_id, act.kind, act.episode_id) < rules.holdout_percent / 100
        ):
            # After the cap, so that the holdout is as urgent as the requests that it is compared with.
            reason = "holdout"
        if reason is None:
            counts[request.practice_id] += 1
            planned.append(act)
        else:
            held_back.append(HeldBack(request.practice_id, request.episode_id, reason))
    cancellations = tuple(entry.act for entry in facts.entries if _is_to_cancel(entry, rules, facts))
    return ActPlan(tuple(planned), tuple(held_back), cancellations, tuple(facts.certificates))


def act_for(request: BookingRequest, rules: ActSettings) -> Act:
    """Return the act for a booking request: its words, its code and its reference time."""
    fields = {name: _short(value) for name, value in request.fields.items()}
    kind = rules.kind_for(request.practice_id)
    code = acts.code_of(request.practice_id, kind, request.episode_id)
    is_text = acts.is_message(kind)
    template = rules.templates.text if is_text else rules.templates.call_back
    words = template.description.format_map(fields)
    return Act(
        practice_id=request.practice_id,
        episode_id=request.episode_id,
        kind=kind,
        code=code,
        title="" if is_text else rules.templates.call_back.title.format_map(fields),
        description=words if is_text else acts.marked(words, code),
        client_id=request.client_id,
        reference_time_at=acts.reference_time(request.last_at, code),
        contacts=request.contacts,
        phone_number=request.phone_number if is_text and request.client_id is None else None,
    )


class _Known:
    """The acts of the ledger, found by any contact of a booking request."""

    def __init__(self, facts: ActFacts) -> None:
        self.facts = facts
        asked = [entry for entry in facts.entries if entry.state not in UNASKED]
        self.by_code = {(entry.act.practice_id, entry.act.code): entry for entry in asked}
        self.by_contact = {
            (entry.act.practice_id, contact): entry for entry in asked for contact in entry.act.contacts
        }

    def entry(self, request: BookingRequest) -> LedgerEntry | None:
        """Return the act, of any kind, that was asked for about any contact of the booking request."""
        practice_id = request.practice_id
        found = [self.by_contact.get((practice_id, contact)) for contact in request.contacts]
        found += [self.by_code.get((practice_id, code)) for code in self.codes(request)]
        return next((entry for entry in found if entry), None)

    def has_task(self, request: BookingRequest) -> bool:
        """Return whether a task of the last sync has a code of the booking request."""
        return any((request.practice_id, code) in self.facts.task_codes for code in self.codes(request))

    @staticmethod
    def codes(request: BookingRequest) -> list[str]:
        names = (request.episode_id, *request.contacts)
        return sorted({code for kind in KINDS for code in acts.codes_of(request.practice_id, kind, names)})


def _reason(request: BookingRequest, rules: ActSettings, known: _Known) -> str | None:
    """Return why no task is made for a booking request: the first reason that holds; `None` if one is made."""
    if request.practice_id not in rules.practices:
        return "practice_not_allowed"
    if entry := known.entry(request):
        if entry.state in OPEN:
            return "unknown"
        return "refused" if entry.state is ActState.REFUSED else "has_task"
    if known.has_task(request):
        return "has_task"
    if request.practice_id in known.facts.unfit:
        return known.facts.unfit[request.practice_id]
    can_dial = is_text_number if acts.is_message(rules.kind_for(request.practice_id)) else is_number
    if request.client_id is None and not can_dial(request.phone_number):
        return "unreachable"
    return None


def is_number(text: str | None) -> bool:
    """Return whether a text is a telephone number that a person can dial."""
    digits = [char for char in text or "" if char.isdigit()]
    return 7 <= len(digits) <= 15 and all(char.isdigit() or char in "+-(). " for char in text or "")  # noqa: PLR2004 - E.164


def is_text_number(text: str | None) -> bool:
    """Return whether a message can be sent to this number: the platform takes E.164 alone."""
    return re.fullmatch(r"\+[1-9][0-9]{6,14}", text or "") is not None


def _is_to_cancel(entry: LedgerEntry, rules: ActSettings, facts: ActFacts) -> bool:
    act = entry.act
    is_there = entry.state in (ActState.MADE, ActState.CANCELING) and entry.task_id is not None
    is_booked = any((act.practice_id, contact) in facts.booked for contact in act.contacts)
    return is_there and is_booked and act.practice_id in rules.practices and not acts.is_message(act.kind)


def _short(value: str) -> str:
    printable = "".join(char if char.isprintable() else " " for char in value)
    return printable[:LONGEST_TEXT]


def _iso(value: Any) -> str:  # noqa: ANN401 - a value of an act
    assert isinstance(value, datetime)
    return value.isoformat()


def is_quiet(rules: ActSettings, kind: str, at: datetime, time_zone: str) -> bool:
    """Return whether the practice is in its quiet hours, or the platform takes no act of this kind now."""
    begins, ends = rules.quiet_hours
    hour = at.astimezone(zone(time_zone)).hour
    first, last = KINDS[kind].hours
    quiet = begins <= hour < ends if begins <= ends else hour >= begins or hour < ends
    return quiet or not first <= hour < last


def made_today(entries: Iterable[LedgerEntry], zones: Mapping[str, str], now: datetime) -> dict[str, int]:
    """Return how many requests left in the current day of each practice; open ones count. `zones`: by practice."""
    counts: Counter[str] = Counter()
    for entry in entries:
        name = zones.get(entry.act.practice_id)
        if name and entry.asked_at and entry.state not in UNASKED:
            local = zone(name)
            is_today = entry.asked_at.astimezone(local).date() == now.astimezone(local).date()
            counts[entry.act.practice_id] += is_today
    return dict(counts)
