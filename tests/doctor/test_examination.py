"""The checks as pure generators, on servers that no switch of the sandbox makes.

The client search (contract: Clients and patients) is checked by a known client's values, and if it is cut. The
time zone is confirmed, corrected or left open from calls alone.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings, strategies as st
from support.model_driver import Driver
from support.model_store import ModelStore
from vetl.core.endpoint import QueryNames
from vetl.core.errors import RequestRefused, Unreachable, VetlError
from vetl.core.list_read import Reading
from vetl.core.pages import Page
from vetl.core.steps import ReadPage
from vetl.core.zones import Pair, TimesWithoutOffset, contradiction, fits, pairs
from vetl.discovery.calls_and_people import (
    USUAL,
    check_clients,
    check_patients,
    check_times,
    check_zone,
    distinguishing_day,
    zones_that_fit,
)
from vetl.discovery.discover import discover
from vetl.discovery.probes import Correction, Finding, Findings
from vetl.endpoints import BOOKING_SESSIONS

NOW = datetime(2026, 11, 21, 10, tzinfo=UTC)

EDGES = ("start_date", "end_date")
EVERY = ("start", "end", "per_page", "page", "status")
READ_WITH = EVERY[:-1]
Rows = Sequence[Mapping[str, Any]]
Client = Mapping[str, Any] | VetlError | None


@dataclass
class Server:
    """Answers each query with `rows`, in pages; each record by id is `client`."""

    rows: Callable[[Mapping[str, str]], Rows]
    size: int = 20
    client: Client = None
    asked: int = 0

    def page(self, step: ReadPage) -> Page:
        self.asked += 1
        query = {name: str(value) for name, value in step.query.items()}
        rows = self.rows(query)
        size = int(query.get("per_page", self.size))
        first = int(query.get("page", 0)) * size
        return Page(tuple(rows[first : first + size]), len(rows), None, NOW)

    def record(self, _identity: str) -> Client:
        return self.client


def learnt_from(rows: Callable[[Mapping[str, str]], Rows]) -> tuple[dict[str, Any], int]:
    """Return what a sync learns from a server, and the number of its requests."""
    server, store = Server(rows), ModelStore()
    Driver(server, store, Random(0)).run(discover(reading()))
    return store.capabilities, server.asked


def sessions(count: int) -> list[dict[str, Any]]:
    return [
        {
            "id": f"s{number}",
            "status": ("completed", "abandoned")[number % 2],
            "updated_at": (NOW - timedelta(hours=5 * number, seconds=7)).isoformat(),
        }
        for number in range(count)
    ]


def refused(*fields: str) -> RequestRefused:
    return RequestRefused("400", status=400, fields=tuple((field, "is required") for field in fields))


def reading() -> Reading:
    return Reading(BOOKING_SESSIONS, QueryNames(), NOW, ZoneInfo("America/Chicago"), date(2026, 1, 1))


def results(learnt: Mapping[str, Any]) -> dict[str, str]:
    return {key: learnt[key]["result"] for key in EVERY if key in learnt}


def test_a_server_that_wants_a_start_before_its_end_is_not_mistaken_for_one_with_another_name() -> None:
    rows = sessions(60)

    def server(query: Mapping[str, str]) -> list[dict[str, Any]]:
        start, end = query.get("start_date"), query.get("end_date", NOW.isoformat())
        if start is None or start[:19] > end[:19]:
            raise refused()
        return [row for row in rows if start[:19] <= row["updated_at"][:19] <= end[:19]]

    learnt, _ = learnt_from(server)

    assert learnt["start"]["name"] == "start_date"
    assert learnt["start"]["bounds"] == "instant"


def test_a_strict_server_that_takes_dates_only_and_says_the_same_of_every_fault_is_understood() -> None:
    rows = sessions(60)

    def server(query: Mapping[str, str]) -> list[dict[str, Any]]:
        names = {"start_date", "end_date", "page", "per_page", "status"}
        faulty = [name for name, text in query.items() if name not in names or (name in EDGES and len(text) > 10)]
        if faulty or "start_date" not in query:
            raise refused(*faulty, *({"start_date"} - set(query)))
        start, end = query["start_date"], query.get("end_date", "9999")
        status = query.get("status")
        return [row for row in rows if start <= row["updated_at"][:10] <= end and status in (None, row["status"])]

    learnt, asked = learnt_from(server)

    assert learnt["start"]["bounds"] == "day"
    assert results(learnt) == dict.fromkeys(READ_WITH, "honoured")
    assert asked <= 20


@pytest.mark.parametrize("status", [400, 422])
def test_a_validation_error_that_names_no_field_is_one_all_the_same(status: int) -> None:
    rows = sessions(60)

    def server(query: Mapping[str, str]) -> list[dict[str, Any]]:
        if "updated_since" not in query:
            raise RequestRefused("a start is needed", status=status)
        end = query.get("until", "9999")
        inside = [row for row in rows if query["updated_since"][:19] <= row["updated_at"][:19] <= end[:19]]
        return [row for row in inside if query.get("status") in (None, row["status"])]

    learnt, _ = learnt_from(server)

    assert (learnt["start"]["name"], learnt["end"]["name"]) == ("updated_since", "until")
    assert results(learnt) == dict.fromkeys(READ_WITH, "honoured")


ADA = {"id": 7, "name": "Ada Lee", "email": "ada@example.com", "phone": "+15550100"}
OTHERS = [{"id": number, "name": f"Nan {number}", "phone": "+1"} for number in range(100, 300)]
Search = Callable[[Mapping[str, Any]], Rows]


def contains(query: Mapping[str, Any]) -> Rows:
    [(name, text)] = query.items()
    return [row for row in [*OTHERS, ADA] if text in str(row.get(name, ""))][:100]


def refuses(query: Mapping[str, Any]) -> Rows:
    if "email" in query:
        raise RequestRefused("no", status=400)
    return contains(query)


def searched(search: Search | Rows, check: Findings, client: Client = None) -> list[Finding]:
    server = Server(search if callable(search) else lambda _: search, 1_000, client)
    return Driver(server, ModelStore(), Random(0)).run(check)


def findings(search: Search | Rows, *, client: Client = ADA) -> dict[str, Finding]:
    return {finding.check: finding for finding in searched(search, check_clients(["7"]), client)}


def test_a_search_that_finds_a_known_client_and_nobody_else_is_proven() -> None:
    by_check = findings(contains)

    states = {check: finding.state for check, finding in by_check.items()}
    proven = ("get", "search by name", "search by email", "search by phone")
    assert states == {**dict.fromkeys(proven, "ok"), "search": "note"}


@pytest.mark.parametrize(
    ("search", "check", "outcome"),
    [
        (refuses, "search by email", "refused"),
        ([ADA], "search by name", "ignored"),
        ([], "search by phone", "not found"),
        (OTHERS[:100], "search by name", "possibly cut"),
        (OTHERS[:100], "search", "possibly cut"),
        (OTHERS[:101], "search", "whole"),
        (OTHERS[:99], "search", "whole"),
    ],
)
def test_a_wrong_search_is_reported(search: Search | Rows, check: str, outcome: str) -> None:
    finding = findings(search)[check]

    assert finding.found == outcome
    assert not [text for text in ADA.values() if str(text) in finding.evidence.split()]


def test_without_a_client_nothing_is_searched_for() -> None:
    by_check = findings(contains, client=None)

    assert list(by_check) == ["get", "search"]
    assert by_check["get"].found == "not found"


def test_a_client_that_could_not_be_read_is_not_said_to_be_missing() -> None:
    with pytest.raises(Unreachable):
        findings(contains, client=Unreachable("500"))


def of_client(query: Mapping[str, str]) -> Rows:
    return [{"id": f"of {query['client_id']}", "client_id": query["client_id"]}]


def refused_by_client(_: Mapping[str, str]) -> Rows:
    raise refused("client_id")


@pytest.mark.parametrize(
    ("search", "state", "evidence"),
    [
        (of_client, "ok", "two clients show their own patients only"),
        ([{"id": "1", "client_id": "7"}], "note", "patients of other clients are shown"),
        ([], "unknown", "too few clients with patients"),
        (refused_by_client, "note", "is refused"),
    ],
)
def test_patients_are_those_of_two_clients_or_it_is_said(search: Search | Rows, state: str, evidence: str) -> None:
    [finding] = searched(search, check_patients(["7", "8"]))

    assert finding.state == state
    assert evidence in finding.evidence


WINTER, SUMMER = datetime(2026, 1, 15, 17, tzinfo=UTC), datetime(2026, 7, 15, 17, tzinfo=UTC)
YEAR = date(2025, 1, 16), date(2026, 1, 15)


def calls(zone: str, *starts: datetime, count: int = 5) -> list[Pair]:
    times = [start + timedelta(hours=number) for start in starts for number in range(count)]
    return [(at, at.astimezone(ZoneInfo(zone)).replace(tzinfo=None)) for at in times]


@settings(max_examples=20)
@given(zone=st.sampled_from(USUAL))
def test_a_zone_always_fits_its_own_calls(zone: str) -> None:
    assert fits(zone, calls(zone, WINTER, SUMMER))
    assert check_zone("phone_calls", zone, calls(zone, WINTER, SUMMER)).state == "ok"


def test_only_both_seasons_distinguish_a_zone_with_summer_time() -> None:
    assert {"America/Denver", "America/Phoenix"} <= set(zones_that_fit(calls("America/Phoenix", WINTER)))
    both = zones_that_fit(calls("America/Phoenix", WINTER, SUMMER))
    assert both[0] == "America/Phoenix"
    assert "America/Denver" not in both


def test_the_day_to_look_at_is_one_on_which_the_zones_that_fit_so_far_differ() -> None:
    """Both are seven hours behind in winter; Phoenix stays so."""
    zones = zones_that_fit(calls("America/Phoenix", WINTER), "America/Denver")

    day = distinguishing_day(zones, *YEAR, seen=())

    assert zones[0] == "America/Denver"
    assert "America/Phoenix" in zones
    assert day is not None
    assert date(2025, 3, 9) < day < date(2025, 11, 2)
    winter = date(2025, 12, 1), YEAR[1]
    assert distinguishing_day(["America/Denver", "America/Phoenix"], *winter, seen=()) is None
    nearby = distinguishing_day(zones, *YEAR, seen=(day,))
    assert nearby is None or abs(nearby - day) > timedelta(days=1)


def test_a_wrong_zone_is_corrected_and_the_others_that_fit_are_named() -> None:
    finding = check_zone("phone_calls", "America/Chicago", calls("America/New_York", WINTER, SUMMER))

    assert finding.state == "contradicts"
    assert finding.correction is not None
    assert finding.correction.value == "America/New_York"
    assert "had the same time" in finding.remedy
    assert "-4:00, -5:00" in finding.evidence


def test_calls_of_one_half_of_the_year_decide_nothing_and_the_zones_to_choose_from_are_named() -> None:
    """In winter Denver and Phoenix have the same time. An advice to write either would be a guess."""
    winter = calls("America/Phoenix", WINTER)

    wrong = check_zone("phone_calls", "America/New_York", winter)
    right = check_zone("phone_calls", "America/Phoenix", winter)

    assert (wrong.state, wrong.found, wrong.correction) == ("contradicts", "several fit", None)
    assert "America/Denver" in wrong.remedy
    assert "America/Phoenix" in wrong.remedy
    assert (right.state, right.found) == ("note", "America/Phoenix")
    assert "America/Denver fits as well" in right.evidence
    advice = contradiction("America/New_York", winter)
    assert advice is not None
    assert not [zone for zone in USUAL if zone in advice and zone != "America/New_York"]


@pytest.mark.parametrize(
    ("zone", "written_in", "setting", "state", "found", "correction"),
    [
        ("America/New_York", "America/New_York", None, "contradicts", "practice", "practice"),
        ("America/New_York", "America/New_York", "utc", "contradicts", "practice", "practice"),
        ("America/New_York", "America/New_York", "practice", "ok", "practice", None),
        ("America/New_York", "UTC", None, "note", "utc", None),
        ("America/New_York", "UTC", "utc", "ok", "utc", None),
        ("America/New_York", "UTC", "practice", "contradicts", "utc", "utc"),
        ("America/New_York", "America/Denver", None, "contradicts", "neither fits", None),
        ("Atlantic/Reykjavik", "UTC", None, "unknown", "", None),
    ],
)
def test_calls_show_what_a_time_without_an_offset_is_and_no_zone(
    zone: str, written_in: str, setting: TimesWithoutOffset | None, state: str, found: str, correction: str | None
) -> None:
    """Practice-local times differ from the CSV as those of a practice in UTC: doctor wrote that zone."""
    read_in = ZoneInfo(zone) if setting == "practice" else UTC
    shown = [
        (at.astimezone(ZoneInfo(written_in)).replace(tzinfo=read_in), local)
        for at, local in calls(zone, WINTER, SUMMER)
    ]

    finding = check_times("phone_calls", zone, setting, shown)

    assert (finding.state, finding.found) == (state, found)
    assert finding.correction == (Correction("times_without_offset", correction) if correction else None)


@pytest.mark.parametrize("count", [0, 4])
def test_few_calls_prove_nothing(count: int) -> None:
    assert check_zone("phone_calls", "America/Denver", calls("Asia/Tokyo", WINTER, count=count)).state == "unknown"


def test_calls_that_look_alike_are_left_out() -> None:
    record = {"created_at": "2026-01-15T17:00:30Z", "phone_number": "+15550100", "duration_seconds": 61}
    local = datetime(2026, 1, 15, 12)  # noqa: DTZ001 - practice-local
    blank = dict.fromkeys(("direction", "client_name", "patient_name", "summary"))
    row = {**blank, "called_at_local": local, "phone_number": "+15550100", "duration_seconds": 61}

    assert pairs([record], [row]) == [(WINTER, local)]
    assert pairs([record, record], [row]) == []
    assert pairs([record], [row, row]) == []
