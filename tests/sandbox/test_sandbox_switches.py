"""Every switch really changes the answers that a partner sees, and makes some servers hard to read whole."""

import re
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime

import pytest
from support.partner_side import SIGN_IN, Partner, by_id

EARLY = {"start_date": "2025-01-01"}


def test_a_token_ends_with_its_lifetime_by_the_platforms_clock(partner: Partner) -> None:
    partner.platform.set(token_lifetime_seconds=60)
    partner.sign_in()
    partner.platform.advance(timedelta(seconds=59))
    assert partner.get("staff_tasks").status_code == 200
    partner.platform.advance(timedelta(seconds=1))
    assert partner.get("staff_tasks").status_code == 401


@pytest.mark.parametrize(
    ("form", "pattern"),
    [
        ("milliseconds", r"\.\d{3}Z$"),
        ("seconds", r"T\d\d:\d\d:\d\dZ$"),
        ("microseconds", r"\.\d{6}Z$"),
        ("offset", r"\.\d{3}\+00:00$"),
        ("practice", r"\.\d{3}-0[45]:00$"),
    ],
)
def test_timestamps_come_in_their_switched_form(partner: Partner, form: str, pattern: str) -> None:
    before = by_id(partner.truth("staff_tasks"))
    partner.platform.set(timestamps=form)
    for row in partner.truth("staff_tasks")[:50]:
        assert re.search(pattern, row["created_at"])
        switched, usual = (datetime.fromisoformat(one["created_at"]) for one in (row, before[row["id"]]))
        assert abs(switched - usual) < timedelta(seconds=1)


def test_sessions_expire_after_their_switched_time(partner: Partner) -> None:
    active = partner.page("booking_sessions", status="active", **EARLY)["total_count"]
    partner.platform.set(session_expiry_minutes=24 * 60)
    assert partner.page("booking_sessions", status="active", **EARLY)["total_count"] > active
    partner.platform.set(session_expiry_minutes=0)
    assert partner.page("booking_sessions", status="active", **EARLY)["total_count"] == 0


def test_the_csv_may_have_other_labels_and_line_ends(partner: Partner) -> None:
    query = {"format": "csv", "state": "no_answer", "per_page": 1}
    usual = partner.get("phone_calls", **query).text
    partner.platform.set(csv_labels="humanized", csv_newline="\r\n")
    other = partner.get("phone_calls", **query).text
    assert ",no_answer," in usual
    assert ",No answer," in other
    assert ",no_answer," not in other
    assert ",Duration\r\n" in other


def test_the_order_may_be_another_for_each_request(partner: Partner) -> None:
    partner.platform.set(staff_tasks={"order": "random"})
    reads = [[row["id"] for row in partner.page("staff_tasks", per_page=100)["content"]] for _ in range(3)]
    assert len({tuple(read) for read in reads}) == 3


def test_tied_rows_may_change_places(partner: Partner) -> None:
    at = partner.platform.now().isoformat()
    tied = {partner.platform.insert("loc-001", "staff_tasks", {"created_at": at}) for _ in range(9)}

    def read() -> list[str]:
        return [row["id"] for row in partner.page("staff_tasks", per_page=30)["content"]]

    fixed = read()
    partner.platform.set(staff_tasks={"ties": "moving"})
    moving = [read() for _ in range(5)]
    assert {frozenset(ids[:9]) for ids in moving} == {frozenset(tied)}
    assert len({tuple(ids) for ids in moving}) > 1
    assert {tuple(ids[9:]) for ids in moving} == {tuple(fixed[9:])}


def test_a_page_may_be_full_of_nothing(partner: Partner) -> None:
    partner.platform.set(staff_tasks={"empty_rows": 1000})
    assert partner.page("staff_tasks", per_page=5)["content"] == [[]] * 1000


def test_a_sign_in_may_be_refused_with_a_200_although_all_is_right(partner: Partner) -> None:
    partner.platform.set(sign_in_refusals=0.5)
    credentials = {name: getattr(partner.platform, name) for name in ("username", "password", "role")}
    answers = [partner.http.post(SIGN_IN, json=credentials) for _ in range(40)]
    assert {answer.status_code for answer in answers} == {200}
    assert 5 < sum(answer.json()["success"] for answer in answers) < 35
    assert not any("data" in answer.json() for answer in answers if not answer.json()["success"])


def test_a_token_may_be_good_for_some_requests_only(partner: Partner) -> None:
    partner.platform.set(token_uses=3)
    partner.sign_in()
    assert [partner.get("staff_tasks").status_code for _ in range(4)] == [200, 200, 200, 401]


def test_the_date_of_answers_may_be_ahead(partner: Partner) -> None:
    partner.platform.set(date_ahead_seconds=3 * 86_400)
    answered_at = parsedate_to_datetime(partner.get("staff_tasks").headers["Date"])
    assert abs(answered_at - partner.platform.now() - timedelta(days=3)) < timedelta(seconds=2)


def test_the_stated_zone_of_a_practice_may_be_wrong(partner: Partner) -> None:
    before = partner.get("phone_calls", format="csv").text
    partner.platform.set(told_time_zones={"loc-001": "America/Denver"})
    assert partner.platform.describe()["practices"][0]["time_zone"] == "America/Denver"
    assert 'time_zone = "America/Denver"' in partner.http.get("/vetl.toml").text
    assert partner.get("phone_calls", format="csv").text == before


def test_the_calls_of_a_day_may_never_be_over(partner: Partner) -> None:
    over = by_id([call for call in partner.truth("phone_calls") if call["created_at"][:10] != "2025-12-10"])
    partner.platform.set(unfinished_calls_on="2025-12-10")
    calls = partner.truth("phone_calls")
    stuck = [call for call in calls if call["created_at"][:10] == "2025-12-10"]
    assert stuck
    assert {call["state"] for call in stuck} == {"in_progress"}
    assert all(call == over[call["id"]] for call in calls if call["id"] in over)
    listed = partner.everything("phone_calls", state="in_progress")
    assert by_id(stuck).keys() <= by_id(listed).keys()
