"""The forms of a letter: plain text, HTML that mail clients show, and a PDF with charts, set by typst.

The HTML has tables and inline styles, no script, and nothing from the Web.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import Any

from jinja2 import Template

from vetl.addons.letters.letter import CALLS, Letter, LetterFigure, Shown, Volume, percent, points
from vetl.core.text import day_words


def as_text(letter: Letter) -> str:
    """Return the letter as plain text, in lines of any length."""
    return "\n".join(_lines(letter)) + "\n"


def summary(letter: Letter) -> str:
    """Return the letter in a few lines, for a chat."""
    lines = [
        letter.subject,
        *letter.headlines,
        *(f"{figure.label}: {figure.basis}; {figure.change}" for figure in shown(letter)),
    ]
    return "\n".join((*lines, waiting(letter), *([letter.link] if letter.link else [])))


def _lines(letter: Letter) -> Iterator[str]:
    yield from (letter.subject, "=" * len(letter.subject), "")
    for headline in letter.headlines:
        yield from (headline, "")
    for figure in shown(letter):
        yield f"{figure.label:<20}{figure.value:>7}   {figure.change}"
        yield f"{'':<20}{'':>7}   {figure.basis}"
    for title, lines in sections(letter):
        yield from ("", title, "-" * len(title))
        yield from lines


_ALONE, _NONE_CLOSED = "no week before to compare with", "no week is closed yet"


def shown(letter: Letter) -> list[Shown]:
    """Return the figures in words: the calls, then the shares."""
    return [_shown_volume(letter.volume), *map(_shown_share, letter.figures)]


def _shown_volume(volume: Volume) -> Shown:
    if volume.week is None:
        return Shown(CALLS, "\u2013", _ALONE, _NONE_CLOSED, "", ())
    basis = f"{volume.count:,} inbound calls, week of {day_words(volume.week)}"
    return Shown(CALLS, f"{volume.count:,}", volume_change(volume), basis, "", volume.history)


def volume_change(volume: Volume) -> str:
    """Return the week before, in words."""
    if volume.before is None:
        return _ALONE
    new = f"without new practices {volume.compared:,}, " if volume.compared < volume.count else ""
    return f"{new}before {volume.before:,}"


def _shown_share(figure: LetterFigure) -> Shown:
    change, basis, tone = _ALONE, _NONE_CLOSED, ""
    if figure.week:
        cases = f"{figure.counts[0]:,} of {figure.counts[1]:,} {figure.of}"
        basis = f"{cases}, week of {day_words(figure.week)}"
    if figure.change is not None:
        difference = points(figure.change) if figure.is_change else "may be chance"
        change = f"before {percent(figure.before[0] / figure.before[1])}: {difference}"
        tone = "" if not figure.is_change else "good" if figure.change > 0 else "bad"
    return Shown(figure.label, percent(figure.share), change, basis, tone, figure.history)


def sections(letter: Letter) -> Iterator[tuple[str, list[str]]]:
    """Yield the sections under the figures, each with its sentences."""
    yield "Next week", list(letter.ahead)
    if len(letter.practices) > 1:
        yield "Who stands out", [*letter.outliers] or ["No practice differs from the others by more than chance."]
    if letter.out:
        yield "Outside of a threshold", list(letter.out)
    links = [f"The list: {letter.list_link}"] if letter.list_link and letter.people else []
    by_practice = [f"{name}: {number:,}" for name, number in letter.waiting] if len(letter.practices) > 1 else []
    yield "Who waits for a call", [waiting(letter), *by_practice, *links]
    if letter.done:
        yield "Done by vetl act", list(letter.done)
    yield "What is not certain", list(letter.uncertain) or ["Nothing: every list is proven whole."]


def waiting(letter: Letter) -> str:
    """Return the sentence about the people who wait; it names nobody."""
    if not letter.people:
        return "Nobody waits for a call."
    return f"{letter.people:,} {'person waits' if letter.people == 1 else 'people wait'} for a call."


def as_html(letter: Letter, sources: Sequence[str]) -> str:
    """Return the letter; `sources` are the addresses of the charts, such as `cid:...`."""
    template = Template(_HTML.read_text("utf-8"), autoescape=True, trim_blocks=True, lstrip_blocks=True)
    return template.render(
        letter=letter,
        figures=shown(letter),
        sources=sources,
        sections=list(sections(letter)),
        alternative_text=_alternative_text,
    )


def _alternative_text(figure: Shown) -> str:
    values = (value for value in figure.history if value is not None)
    known = [f"{value:,}" if isinstance(value, int) else percent(value) for value in values]
    return f"{figure.label}, week by week: {', '.join(known)}" if known else f"{figure.label}: no week yet"


_HTML = Path(__file__).with_name("letter.html")
_TEMPLATE = Path(__file__).with_name("letter.typ")
_PIXELS_PER_INCH = 144
"""Twice the size at which a mail shows them, for fine screens."""


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
