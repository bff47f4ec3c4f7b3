"""The dashboard in a real browser (`make test-browser`), over a real published file."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright
from support.dashboard_browser import Dashboard, Visit, serving
from support.published import published_once

expect.set_options(timeout=60_000)  # as long as a page may take on a machine that does other work
CHROMIUM = shutil.which("chromium") or "/usr/bin/chromium"


@pytest.fixture(scope="session")
def browser(published: Path) -> Iterator[Browser]:
    """Provide a browser, started once the file exists: playwright's client runs a loop, which blocks a sync."""
    del published
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture(scope="session")
def published() -> Path:
    return published_once()


@pytest.fixture(scope="session")
def dashboard(published: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dashboard]:
    """Provide one dashboard for all tests that only read."""
    with serving(published, tmp_path_factory.mktemp("dashboard")) as running:
        yield running


@pytest.fixture(scope="session")
def known() -> dict[str, BrowserContext]:
    """Provide browsers by their settings: each loads and compiles Streamlit once, for all tests that only read."""
    return {}


@pytest.fixture
def visit(browser: Browser, dashboard: Dashboard, known: dict[str, BrowserContext]) -> Iterator[Visit]:
    """Provide a function that opens an address; in the end no other host was contacted.

    A dashboard of a test gets a new browser, because cookies are for all ports of a host.
    """
    opened: list[BrowserContext | Page] = []
    asked: list[tuple[Dashboard, str]] = []

    def started(**settings: Any) -> BrowserContext:
        context = browser.new_context(**settings)
        context.clock.install()  # it runs as usual; a test may move it forward
        context.set_default_timeout(60_000)
        return context

    def open_page(path: str, *, at: Dashboard = dashboard, **settings: Any) -> Page:
        given = {"locale": "en-US", "viewport": {"width": 1280, "height": 900}, **settings}
        key = json.dumps(given)
        if at is dashboard and key not in known:
            known[key] = started(**given)
        context = known[key] if at is dashboard else started(**given)
        page = context.new_page()
        opened.append(page if at is dashboard else context)
        page.on("request", lambda request: asked.append((at, request.url)))
        page.goto(at.address + path)
        return page

    yield open_page
    for one in opened:
        one.close()
    assert [url for at, url in asked if not at.serves(url)] == []
