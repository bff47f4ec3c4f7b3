"""Contract: List phone calls, the query parameters."""

from datetime import date, datetime, time, timedelta

from support.breaking import Break, edited
from support.partner_side import Partner, Row
from support.rules import rule
from support.shapes import by_id

LIST = "Endpoints / List phone calls"
CHOSEN = "server.phone_calls:_chosen"


def local_day(call: Row, partner: Partner) -> date:
    zone = next(one.zone for one in partner.platform.practices if one.id == partner.practice_id)
    return datetime.fromisoformat(call["created_at"]).astimezone(zone).date()


@rule(
    LIST,
    edited(CHOSEN, "practice.zone", "__import__('datetime').UTC"),
    edited("server.query:day_range", "start_of(first, zone)", "start_of(first + timedelta(days=1), zone)"),
    edited("server.query:day_range", "start_of(last + timedelta(days=1), zone)", "start_of(last, zone)"),
    edited(CHOSEN, 'query.day("start_date")', "None"),
    edited(CHOSEN, 'query.day("end_date")', "None"),
    says="whole days of the practice, both inclusive",
)
def test_days_are_whole_days_of_the_practice_and_both_count(partner: Partner) -> None:
    """In Sydney, where the day begins long before that of UTC."""
    partner.act_for("loc-003")
    first, last = date(2025, 12, 1), date(2025, 12, 3)
    wanted = [call for call in partner.everything("phone_calls") if first <= local_day(call, partner) <= last]
    read = partner.everything("phone_calls", start_date=str(first), end_date=str(last))
    assert by_id(read) == by_id(wanted)
    assert {local_day(call, partner) for call in read} == {first, date(2025, 12, 2), last}


@rule(
    LIST,
    edited("server.query:day_range", '"created_at") >= start', '"created_at") > start'),
    edited("server.query:day_range", '"created_at") < start', '"created_at") <= start'),
    edited(
        "server.query:day_range",
        "start_of(last + timedelta(days=1), zone)",
        "start_of(last, zone) + timedelta(hours=23)",
    ),
    says="to the instant",
)
def test_a_day_lasts_from_midnight_to_midnight(partner: Partner) -> None:
    midnight = datetime.combine(date(2025, 12, 2), time(), tzinfo=partner.platform.practices[0].zone)
    instants = {
        "first": midnight,
        "last": midnight + timedelta(days=1, milliseconds=-1),
        "next": midnight + timedelta(days=1),
    }
    made = {
        name: partner.platform.insert("loc-001", "phone_calls", {"created_at": at})
        for name, at in instants.items()
    }
    read = by_id(partner.everything("phone_calls", start_date="2025-12-02", end_date="2025-12-02"))
    assert [name for name, row_id in made.items() if row_id in read] == ["first", "last"]


@rule(
    LIST,
    edited("server.query:_as_day", "if not _DAY.fullmatch(value):", "if False:"),
    says="week",
    value="2025-W02-3",
)
@rule(
    LIST,
    edited("server.query:_as_day", "if not _DAY.fullmatch(value):", "if False:"),
    says="no hyphens",
    value="20250105",
)
@rule(
    LIST,
    edited("server.query:_as_day", "if not _DAY.fullmatch(value):", "value = value[:10]\n    if False:"),
    says="with a time",
    value="2025-01-05T00:00:00Z",
)
@rule(
    LIST,
    edited(
        "server.query:_as_day", "return date.fromisoformat(value)", "return date.fromisoformat(value[:8] + '01')"
    ),
    says="no such day",
    value="2025-02-30",
)
@rule(
    LIST, edited("server.query:Query._parsed", "self.fault(name, fault)", "pass"), says="words", value="yesterday"
)
def test_a_date_in_any_other_format_is_a_400(partner: Partner, value: str) -> None:
    assert partner.fields_at_fault("phone_calls", start_date=value) == ["start_date"]
    assert partner.fields_at_fault("phone_calls", end_date=value) == ["end_date"]


def any_value(name: str) -> Break:
    known = "None if query.text(name) not in vocabulary.values else query.text(name)"
    return edited(
        CHOSEN, "query.choice(name, vocabulary.values)", f'{known} if name == "{name}" else query.choice(name, ())'
    )


@rule(LIST, any_value("direction"), says="direction", name="direction")
@rule(LIST, any_value("state"), says="state", name="state")
@rule(LIST, any_value("call_classification"), says="call_classification", name="call_classification")
def test_an_unknown_value_is_a_400_instead_of_matching_nothing(partner: Partner, name: str) -> None:
    assert partner.fields_at_fault("phone_calls", **{name: "sideways"}) == [name]


def passed_over(name: str) -> Break:
    return edited(CHOSEN, "if value is not None:", f'if value is not None and name != "{name}":')


@rule(LIST, passed_over("direction"), says="direction", name="direction")
@rule(LIST, passed_over("state"), says="state", name="state")
@rule(LIST, passed_over("call_classification"), says="call_classification", name="call_classification")
@rule(LIST, edited(CHOSEN, "if outcomes:", "if False:"), says="outcome", name="outcome")
def test_a_filter_lets_through_the_rows_with_its_value(partner: Partner, name: str) -> None:
    calls = partner.everything("phone_calls")
    values = {call[name] for call in calls} - {None}
    assert len(values) > 1
    for value in sorted(values)[:4]:
        read = partner.everything("phone_calls", **{name: value})
        assert by_id(read) == by_id([call for call in calls if call[name] == value])


def lacking(name: str, value: str) -> Break:
    fewer = f"[one for one in vocabulary.values if (name, one) != ({name!r}, {value!r})])"
    return edited(CHOSEN, "vocabulary.values)", fewer)


STATES = "pending queued ringing in_progress completed failed no_answer busy voicemail canceled"
CLASSIFICATIONS = (
    "scheduling prescription_refill medical_question billing records_request emergency callback"
    " general_inquiry price_shopping other"
)


@rule(LIST, lacking("direction", "outbound"), says="direction", name="direction", values="inbound outbound")
@rule(LIST, lacking("state", "canceled"), lacking("state", "busy"), says="state", name="state", values=STATES)
@rule(
    LIST,
    lacking("call_classification", "callback"),
    says="call_classification",
    name="call_classification",
    values=CLASSIFICATIONS,
)
def test_every_value_of_the_contract_may_be_asked_for(partner: Partner, name: str, values: str) -> None:
    for value in values.split():
        page = partner.page("phone_calls", **{name: value})
        assert {call[name] for call in page["content"]} <= {value}


@rule(
    LIST,
    edited(CHOSEN, "is_in(outcomes)", "is_in(outcomes[:1])"),
    edited(CHOSEN, "is_in(outcomes)", "is_in(outcomes[-1:])"),
    says="outcome[] repeated",
)
def test_repeated_outcomes_match_any(partner: Partner) -> None:
    wanted = ["declined", "forwarded"]
    apart = [row for one in wanted for row in partner.everything("phone_calls", outcome=one)]
    both = partner.everything("phone_calls", **{"outcome[]": wanted})
    assert {call["outcome"] for call in both} == set(wanted)
    assert by_id(both) == by_id(apart)


@rule(
    LIST,
    edited(CHOSEN, 'pl.col("booking_intent") == intent', 'pl.col("booking_intent") != intent'),
    edited(CHOSEN, "if intent is not None:", "if intent:"),
    says="boolean filter",
)
def test_the_boolean_filter_divides_the_calls(partner: Partner) -> None:
    parts = {wanted: partner.everything("phone_calls", booking_intent=wanted) for wanted in ("true", "false")}
    assert {call["booking_intent"] for call in parts["true"]} == {True}
    assert {call["booking_intent"] for call in parts["false"]} == {False}
    assert sum(map(len, parts.values())) == partner.page("phone_calls")["total_count"]


@rule(
    LIST, edited("server.phone_calls:phone_calls", "if client_id is not None:", "if False:"), says="client filter"
)
def test_the_client_filter_gets_the_calls_of_one_client(partner: Partner) -> None:
    calls = partner.everything("phone_calls")
    client_id = next(call["client_id"] for call in calls if call["client_id"])
    read = partner.everything("phone_calls", client_id=client_id)
    assert by_id(read) == by_id([call for call in calls if call["client_id"] == client_id])


@rule(LIST, edited(CHOSEN, "chosen &= pl.col(name) == value", "chosen = pl.col(name) == value"), says="together")
def test_filters_hold_together(partner: Partner) -> None:
    read = partner.everything("phone_calls", start_date="2025-12-01", direction="outbound", state="completed")
    assert read
    for call in read:
        assert local_day(call, partner) >= date(2025, 12, 1)
        assert (call["direction"], call["state"]) == ("outbound", "completed")
