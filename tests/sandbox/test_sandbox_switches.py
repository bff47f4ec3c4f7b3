"""Every switch really changes the answers that a partner sees, and makes some servers hard to read whole."""

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from support.partner_side import Partner, by_id


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
        ("without_offset", r"T\d\d:\d\d:\d\d\.\d{3}$"),
        ("practice_without_offset", r"T\d\d:\d\d:\d\d\.\d{3}$"),
    ],
)
def test_timestamps_come_in_their_switched_form(partner: Partner, form: str, pattern: str) -> None:
    before = by_id(partner.truth("staff_tasks"))
    partner.platform.set(timestamps=form)
    for row in partner.truth("staff_tasks")[:50]:
        assert re.search(pattern, row["created_at"])
        switched, usual = (datetime.fromisoformat(one["created_at"]) for one in (row, before[row["id"]]))
        if form.endswith("without_offset"):
            usual = usual.astimezone(ZoneInfo("America/New_York") if form.startswith("practice") else UTC).replace(
                tzinfo=None
            )
        assert abs(switched - usual) < timedelta(seconds=1)


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


def test_a_range_without_an_end_may_end_at_midnight_and_a_large_page_be_refused(partner: Partner) -> None:
    now = partner.platform.now().isoformat()
    partner.platform.insert("loc-001", "booking_sessions", {"updated_at": now})
    since = {"start_date": "2025-01-01"}
    before = partner.page("booking_sessions", **since)["total_count"]
    partner.platform.set(booking_sessions={"default_end": "midnight", "over_large": "refuse"})

    assert partner.page("booking_sessions", **since)["total_count"] < before
    assert partner.get("booking_sessions", per_page=1_000, **since).status_code == 400
