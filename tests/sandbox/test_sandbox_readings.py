"""Requests and errors, in points that the contract leaves open."""

import pytest
from support.partner_side import Partner


def test_an_unknown_path_gets_the_general_error_envelope(partner: Partner) -> None:
    answer = partner.get("nothing_here")
    assert answer.status_code == 404
    assert answer.json() == {"success": False, "message": "Not Found"}


def test_the_date_header_is_the_platforms_clock(partner: Partner) -> None:
    header = partner.get("staff_tasks").headers["Date"]
    assert header == partner.platform.now().strftime("%a, %d %b %Y %H:%M:%S GMT")


@pytest.mark.parametrize("day", ["0001-01-01", "9999-12-31"])
def test_nobody_is_open_at_the_ends_of_time(partner: Partner, day: str) -> None:
    assert partner.get("open_times", start_date=day, end_date=day).status_code == 200
    assert partner.get("open_times", start_date=day).status_code == 200
