"""Contract: the paged lists. Any request to a list, with any switches, gets the answer of a model of the list."""

import operator
from datetime import datetime, timedelta, timezone
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.examples import examples
from support.list_model import CHOICES, RANGED, ListModel, Query
from support.partner_requests import REQUESTS
from support.partner_side import Partner, Row, at_fault, by_id

PATHS = {name: name for name in ("phone_calls", "booking_sessions", "appointments", "staff_tasks")}
PATHS["ai_outbound"] = REQUESTS
PRACTICES = ("loc-001", "loc-003")
"""New York, and Sydney, where the day begins long before that of UTC."""
NAMES = {"start": "start_date", "end": "end_date", "page": "page", "per_page": "per_page", "status": "status"}
"""The switches that name the parameters, and the usual names."""
ENDS_OF_TIME = ("0001-01-01", "0001-01-01T00:00:00+14:00", "9999-12-31", "9999-12-31T23:59:59-12:00")


def switches(name: str) -> st.SearchStrategy[dict[str, Any]]:
    """Return the settings of a list: names that are not the contract's are `their_...`."""
    one_of = st.sampled_from
    of_all = {
        "order": one_of(["created_desc", "created_asc", "updated_desc", "updated_asc"]),
        "maximum_size": one_of([100, 100, 7]),
        "over_large": one_of(["clamp", "refuse"]),
        "ignored": st.lists(one_of(["start", "end", "page", "per_page", "status"]), max_size=1),
        "told_total": one_of([None, None, None, 10**15]),
    }
    if name == "phone_calls":
        of_all["ignored"] = st.lists(one_of(["page", "per_page"]), max_size=1)
        return st.fixed_dictionaries(of_all)
    of_each = {
        "page_base": one_of([0, 1]),
        "default_size": one_of([50, 20, 1]),
        "bounds": one_of(["[]", "[)", "(]", "()"]),
        "granularity": one_of(["instant", "day"]),
        "instants": one_of(["taken", "taken", "refused"]),
        "day_zone": one_of(["UTC", "practice"]),
        "start_required": st.booleans(),
        "default_end": one_of(["now", "midnight"]),
        "unknown_status": one_of(["refuse", "nothing", "everything"]),
    }
    named = {kind: one_of([usual, f"their_{usual}"]) for kind, usual in NAMES.items()}
    return st.fixed_dictionaries(of_all | of_each | named)


def bounds(rows: list[Row], field: str) -> st.SearchStrategy[str]:
    """Return bounds on rows and between them, as days and instants, with and without an offset, or senseless."""
    on_rows = st.sampled_from([datetime.fromisoformat(row[field]) for row in rows])
    at = st.builds(
        operator.add, on_rows, st.sampled_from([timedelta(milliseconds=more) for more in (0, 0, 1, -1)])
    )
    return st.one_of(
        at.map(datetime.date).map(str),
        at.map(datetime.isoformat),
        at.map(elsewhere).map(datetime.isoformat),
        at.map(without_offset).map(datetime.isoformat),
        st.sampled_from([*ENDS_OF_TIME, "soon", "2025-02-30"]),
    )


def elsewhere(at: datetime) -> datetime:
    return at.astimezone(timezone(timedelta(hours=9.5)))


def without_offset(at: datetime) -> datetime:
    return at.replace(tzinfo=None)


def queries(name: str, rows: list[Row]) -> st.SearchStrategy[Query]:
    """Return the parameters of a request, most of them good, under their usual names."""
    parameters: dict[str, st.SearchStrategy[Any]] = {
        "page": st.sampled_from(["0", "1", "1", "2", "10000", "-1", "two"]),
        "per_page": st.sampled_from(["1", "7", "8", "100", "100", "101", "0", "1.5"]),
        "colour": st.just("red"),
    }
    for filtered, values in CHOICES[name].items():
        parameters[filtered] = st.sampled_from([*values.split(), "sideways"])
    if name in RANGED:
        parameters |= dict.fromkeys(("start_date", "end_date"), bounds(rows, "updated_at"))
    if name == "phone_calls":
        days = bounds(rows, "created_at").map(lambda bound: bound[:10])
        odd = st.sampled_from(["2025-W02-3", "20250105", "2025-01-05T00:00:00Z"])
        parameters |= dict.fromkeys(("start_date", "end_date"), days | odd)
        parameters["outcome"] = outcome = st.sampled_from(["declined", "forwarded", "sold"])
        parameters["outcome[]"] = st.lists(outcome, min_size=1)
        parameters["client_id"] = st.sampled_from(["10000001", "none"])
    return st.sets(st.sampled_from(sorted(parameters)), max_size=4).flatmap(
        lambda names: st.fixed_dictionaries({name: parameters[name] for name in sorted(names)})
    )


def add_rows(partner: Partner, name: str) -> list[str]:
    """Write rows around a midnight of the practice, two of them at the same instant; return their ids."""
    zone = next(one.zone for one in partner.platform.practices if one.id == partner.practice_id)
    midnight = datetime(2025, 12, 2, tzinfo=zone)
    moments = [midnight + timedelta(milliseconds=more) for more in (-1, 0, 0, 86_400_000 - 1, 86_400_000)]
    row = {"outcome": "declined", "client_id": "10000001"} if name == "phone_calls" else {}
    return [
        partner.platform.insert(partner.practice_id, name, row | {"created_at": at, "updated_at": at})
        for at in moments
    ]


def rows_of_practices(partner: Partner, name: str) -> dict[str, tuple[list[Row], list[Row]]]:
    """Return all rows of each practice, and a few of them that bounds may be near to."""
    found: dict[str, tuple[list[Row], list[Row]]] = {}
    for practice in PRACTICES:
        partner.act_for(practice)
        written = add_rows(partner, name)
        whole = partner.truth(name)
        few = [*whole[:: len(whole) // 20], *(by_id(whole)[row_id] for row_id in written)]
        found[practice] = whole, few
    return found


def assert_page(answer: httpx.Response, model: ListModel, query: Query) -> None:
    """Require the page of the model; rows of the same time may come in any order."""
    body, wanted = answer.json(), model.page(query)
    assert answer.status_code == 200, body
    shown = body["data"].pop("content")
    assert body == {"success": True, "data": {k: v for k, v in wanted.items() if k != "content"}, "message": None}
    assert [model.time(row) for row in shown] == [model.time(row) for row in wanted["content"]]
    there = by_id(model.rows)
    assert all(there[row_id] == row for row_id, row in by_id(shown).items())


@pytest.mark.parametrize("name", PATHS)
def test_a_list_answers_as_its_model(partner: Partner, name: str) -> None:
    whole = rows_of_practices(partner, name)
    platform = partner.platform
    zones = {practice.id: practice.zone for practice in platform.practices}

    @given(st.data())
    @settings(max_examples=examples(60), suppress_health_check=[HealthCheck.too_slow], report_multiple_bugs=False)
    def check(data: st.DataObject) -> None:
        partner.act_for(data.draw(st.sampled_from(PRACTICES)))
        all_rows, few = whole[partner.practice_id]
        query = data.draw(queries(name, few))
        own = data.draw(switches(name))
        refuses = data.draw(st.booleans())
        platform.set(**{name: own}, unknown_parameters="refused" if refuses else "ignored")
        zone, read_as = zones[partner.practice_id], platform.switches.for_list(name)
        model = ListModel(name, all_rows, zone, platform.now(), read_as, refuses)
        names = {usual: own[kind] for kind, usual in NAMES.items() if kind in own}
        answer = partner.get(PATHS[name], **{names.get(key, key): value for key, value in query.items()})
        wrong = [names.get(parameter, parameter) for parameter in model.faults(query)]
        if wrong:
            assert sorted(map(str, at_fault(answer))) == sorted(wrong)
        else:
            assert_page(answer, model, query)

    check()


@pytest.mark.parametrize("name", PATHS)
def test_a_page_holds_a_hundred_rows_at_most(partner: Partner, name: str) -> None:
    """Contract: Limits. It does not show whether a larger size is made smaller or refused."""
    early = {"start_date": "2025-01-01"} if name in RANGED else {}
    assert len(partner.page(PATHS[name], per_page=100, **early)["content"]) == 100
    larger = partner.get(PATHS[name], per_page=101, **early)
    assert larger.status_code == 400 or len(larger.json()["data"]["content"]) == 100
    assert name != "phone_calls" or partner.page("phone_calls")["per_page"] == 50
