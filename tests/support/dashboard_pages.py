"""The types of the fixtures of `tests/dashboard`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from streamlit.testing.v1 import AppTest

Open = Callable[..., AppTest]
Ask = Callable[..., list[tuple[Any, ...]]]
Copied = Callable[..., Path]
