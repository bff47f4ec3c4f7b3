"""Every filter by hand: the figures are those of the marts, and the address opens the same view."""

import re
from pathlib import Path
from typing import Any

import duckdb
import pytest
from playwright.sync_api import Page, expect
from support.dashboard_browser import Dashboard, Visit, drawn, figures

SHOWN = """
    select (select round_even(100 * sum(answered_calls) / sum(calls), 0)::int || '%'
            from marts.booking_intent_daily where direction = 'inbound'
                  and day between $today::date - $length::int and $today::date - 1
                  and ($practice is null or practice_id = $practice)),
           (select round_even(100 * sum(new_booking_calls) / sum(new_booking_intent_calls), 0)::int || '%'
            from marts.booking_intent_daily
            where ($direction is null or direction = $direction)
                  and day between $today::date - $length::int and $today::date - 1
                  and ($practice is null or practice_id = $practice))
"""


@pytest.fixture
def marts(published: Path) -> Any:
    with duckdb.connect(published, read_only=True) as connection:
        yield connection


def expected(marts: Any, length: int, practice: str | None = None, direction: str | None = None) -> list[str]:
    """Return the first and the last figure of the calls, queried as an analyst would."""
    today = marts.execute("select min(today) from marts.practices").fetchone()[0]
    asked = {"today": today, "length": length, "practice": practice, "direction": direction}
    return list(marts.execute(SHOWN, asked).fetchone())


def choose(page: Page, label: str, option: str) -> None:
    """Choose with the keyboard alone, like a user without a mouse."""
    box = page.get_by_role("combobox", name=label)
    box.focus()
    page.keyboard.type(option)
    page.get_by_role("option", name=option, exact=True).wait_for()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    drawn(page)


def test_group_practice_period_and_direction_by_keyboard(visit: Visit, dashboard: Dashboard, marts: Any) -> None:
    page = drawn(visit("/phones"))
    practice, name = marts.execute("select practice_id, name from marts.practices order by name").fetchone()
    shown = page.get_by_test_id("stMetricValue")
    assert [figures(page)[which] for which in (0, 3)] == expected(marts, 28)

    choose(page, "Group", "America")
    choose(page, "Period", "Last 90 days")
    expect(page).to_have_url(re.compile("period=90"))
    choose(page, "Practice", name)
    choose(page, "Direction", "Inbound")
    for part in ("group=America", "period=90", f"practice={practice}", "direction=inbound"):
        expect(page).to_have_url(re.compile(part))
    drawn(page)
    expect(shown.nth(2)).to_have_text(expected(marts, 90, practice, "inbound")[1])

    again = drawn(visit(page.url.removeprefix(dashboard.address)))
    assert figures(again) == figures(drawn(page))
    assert [figures(again)[which] for which in (0, 2)] == expected(marts, 90, practice, "inbound")


def test_leaving_a_page_and_coming_back_keeps_view_and_address_in_step(visit: Visit) -> None:
    page = drawn(visit("/phones?direction=outbound&period=90"))
    before = figures(page)

    page.get_by_role("link", name="Online booking").click()
    drawn(page, "Online booking")
    expect(page).to_have_url(re.compile(r"/online-booking\?period=90$"))
    page.get_by_role("link", name="Phones").click()
    drawn(page, "Phones")
    expect(page).to_have_url(re.compile("direction=outbound"))
    assert figures(page) == before
    page.reload()

    assert figures(drawn(page, "Phones")) == before


def test_a_click_is_in_the_address_until_the_button_back_takes_it_away(visit: Visit, dashboard: Dashboard) -> None:
    page = drawn(visit("/phones"))
    panel = page.get_by_test_id("stTabs").filter(has=page.get_by_label("Calls by how they ended")).first
    panel.scroll_into_view_if_needed()
    panel.locator(".mark-rect path").first.click(force=True)
    said = page.get_by_text(re.compile("rows are behind the mark"))
    expect(said).to_be_visible()
    expect(page).to_have_url(re.compile(r"clicked=calls-by-end%3Fended%3D"))
    again = drawn(visit(page.url.removeprefix(dashboard.address)))
    expect(again.get_by_text(said.inner_text())).to_be_visible()
    page.wait_for_timeout(2500)

    page.go_back()
    expect(page).not_to_have_url(re.compile("clicked"))
    expect(said).to_have_count(0, timeout=15_000)


def test_the_first_page_has_its_name_as_an_address_too(visit: Visit) -> None:
    page = drawn(visit("/overview?practice=loc-001&period=7"))
    expect(page.get_by_role("heading", level=1)).to_have_text("Overview")
    expect(page.get_by_text("Page not found")).to_have_count(0)
    expect(page).to_have_url(re.compile(r":\d+/\?(practice=loc-001&period=7|period=7&practice=loc-001)$"))
