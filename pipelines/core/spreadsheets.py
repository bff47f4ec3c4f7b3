"""Text that a spreadsheet would run as a formula when it opens a CSV: of the command line and the dashboard."""

import re

_INVISIBLE = r"[\s\ufeff\u200b-\u200f\u2060]*"

_FORMULA = re.compile(rf"[\t\r]|{_INVISIBLE}(?:[=@\uff1d\uff20]|[+\uff0b\u2212\uff0d-](?![\d\s().,-]*\Z))")
"""A sign that begins a formula, wide ones among them. A number and a telephone number are no formulas."""


def harmless(text: str) -> str:
    """Return the text as a cell of a CSV that runs nothing: a formula gets an apostrophe before it."""
    return f"'{text}" if _FORMULA.match(text) else text
