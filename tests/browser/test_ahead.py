"""What comes: the visits of the weeks ahead on Appointments, and tomorrow's calls on Phones."""

import csv
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import duckdb
import pytest
from playwright.sync_api import Locator, Page, expect
from support.dashboard_browser import Visit, drawn

EARLIER = 8


@pytest.fixture
def marts(published: Path) -> Any:
    with duckdb.connect(published, read_only=True) as connection:
        yield connection


def part_of(page: Page, chart: str) -> Locator:
    """Return the part of a page with a chart and its table; `chart` is a part of its description."""
    return page.get_by_test_id("stTabs").filter(has=page.get_by_label(chart)).first


def downloaded(panel: Locator, page: Page) -> list[dict[str, str]]:
    """Return the table of a chart, as its download has it."""
    panel.get_by_role("tab", name="Table").click()
    with page.expect_download() as download:
        panel.get_by_role("button", name="Download CSV").click()
    with Path(download.value.path()).open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def test_the_weeks_ahead_beside_what_was_booked_by_this_time_before_other_weeks(visit: Visit, marts: Any) -> None:
    clocks = marts.execute("select practice_id, today, as_of_local, history_start from marts.practices").fetchall()
    booked = marts.execute(
        "select practice_id, booking_date_local::date, created_at_local, attendance, booked_via"
        " from marts.appointments"
    ).fetchall()
    kept, made, usual, ways = [0] * 5, [0] * 5, [0.0] * 5, set[str | None]()
    for practice, today, now, history_start in clocks:
        earlier = min(EARLIER, ((today - history_start).days - 28) // 7)
        for of, day, created, attendance, way in booked:
            week = (day - today).days // 7
            if of == practice and 0 <= week < 5:
                made[week] += 1
                kept[week] += attendance != "canceled"
                ways.add(way)
            for ago in range(1, earlier + 1):
                back = timedelta(weeks=ago)
                week = (day - today + back).days // 7
                if of == practice and 0 <= week < 5 and created <= now - back:
                    usual[week] += 1 / earlier
    assert kept[0]
    assert usual[0]

    page = drawn(visit("/appointments"))
    panel = part_of(page, "Visits booked for the next five weeks")
    expect(panel.locator(".role-legend-label text")).to_have_count(len(ways))
    rows = downloaded(panel, page)
    weeks = [week for week in range(5) if made[week]]
    assert [int(row["visits_booked"]) for row in rows] == [kept[week] for week in weeks]
    assert [int(row["made_by_now"]) for row in rows] == [made[week] for week in weeks]
    assert [round(float(row["usually_booked"])) for row in rows] == [round(usual[week]) for week in weeks]
    expect(page.get_by_text(re.compile(rf"^{kept[0]} visits are booked for the next 7 days"))).to_be_visible()


def test_tomorrow_is_forecast_for_each_practice_with_its_band_and_usual_calls(visit: Visit, marts: Any) -> None:
    for practice, today in marts.execute("select practice_id, today from marts.practices").fetchall():
        tomorrow = today + timedelta(days=1)
        ((expected,),) = marts.execute(
            "select sum(calls_expected) from marts.calls_forecast where practice_id = ? and day = ?",
            [practice, tomorrow],
        ).fetchall()
        ((usual,),) = marts.execute(
            """select sum(calls) / 8 from marts.booking_intent_daily where direction = 'inbound'
               and practice_id = $1 and day between $2::date - 56 and $2::date - 1
               and isodow(day) = isodow($2::date + 1)""",
            [practice, today],
        ).fetchall()
        page = drawn(visit(f"/phones?practice={practice}"))
        panel = part_of(page, "Expected inbound calls by day of the next two weeks")
        panel.scroll_into_view_if_needed()
        expect(panel.locator("[aria-roledescription='area mark'], .mark-area path").first).to_be_visible()
        expect(panel.locator(".mark-line path")).to_have_count(2)

        first, *others = downloaded(panel, page)
        assert first["day"] == str(tomorrow)
        assert float(first["expected_calls"]) == pytest.approx(expected, abs=0.06)
        assert float(first["low"]) < float(first["expected_calls"]) < float(first["high"])
        assert float(first["usual_calls"]) == pytest.approx(usual, abs=0.06)
        assert len(others) == 13


def test_a_click_is_in_the_address_and_a_link_shows_its_rows(visit: Visit) -> None:
    page = drawn(visit("/phones"))
    panel = part_of(page, "Calls by how they ended")
    panel.scroll_into_view_if_needed()
    panel.locator(".mark-rect path").first.click(force=True)
    said = page.get_by_text(re.compile("rows are behind the mark"))
    expect(said).to_be_visible()
    expect(page).to_have_url(re.compile(r"clicked=calls-by-end%3Fended%3D"))
    words = said.inner_text()

    again = drawn(visit(page.url.partition("://")[2].partition("/")[2].join(["/", ""])))
    expect(again.get_by_text(words)).to_be_visible()
