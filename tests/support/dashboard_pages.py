"""The types of the fixtures of `tests/dashboard`, and their pages as a browser shows them."""

import re
import tomllib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Final

from streamlit import config
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

Open = Callable[..., AppTest]
Ask = Callable[..., list[tuple[Any, ...]]]
Copied = Callable[..., Path]

APP: Final = Path(__file__).parents[2] / "dashboards"

# Its test client does not look for the options of the app.
for section, options in tomllib.loads((APP / ".streamlit" / "config.toml").read_text("utf-8")).items():
    for name, value in options.items():
        if not isinstance(value, dict):  # a theme
            config.set_option(f"{section}.{name}", value)

# Streamlit would search all installed packages for components again for each page: half the time of these tests.
manifest_scanner.scan_component_manifests = cache(manifest_scanner.scan_component_manifests)


def page_of_dashboard(path: str) -> AppTest:
    """Return a page before its first run."""
    page = AppTest.from_file(APP / "app.py", default_timeout=60)
    # The client switches to pages that are files; those of the dashboard are functions.
    page._page_hash = calc_hash(path)  # pyright: ignore[reportPrivateUsage]
    return page


def shown(text: str) -> str:
    """Return a text of a page as a browser draws it, without the signs that keep it from being Markdown."""
    return re.sub(r"\\(.)|\u2060", r"\1", text)
