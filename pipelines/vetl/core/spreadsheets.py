"""Text that a spreadsheet would run as a formula if it opens a CSV of the command line or the dashboard."""

import re

_INVISIBLE = r"[\s\ufeff\u200b-\u200f\u2060]*"

_FORMULA = re.compile(rf"[\t\r]|{_INVISIBLE}(?:[=@\uff1d\uff20]|[+\uff0b\u2212\uff0d-](?![\d\s().,-]*\Z))")
"""A sign that begins a formula, in narrow or wide form. Numbers and telephone numbers are no formulas."""


def harmless(text: str) -> str:
    """Return the text as a cell of a CSV; if it is a formula, with an apostrophe before it."""
    return f"'{text}" if _FORMULA.match(text) else text
