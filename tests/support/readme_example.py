"""The example answer and the picture of README.md, made from the published file of `vetl demo`.

python tests/support/readme_example.py FILE: write both.
"""

import re
import shutil
import sys
import tempfile
from pathlib import Path

from pipelines.core.text import markdown
from pipelines.loading.published.query import query

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "README.md"
PICTURE = ROOT / "docs" / "pictures" / "dashboard.png"
_EXAMPLE = re.compile(r'(vetl -C demo query "([^"]+)"\n```\n\n)((?:\|[^\n]*\n)+)')
"""The command, its statement, and the answer as a Markdown table."""


def example(page: str) -> tuple[str, str]:
    """Return the statement of the example, and the answer below it."""
    match = _EXAMPLE.search(page)
    assert match, "README.md has no example"
    return match[2], match[3]


def answered(published: Path, statement: str) -> str:
    """Return the answer of a published file as a Markdown table."""
    answer = query(published, statement)
    return markdown(answer.columns, answer.rows)


def main(published: Path) -> None:
    """Write the answer into the page, and the picture of the overview."""
    text = PAGE.read_text("utf-8")
    statement, _ = example(text)
    PAGE.write_text(_EXAMPLE.sub(lambda match: match[1] + answered(published, statement), text), "utf-8")
    with tempfile.TemporaryDirectory() as folder:
        _photograph(published, Path(folder))


def _photograph(published: Path, folder: Path) -> None:
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - the answer alone needs no browser
    from support.dashboard_browser import drawn, serving  # noqa: PLC0415

    chromium = shutil.which("chromium") or "/usr/bin/chromium"
    with serving(published, folder) as dashboard, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(locale="en-US", viewport={"width": 1280, "height": 1080})
        page.goto(dashboard.address)
        drawn(page).screenshot(path=PICTURE)
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute())
