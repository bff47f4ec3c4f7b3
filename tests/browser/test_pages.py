"""Every page in the browser: complete, accessible, on a phone, in the dark and on paper."""

from pathlib import Path

import duckdb
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect
from support.dashboard_browser import Visit, drawn, serving

PAGES = {
    "": "Overview",
    "funnel": "Booking funnel",
    "calls": "Phone calls",
    "appointments": "Appointments",
    "outreach": "Outreach",
    "messages": "Messages",
    "tasks": "Staff tasks",
    "leaks": "Leaks",
    "health": "Data health",
}
PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}
TOO_WIDE = """() => {
    const main = document.querySelector('[data-testid=stMain]')
    const cut = [...main.querySelectorAll('[data-testid=stMetricLabel] p, h1, h2, [role=tab]')]
        .filter(one => one.getBoundingClientRect().right > innerWidth || one.scrollWidth > one.clientWidth + 1)
    return [main.scrollWidth - main.clientWidth, ...cut.map(one => one.innerText)]
}"""


def findings(page: Page) -> list[str]:
    """Return the findings that axe calls serious or critical, with the first place of each."""
    violations = Axe().run(page).response["violations"]
    return [
        f"{one['id']}: {one['nodes'][0]['html']}" for one in violations if one["impact"] in {"serious", "critical"}
    ]


@pytest.mark.parametrize("path", PAGES)
def test_a_page_is_whole_and_open_to_all(visit: Visit, path: str) -> None:
    page = drawn(visit(f"/{path}"))

    assert page.get_by_role("heading", level=1).inner_text() == PAGES[path]
    assert page.get_by_test_id("stException").count() == page.get_by_test_id("stAlertContentError").count() == 0
    assert page.get_by_text("Deploy", exact=True).count() == 0
    assert findings(page) == []

    page.emulate_media(media="print")
    for hidden in ("stSidebar", "stHeader"):
        assert not any(one.is_visible() for one in page.get_by_test_id(hidden).all()), hidden
    assert not any(one.is_visible() for one in page.get_by_role("button", name="Download CSV").all())
    assert page.get_by_role("heading", level=1).is_visible()


@pytest.mark.parametrize("path", PAGES)
def test_a_page_in_the_dark_on_a_phone(visit: Visit, path: str) -> None:
    page = drawn(visit(f"/{path}", color_scheme="dark", **PHONE))

    assert page.evaluate(TOO_WIDE) == [0]
    assert findings(page) == []
    assert page.evaluate("getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor") == (
        "rgb(17, 24, 22)"
    )


def test_an_empty_practice_and_one_of_a_day_have_every_page(visit: Visit, published: Path, tmp_path: Path) -> None:
    """The navigation opens them and keeps the selection."""
    with serving(published, tmp_path) as running:
        with duckdb.connect(running.file) as connection:
            connection.execute("""
                insert into marts.practices by name
                select * replace ('empty' as practice_id, 'Empty' as name) from marts.practices limit 1;
                insert into marts.practices by name
                select * replace ('new' as practice_id, 'New' as name, today - 1 as history_start)
                from marts.practices limit 1
            """)
        for name in ("Empty", "New"):
            page = drawn(visit(f"/?practice={name.lower()}", at=running))
            for title in PAGES.values():
                page.get_by_test_id("stSidebarNav").get_by_role("link", name=title).click()
                expect(drawn(page, title).get_by_test_id("stMain").get_by_text(f"\u00b7 {name}")).to_be_visible()
                assert page.get_by_test_id("stException").count() == 0, (name, title)
