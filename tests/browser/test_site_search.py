"""The documentation opened as files, which is its stated use: the search works and asks no other machine."""

import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site as `make docs` builds it, in a folder of its own."""
    folder = tmp_path_factory.mktemp("site")
    settings = (ROOT / "zensical.toml").read_text("utf-8").replace("build/", "")
    (folder / "zensical.toml").write_text(settings, "utf-8")
    subprocess.run([sys.executable, str(ROOT / "deploy" / "site"), str(folder / "docs")], cwd=ROOT, check=True)
    subprocess.run([sys.executable, "-m", "zensical", "build", "--clean", "--strict"], cwd=folder, check=True)
    return folder / "site"


@pytest.mark.parametrize("page", ["index.html", "how-to/schedule.html"])
def test_the_search_of_a_page_opened_as_a_file_finds_pages_and_asks_no_other_host(
    page: str, site: Path, browser: Browser
) -> None:
    context = browser.new_context(offline=True)
    asked: list[str] = []
    context.on("request", lambda request: asked.append(request.url))
    opened = context.new_page()
    opened.goto((site / page).as_uri())
    opened.get_by_role("button", name="Search").first.click()
    opened.keyboard.type("quarantine")

    expect(opened.locator("a[href*='troubleshooting.html'], a[href*='exit-codes.html']").last).to_be_visible()
    context.close()
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:", "about:"))] == []
