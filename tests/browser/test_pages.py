"""Every page in the browser: complete, accessible, on a phone, in the dark, on paper, and after a publication."""

from pathlib import Path
from typing import Any

import board.pages
import duckdb
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect
from support.dashboard_browser import Visit, drawn, figures, serving

PAGES = {
    "": "Overview",
    **{page.path: page.title for page in board.pages.PAGES[1:]},
    "explore?metric=calls&by=direction&grain=week": "Explore",
}
PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}
TOO_WIDE = """() => {
    const main = document.querySelector('[data-testid=stMain]')
    const cut = [...main.querySelectorAll('[data-testid=stMetricLabel] p, h1, h2, [role=tab]')]
        .filter(one => one.getBoundingClientRect().right > innerWidth || one.scrollWidth > one.clientWidth + 1)
    return [main.scrollWidth - main.clientWidth, ...cut.map(one => one.innerText)]
}"""


CONTRASTS = """() => {
    const light = colour => {
        const parts = colour.match(/[\\d.]+/g).slice(0, 3).map(part => part / 255)
            .map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
    }
    const back = light(getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor)
    return [...document.querySelectorAll('[data-testid=stVegaLiteChart] text')].filter(one => one.textContent)
        .map(one => light(getComputedStyle(one).fill))
        .map(front => (Math.max(front, back) + 0.05) / (Math.min(front, back) + 0.05))
}"""


OF_STREAMLIT = {"list", "listitem"}
"""Streamlit puts the heading of a group of pages into its list of pages."""


def findings(page: Page) -> list[str]:
    """Return the findings that axe calls serious or critical, with the first place of each."""
    violations = Axe().run(page).response["violations"]
    return [
        f"{one['id']}: {one['nodes'][0]['html']}"
        for one in violations
        if one["impact"] in {"serious", "critical"} and one["id"] not in OF_STREAMLIT
    ]


@pytest.mark.parametrize("path", PAGES)
def test_a_page_is_whole_and_open_to_all(visit: Visit, path: str) -> None:
    page = drawn(visit(f"/{path}"))

    assert page.get_by_role("heading", level=1).inner_text() == PAGES[path]
    assert page.get_by_test_id("stException").count() == page.get_by_test_id("stAlertContentError").count() == 0
    assert page.get_by_text("Deploy", exact=True).count() == 0
    assert findings(page) == faint_words(page, path) == []

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
    assert faint_words(page, path) == too_small_to_read(page) == []


def too_small_to_read(page: Page) -> list[Any]:
    """Return the sizes of small charts: a legend of four lines left 40 pixels, and long names as few.

    The line in a figure has no axis to read.
    """
    with_axes = page.get_by_test_id("stVegaLiteChart").filter(has=page.locator(".role-axis"))
    charts = [chart for chart in with_axes.all() if chart.is_visible()]
    sizes = [chart.locator("path.background").first.bounding_box() or {} for chart in charts]
    heights = [150 if chart.locator(".mark-line").count() else 0 for chart in charts]
    return [
        size
        for size, height in zip(sizes, heights, strict=True)
        if size.get("width", 0) < 150 or size.get("height", 0) < height
    ]


AXIS_TEXT = "[data-testid=stVegaLiteChart] .role-axis-label text"
"""A chart draws its words after the page is there."""


def faint_words(page: Page, path: str) -> list[float]:
    """Return the contrasts of words on a chart that do not stand out, on two pages that have charts."""
    if path not in {"", "tasks"}:
        return []
    page.locator(AXIS_TEXT).first.wait_for()
    contrasts: list[float] = page.evaluate(CONTRASTS)
    assert contrasts
    return [contrast for contrast in contrasts if contrast < 4.5]


@pytest.mark.parametrize("path", ["", "phones", "tasks"])
def test_an_axis_has_no_tick_twice(visit: Visit, path: str) -> None:
    """A week of one practice counts three: its ticks were 0, 1, 1, 2, 2, 3, 3."""
    page = drawn(visit(f"/{path}?practice=loc-001&period=7"))
    page.locator(AXIS_TEXT).first.wait_for()
    axes = [
        [text for text in axis.locator("text").all_text_contents() if text]
        for axis in page.locator("[data-testid=stVegaLiteChart] .role-axis-label").all()
    ]
    assert any(axes)
    assert [labels for labels in axes if len(labels) != len(set(labels))] == []


def test_sixty_practices_have_names_of_their_own(visit: Visit, published: Path, tmp_path: Path) -> None:
    with serving(published, tmp_path) as running:
        with duckdb.connect(running.file) as connection:
            connection.execute("""
                create temp table more as select 'loc-1' || lpad(n::varchar, 2, '0') as id, n
                from range(58) as numbers (n);
                insert into marts.practices by name
                select practices.* replace (
                    id as practice_id, 'Northern Companion Animal Hospital and Clinic ' || n as name
                ) from marts.practices as practices cross join more where practice_id = 'loc-001';
                insert into marts.practice_daily by name
                select daily.* replace (id as practice_id)
                from marts.practice_daily as daily cross join more where practice_id = 'loc-001'
            """)
        page = drawn(visit("/", at=running))
        charts = page.get_by_test_id("stVegaLiteChart").filter(has=page.locator(".role-axis"))
        labels = charts.first.locator("text").all_text_contents()

        names = [text for text in labels if text.startswith("Northern")]
        assert len(names) == len(set(names)) == 58


def test_a_publish_is_seen_while_the_page_is_open(visit: Visit, published: Path, tmp_path: Path) -> None:
    """Nobody touches the page: a quarter of a minute later, by the browser's clock, it shows the new file."""
    with serving(published, tmp_path) as running:
        page = drawn(visit("/online-booking", at=running))
        assert figures(page)[0] != "0"
        draft = tmp_path / "draft.duckdb"
        draft.write_bytes(running.file.read_bytes())
        with duckdb.connect(draft) as connection:
            connection.execute("delete from marts.booking_funnel_daily")
        draft.replace(running.file)
        page.clock.fast_forward("00:20")

        expect(page.get_by_test_id("stMetricValue").first).to_have_text("0")
