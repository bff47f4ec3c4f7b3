"""Every filter by hand: the figures are those of the marts, and the address opens the same view."""

import csv
import re
from pathlib import Path
from typing import Any

import duckdb
import pytest
from playwright.sync_api import Page, expect
from support.dashboard_browser import Dashboard, Visit, drawn, figures

FIVE = """
    select round(100 * sum(booked_within_7_days) / sum(new_booking_callers))::int || '%',
           round(100 * sum(completed) / sum(sessions))::int || '%', format('{:,}', sum(leaks)::bigint)
    from marts.practice_daily
    where day between $today::date - $length::int and $today::date - 1
          and ($practice is null or practice_id = $practice)
"""


@pytest.fixture
def marts(published: Path) -> Any:
    with duckdb.connect(published, read_only=True) as connection:
        yield connection


def five(marts: Any, length: int, practice: str | None = None) -> list[str]:
    """Return the first, third and last of the five numbers, queried as an analyst would."""
    today = marts.execute("select min(today) from marts.practices").fetchone()[0]
    asked = {"today": today, "length": length, "practice": practice}
    return list(marts.execute(FIVE, asked).fetchone())


def choose(page: Page, label: str, option: str) -> None:
    """Choose with the keyboard alone, like a user without a mouse."""
    box = page.get_by_test_id("stSidebar").get_by_role("combobox", name=label)
    box.focus()
    page.keyboard.type(option)
    page.get_by_role("option", name=option, exact=True).wait_for()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")


def test_group_practice_period_and_channel_by_keyboard(visit: Visit, dashboard: Dashboard, marts: Any) -> None:
    page = drawn(visit("/"))
    practice, name = marts.execute("select practice_id, name from marts.practices order by name").fetchone()
    shown = page.get_by_test_id("stMetricValue")
    assert [figures(page)[which] for which in (0, 2, 4)] == five(marts, 28)

    choose(page, "Group", "America")
    choose(page, "Period", "Last 7 days")
    expect(shown.nth(4)).to_have_text(five(marts, 7)[2])
    choose(page, "Practice", name)
    expect(shown.nth(4)).to_have_text(five(marts, 7, practice)[2])
    choose(page, "Channel", "Phone call")
    expect(page.get_by_test_id("stMain").get_by_text("Phone call only")).to_be_visible()
    for part in ("group=America", "period=Last", "practice=", "channel=Phone"):
        expect(page).to_have_url(re.compile(part))

    again = drawn(visit(page.url.removeprefix(dashboard.address)))
    assert figures(again) == figures(drawn(page))
    assert [figures(again)[which] for which in (0, 2, 4)] == five(marts, 7, practice)


def test_own_days_stand_in_the_address(visit: Visit, marts: Any) -> None:
    first, last = marts.execute("select min(today) - 20, min(today) - 11 from marts.practices").fetchone()
    page = drawn(visit(f"/funnel?period=Own+days&from={first}&to={last}"))
    sessions = marts.execute(
        "select sum(sessions)::bigint from marts.booking_funnel_daily where day between ? and ?", [first, last]
    ).fetchone()[0]

    assert figures(page)[0] == f"{sessions:,}"


def test_the_filters_of_an_address_stay_when_another_page_is_opened(visit: Visit) -> None:
    page = drawn(visit("/tasks?period=Last+7+days&group=America"))

    page.get_by_role("link", name="Overview").click()

    there = figures(drawn(page, "Overview"))
    assert "group=America" in page.url
    assert there == figures(drawn(visit("/?period=Last+7+days&group=America"))) != figures(drawn(visit("/")))


def test_the_funnel_by_client_and_its_table_by_keyboard(visit: Visit) -> None:
    page = drawn(visit("/funnel"))
    page.get_by_role("radio", name="New or existing client").press("Enter")
    expect(page).to_have_url(re.compile("by=New"))
    tab = drawn(page).get_by_role("tab", name="Chart").first
    tab.focus()
    page.keyboard.press("ArrowRight")

    expect(page.get_by_role("tab", name="Table").first).to_have_attribute("aria-selected", "true")
    expect(page.get_by_role("tabpanel").get_by_role("button", name="Download CSV").first).to_be_visible()


def test_the_work_list_is_filtered_and_downloaded(visit: Visit, marts: Any) -> None:
    page = drawn(visit("/leaks?tries=2"))
    people = marts.execute("select count(*) from marts.leak_list where contacts >= 2").fetchone()[0]
    expect(page.get_by_text(f"{people} to call back")).to_be_visible()

    with page.expect_download() as download:
        page.get_by_role("button", name="Download CSV").first.click()
    with Path(download.value.path()).open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == people
    assert all(int(row["times_tried"]) >= 2 for row in rows)


def test_a_definition_is_one_click_away(visit: Visit, marts: Any) -> None:
    page = drawn(visit("/"))
    words = marts.execute(
        "select definition from marts.catalogue where table_name = 'practice_daily' and column_name = 'leaks'"
    ).fetchone()[0]
    page.get_by_test_id("stMetric").last.get_by_test_id("stTooltipHoverTarget").hover()

    expect(page.get_by_test_id("stTooltipContent")).to_contain_text(" ".join(words.split())[:40])
