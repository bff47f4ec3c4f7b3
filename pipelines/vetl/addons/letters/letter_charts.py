"""The charts and the PDF of a letter, set by typst."""

import json
from dataclasses import asdict
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from vetl.addons.letters.letter import Letter
from vetl.addons.letters.letter_text import sections, shown
from vetl.core.errors import ConfigurationError

_TEMPLATE = Path(__file__).with_name("letter.typ")
_PIXELS_PER_INCH = 144
"""Twice the size at which a mail shows them, for fine screens."""


def require_typst() -> None:
    """Return if the extra is installed."""
    if find_spec("typst") is None:
        raise ConfigurationError("typst is not installed: pip install 'vetl-warehouse[report]'")


def as_pdf(letter: Letter) -> bytes:
    """Return the letter as a PDF."""
    return _set(letter, mode="pdf", format="pdf")


def charts(letter: Letter) -> list[bytes]:
    """Return a PNG of each figure over its last weeks."""
    pages = _set(letter, mode="charts", format="png", ppi=_PIXELS_PER_INCH)
    return pages if isinstance(pages, list) else [pages]


def _set(letter: Letter, *, mode: str, **options: Any) -> Any:  # noqa: ANN401 - one file or several
    typst: Any = import_module("typst")
    document = {
        "subject": letter.subject,
        "reader": letter.reader,
        "headlines": letter.headlines,
        "figures": [asdict(figure) for figure in shown(letter)],
        "rows": [{"name": name, "values": values} for name, values in letter.rows],
        "sections": [{"title": title, "lines": lines} for title, lines in sections(letter)],
    }
    return typst.compile(
        _TEMPLATE.read_bytes(), sys_inputs={"letter": json.dumps(document), "mode": mode}, **options
    )
