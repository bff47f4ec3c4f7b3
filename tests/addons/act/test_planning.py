"""A plan follows from booking requests, rules and facts alone: the same for the same, and no request twice."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, strategies as st
from vetl.addons.act.acts import ActState, BookingRequest, LedgerEntry, code_of, codes_in, marked, reference_time
from vetl.addons.act.planning import ActFacts, act_for, make_plan
from vetl.addons.act.settings import TEMPLATE_FIELDS, ActSettings, Templates, TemplateSettings

AT = datetime(2026, 3, 1, 15, tzinfo=UTC)
RULES = ActSettings(practices=("p", "q"), per_practice_per_day=100, per_day=100)


def request(
    number: int, practice_id: str = "p", contacts: tuple[str, ...] = (), **changes: object
) -> BookingRequest:
    own = f"call:c-{number}"
    made = BookingRequest(
        practice_id=practice_id,
        episode_id=own,
        contacts=contacts or (own,),
        client_id="ann",
        phone_number=None,
        last_at=AT + timedelta(minutes=number),
        urgency=number,
        fields=dict.fromkeys(TEMPLATE_FIELDS, "text"),
    )
    return replace(made, **changes)  # pyright: ignore[reportArgumentType] - any field of a booking request


def entry(of: BookingRequest, state: ActState) -> LedgerEntry:
    return LedgerEntry(act_for(of, RULES), state, "plan", AT)


def reasons(*requests: BookingRequest, rules: ActSettings = RULES, facts: ActFacts | None = None) -> list[str]:
    return [held.reason for held in make_plan(requests, rules, facts or ActFacts()).held_back]


def test_a_practice_outside_the_allow_list_is_held_back() -> None:
    assert reasons(request(1, "r")) == ["practice_not_allowed"]


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        (ActState.ASKING, ["unknown"]),
        (ActState.UNKNOWN, ["unknown"]),
        (ActState.MADE, ["has_task"]),
        (ActState.CANCELED, ["has_task"]),
        (ActState.LEFT, ["has_task"]),
        (ActState.REFUSED, ["refused"]),
        (ActState.PLANNED, []),
        (ActState.HOLDOUT, []),
    ],
)
def test_an_act_of_the_ledger_holds_its_request_back(state: ActState, reason: list[str]) -> None:
    assert reasons(request(1), facts=ActFacts(entries=[entry(request(1), state)])) == reason


def test_a_merged_request_is_found_by_any_of_its_contacts() -> None:
    merged = request(1, contacts=("call:c-1", "online:s-9", "call:c-2"))

    assert reasons(merged, facts=ActFacts(entries=[entry(request(2), ActState.MADE)])) == ["has_task"]
    seen = ActFacts(task_codes=frozenset({("p", code_of("p", "call_back", "online:s-9"))}))
    assert reasons(merged, facts=seen) == ["has_task"]


def test_a_task_of_another_practice_is_no_task_of_this_one() -> None:
    elsewhere = ActFacts(entries=[entry(request(1, "q"), ActState.MADE)])

    assert reasons(request(1), facts=elsewhere) == []


def test_caps_count_the_tasks_of_the_day_and_leave_the_most_urgent() -> None:
    requests = [request(number, practice) for number in range(1, 5) for practice in ("p", "q")]
    capped = RULES.model_copy(update={"per_practice_per_day": 3, "per_day": 4})

    plan = make_plan(requests, capped, ActFacts(made_today={"p": 2}))

    assert [(act.practice_id, act.episode_id) for act in plan.acts] == [("p", "call:c-1"), ("q", "call:c-1")]
    assert {held.reason for held in plan.held_back} == {"above_cap"}


def test_the_holdout_is_a_stable_share() -> None:
    requests = [request(number) for number in range(1000)]
    rules = RULES.model_copy(update={"holdout_percent": 20, "per_practice_per_day": 10_000, "per_day": 10_000})
    first = {held.episode_id for held in make_plan(requests, rules, ActFacts()).holdout}
    again = {held.episode_id for held in make_plan(requests[::-1], rules, ActFacts()).holdout}

    assert first == again
    assert 150 < len(first) < 250


def test_the_digest_follows_from_the_content_and_not_from_the_order() -> None:
    requests = [request(number) for number in range(5)]

    digest = make_plan(requests, RULES, ActFacts()).digest

    assert make_plan(requests[::-1], RULES, ActFacts()).digest == digest
    assert make_plan(requests[1:], RULES, ActFacts()).digest != digest
    assert (
        make_plan(
            requests,
            RULES.model_copy(update={"templates": Templates(call_back=TemplateSettings(title="Call"))}),
            ActFacts(),
        ).digest
        != digest
    )


@given(st.text(max_size=30), st.text(min_size=1, max_size=30), st.text(max_size=100))
def test_a_code_is_found_in_the_description_that_holds_it(practice: str, contact: str, description: str) -> None:
    code = code_of(practice, "call_back", contact)

    assert codes_in(marked(description, code))[-1:] == [code]


@given(st.datetimes(timezones=st.just(UTC)), st.text(min_size=1))
def test_the_reference_time_is_the_minute_of_the_last_contact(last_at: datetime, contact: str) -> None:
    at = reference_time(last_at, code_of("p", "call_back", contact))

    assert at.replace(second=0) == last_at.replace(second=0, microsecond=0)


@given(st.text(max_size=500))
def test_a_field_cannot_steer_the_words(value: str) -> None:
    """A value is not a template, has one line and is short."""
    made = act_for(replace(request(1), fields=dict.fromkeys(TEMPLATE_FIELDS, value)), RULES)

    assert "\n" not in made.title
    assert len(made.title) <= 240
    assert codes_in(made.description)[-1:] == [made.code]
