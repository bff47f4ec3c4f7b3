"""Contract: List phone calls, the query parameters."""

from datetime import date, datetime, time, timedelta

from support.contract_breaks import GONE, accepts, asks
from support.partner_side import Partner, Row
from support.rows_by_id import by_id
from support.rules import broken_as, broken_by, rule

LIST = "Endpoints / List phone calls"


def local_day(call: Row, partner: Partner) -> date:
    zone = next(one.zone for one in partner.platform.practices if one.id == partner.practice_id)
    return datetime.fromisoformat(call["created_at"]).astimezone(zone).date()


@rule(LIST, says="whole days of the practice, both inclusive")
@broken_by(asks("phone_calls", start_date="2025-12-02"), asks("phone_calls", end_date="2025-12-02"))
def test_days_are_whole_days_of_the_practice_and_both_count(partner: Partner) -> None:
    """This uses Sydney, whose day begins long before that of UTC."""
    partner.act_for("loc-003")
    first, last = date(2025, 12, 1), date(2025, 12, 3)
    wanted = [call for call in partner.everything("phone_calls") if first <= local_day(call, partner) <= last]
    read = partner.everything("phone_calls", start_date=str(first), end_date=str(last))
    assert by_id(read) == by_id(wanted)
    assert {local_day(call, partner) for call in read} == {first, date(2025, 12, 2), last}


@rule(LIST, says="to the instant")
@broken_by(asks("phone_calls", end_date="2025-12-03"))
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


@rule(LIST, says="week", value="2025-W02-3")
@rule(LIST, says="no hyphens", value="20250105")
@rule(LIST, says="with a time", value="2025-01-05T00:00:00Z")
@rule(LIST, says="no such day", value="2025-02-30")
@rule(LIST, says="words", value="yesterday")
@broken_by(accepts())
def test_a_date_in_any_other_format_is_a_400(partner: Partner, value: str) -> None:
    assert partner.fields_at_fault("phone_calls", start_date=value) == ["start_date"]
    assert partner.fields_at_fault("phone_calls", end_date=value) == ["end_date"]


@rule(LIST, says="direction", name="direction")
@rule(LIST, says="state", name="state")
@rule(LIST, says="call_classification", name="call_classification")
@broken_by(accepts())
def test_an_unknown_value_is_a_400_instead_of_matching_nothing(partner: Partner, name: str) -> None:
    assert partner.fields_at_fault("phone_calls", **{name: "sideways"}) == [name]


@rule(LIST, says="direction", name="direction")
@rule(LIST, says="state", name="state")
@rule(LIST, says="call_classification", name="call_classification")
@rule(LIST, says="outcome", name="outcome")
@broken_as(lambda name: asks("phone_calls", **{name: GONE}))
def test_a_filter_lets_through_the_rows_with_its_value(partner: Partner, name: str) -> None:
    calls = partner.everything("phone_calls")
    values = {call[name] for call in calls} - {None}
    assert len(values) > 1
    for value in sorted(values)[:4]:
        read = partner.everything("phone_calls", **{name: value})
        assert by_id(read) == by_id([call for call in calls if call[name] == value])


STATES = "pending queued ringing in_progress completed failed no_answer busy voicemail canceled"
CLASSIFICATIONS = (
    "scheduling prescription_refill medical_question billing records_request emergency callback"
    " general_inquiry price_shopping other"
)


@rule(LIST, says="direction", name="direction", values="inbound outbound")
@rule(LIST, says="state", name="state", values=STATES)
@rule(LIST, says="call_classification", name="call_classification", values=CLASSIFICATIONS)
@broken_as(lambda name: asks("phone_calls", **{name: GONE}))
def test_every_value_of_the_contract_may_be_asked_for(partner: Partner, name: str, values: str) -> None:
    for value in values.split():
        page = partner.page("phone_calls", **{name: value})
        assert {call[name] for call in page["content"]} <= {value}


@rule(LIST, says="outcome[] repeated")
@broken_by(asks("phone_calls", **{"outcome[]": "declined"}))
def test_repeated_outcomes_match_any(partner: Partner) -> None:
    wanted = ["declined", "forwarded"]
    apart = [row for one in wanted for row in partner.everything("phone_calls", outcome=one)]
    both = partner.everything("phone_calls", **{"outcome[]": wanted})
    assert {call["outcome"] for call in both} == set(wanted)
    assert by_id(both) == by_id(apart)


@rule(LIST, says="boolean filter")
@broken_by(asks("phone_calls", booking_intent="true"))
def test_the_boolean_filter_divides_the_calls(partner: Partner) -> None:
    parts = {wanted: partner.everything("phone_calls", booking_intent=wanted) for wanted in ("true", "false")}
    assert {call["booking_intent"] for call in parts["true"]} == {True}
    assert {call["booking_intent"] for call in parts["false"]} == {False}
    assert sum(map(len, parts.values())) == partner.page("phone_calls")["total_count"]


@rule(LIST, says="client filter")
@broken_by(asks("phone_calls", client_id=GONE))
def test_the_client_filter_gets_the_calls_of_one_client(partner: Partner) -> None:
    calls = partner.everything("phone_calls")
    client_id = next(call["client_id"] for call in calls if call["client_id"])
    read = partner.everything("phone_calls", client_id=client_id)
    assert by_id(read) == by_id([call for call in calls if call["client_id"] == client_id])


@rule(LIST, says="together")
@broken_by(asks("phone_calls", start_date=GONE))
def test_filters_hold_together(partner: Partner) -> None:
    read = partner.everything("phone_calls", start_date="2025-12-01", direction="outbound", state="completed")
    assert read
    for call in read:
        assert local_day(call, partner) >= date(2025, 12, 1)
        assert (call["direction"], call["state"]) == ("outbound", "completed")
