"""The types of the fixtures of `tests/dashboard`, and their pages as a browser shows them."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from streamlit.testing.v1 import AppTest

Open = Callable[..., AppTest]
Ask = Callable[..., list[tuple[Any, ...]]]
Copied = Callable[..., Path]


def shown(text: str) -> str:
    """Return a text of a page as a browser draws it, without the signs that keep it from being Markdown."""
    return re.sub(r"\\(.)|\u2060", r"\1", text)
