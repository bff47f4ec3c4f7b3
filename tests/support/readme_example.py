"""The example answer and the picture of README.md, made from the published file of `vetl demo`.

python tests/support/readme_example.py FILE: write the answer, and the picture if it shows another answer or is of
an older dashboard. A text in the picture records both, because the pixels differ from browser to browser.
"""

import re
import shutil
import struct
import sys
import tempfile
import zlib
from hashlib import sha256
from pathlib import Path

from vetl.core.text import markdown
from vetl.publishing.statements import query

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "README.md"
PICTURE = ROOT / "docs" / "pictures" / "dashboard.png"
_DASHBOARD = ROOT / "dashboards"
_EXAMPLE = re.compile(r'(vetl -C demo query "([^"]+)"\n```\n\n)((?:\|[^\n]*\n)+)')
"""The command, its statement, and the answer as a Markdown table."""
_SIGNATURE = 8
"""Bytes of a PNG before its first chunk."""


def example(page: str) -> tuple[str, str]:
    """Return the statement of the example, and the answer below it."""
    match = _EXAMPLE.search(page)
    assert match, "README.md has no example"
    return match[2], match[3]


def answered(published: Path, statement: str) -> str:
    answer = query(published, statement)
    return markdown(answer.columns, answer.rows)


def main(published: Path) -> None:
    """Write the answer into the page, and the picture of the overview."""
    text = PAGE.read_text("utf-8")
    statement, _ = example(text)
    answer = answered(published, statement)
    PAGE.write_text(_EXAMPLE.sub(lambda match: match[1] + answer, text), "utf-8")
    if (digest_of(answer), _digest_of_dashboard()) != recorded(PICTURE.read_bytes()):
        with tempfile.TemporaryDirectory() as folder:
            _photograph(published, Path(folder))
        picture = with_record(PICTURE.read_bytes(), digest_of(answer), _digest_of_dashboard())
        PICTURE.write_bytes(picture)


def digest_of(answer: str) -> str:
    return sha256(answer.encode()).hexdigest()[:16]


def _digest_of_dashboard() -> str:
    files = sorted(path for path in _DASHBOARD.rglob("*") if path.suffix in {".py", ".css", ".js"})
    return sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:16]


def with_record(picture: bytes, answer: str, dashboard: str) -> bytes:
    """Return a PNG with a text chunk that holds both digests, after its first chunk."""
    content = b"tEXt" + f"Comment\0{answer} {dashboard}".encode()
    chunk = struct.pack(">I", len(content) - 4) + content + struct.pack(">I", zlib.crc32(content))
    end = _SIGNATURE + 12 + struct.unpack(">I", picture[_SIGNATURE : _SIGNATURE + 4])[0]
    return picture[:end] + chunk + picture[end:]


def recorded(picture: bytes) -> tuple[str, str]:
    """Return the digests of the answer and of the dashboard that a picture records; empty if there are none."""
    match = re.search(rb"tEXtComment\0([0-9a-f]{16}) ([0-9a-f]{16})", picture)
    return (match[1].decode(), match[2].decode()) if match else ("", "")


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
