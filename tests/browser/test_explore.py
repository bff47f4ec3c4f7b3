"""Explore by mouse: a click on a bar filters the page, a second one shows the rows."""

import csv
import re
from pathlib import Path
from typing import Any

import duckdb
import pytest
from playwright.sync_api import Page, expect
from support.dashboard_browser import Visit, drawn


@pytest.fixture
def calls(published: Path) -> Any:
    """Return the calls of the last 28 days by direction, the most first."""
    with duckdb.connect(published, read_only=True) as connection:
        return connection.execute(
            """select direction, count(*) from marts.phone_calls
               where day between (select min(today) - 28 from marts.practices)
                     and (select min(today) - 1 from marts.practices) group by all order by 2 desc"""
        ).fetchall()


def click_first_bar(page: Page) -> None:
    bars = page.locator("[data-testid=stVegaLiteChart] .mark-rect path[aria-roledescription=bar]")
    bars.first.wait_for()
    bars.first.click()


def test_a_click_on_a_bar_filters_the_page_and_a_second_one_shows_its_rows(visit: Visit, calls: Any) -> None:
    direction, number = calls[0]
    page = drawn(visit("/explore?metric=calls&by=direction"))
    click_first_bar(page)
    expect(page).to_have_url(re.compile(f"only=direction%3D{direction}"))
    drawn(page)
    expect(page.get_by_test_id("stMetricValue").filter(has_text=f"{number:,}").first).to_be_visible()

    click_first_bar(page)
    expect(page).to_have_url(re.compile("/rows.*measure=calls"))
    drawn(page, "Rows")
    expect(page.get_by_test_id("stMetricValue").first).to_have_text(f"{number:,}")
    expect(page.get_by_text(re.compile(f"^Only Direction.*{direction.capitalize()}$"))).to_be_visible()


def test_a_click_on_a_week_filters_the_page(visit: Visit) -> None:
    page = drawn(visit("/explore?metric=calls&grain=week"))
    points = page.locator("[data-testid=stVegaLiteChart] .mark-symbol path[aria-roledescription=point]")
    points.nth(1).click()
    expect(page).to_have_url(re.compile(r"only=week%3D\d{4}-\d\d-\d\d"))
    drawn(page)
    expect(page.get_by_role("button", name=re.compile("^Week:|Week:"))).to_be_visible()


def test_a_table_leaves_as_csv(visit: Visit, calls: Any) -> None:
    page = drawn(visit("/explore?metric=calls&by=direction"))
    page.get_by_role("tab", name="Table").nth(1).click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download CSV").last.click()
    with Path(download.value.path()).open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["direction"].lower(): int(row["calls"]) for row in rows} == dict(calls)


MARKS = ".mark-rect path, .mark-symbol path"


@pytest.mark.parametrize(
    "path", ["", "call-back", "phones", "appointments", "online-booking", "outreach", "tasks"]
)
def test_a_click_on_a_mark_of_any_chart_leads_to_its_rows_or_says_why_not(visit: Visit, path: str) -> None:
    page = drawn(visit(f"/{path}?period=90"))
    charts = page.get_by_test_id("stVegaLiteChart").filter(has=page.locator(".role-axis"))
    charts.first.wait_for()
    assert charts.count()
    for number in range(charts.count()):
        chart = charts.nth(number)
        if not chart.is_visible():
            continue  # in a tab that is closed
        chart.scroll_into_view_if_needed()
        said = page.get_by_text(re.compile(r"rows are behind the mark|has no rows of its own"))
        before = said.count()
        chart.locator(MARKS).first.click(force=True)
        expect(said).to_have_count(before + 1, timeout=20_000)
        drawn(page)
        assert page.get_by_test_id("stException").count() == 0
