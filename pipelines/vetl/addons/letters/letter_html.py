"""The letter as HTML that mail clients show: tables and inline styles, no script, nothing from the Web."""

from collections.abc import Sequence
from html import escape

from vetl.addons.letters.letter import Letter, Shown, percent
from vetl.addons.letters.letter_text import sections, shown

_FONT = "font-family:-apple-system,Segoe UI,Helvetica,Arial,sans-serif;"
_GREY = "color:#5d6a66;font-size:13px;line-height:18px;"
_LINE = "border-bottom:1px solid #d5dcd9;"
_CELL = f"padding:10px 0;{_LINE}"
_COLOURS = {"good": "#1f6f5c", "bad": "#a3321f", "": "#1d2623"}


def as_html(letter: Letter, sources: Sequence[str]) -> str:
    """Return the letter; `sources` are the addresses of the charts, such as `cid:...`."""
    figures = "".join(_figure(figure, source) for figure, source in zip(shown(letter), sources, strict=True))
    headlines = "".join(
        f'<p style="margin:6px 0;font-size:16px;line-height:23px;font-weight:600;">{escape(line)}</p>'
        for line in letter.headlines
    )
    parts = "".join(_section(letter, title, lines) for title, lines in sections(letter))
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f'<meta name="color-scheme" content="light"><title>{escape(letter.subject)}</title></head>'
        f'<body style="margin:0;padding:0;background:#f3f5f4;{_FONT}color:#1d2623;">'
        '<table role="presentation" width="100%" cellpadding="0" cellspacing="0"><tr>'
        '<td align="center" style="padding:16px 8px;">'
        '<table role="presentation" width="100%" cellpadding="0" cellspacing="0"'
        ' style="max-width:600px;background:#ffffff;border-radius:8px;"><tr>'
        '<td style="padding:20px 18px;text-align:left;">'
        f'<h1 style="margin:0;font-size:22px;line-height:28px;">{escape(letter.subject)}</h1>'
        f'<p style="margin:4px 0 12px;{_GREY}">{escape(letter.reader)}</p>'
        f"{headlines}"
        f'<table role="presentation" width="100%" cellpadding="0" cellspacing="0">{figures}</table>'
        f"{parts}{_practices(letter)}"
        "</td></tr></table></td></tr></table></body></html>"
    )


def _figure(figure: Shown, source: str) -> str:
    colour = _COLOURS[figure.tone]
    return (
        f'<tr><td style="{_CELL}">'
        f'<div style="font-size:14px;line-height:20px;font-weight:600;">{escape(figure.label)}</div>'
        f'<div style="font-size:26px;line-height:32px;">{figure.value}</div>'
        f'<div style="font-size:14px;line-height:20px;color:{colour};">{escape(figure.change)}</div>'
        f'<div style="{_GREY}">{escape(figure.basis)}</div></td>'
        f'<td width="130" align="right" style="{_CELL}">'
        f'<img src="{escape(source)}" width="130" height="38" style="display:block;border:0;"'
        f' alt="{escape(_alternative_text(figure))}"></td></tr>'
    )


def _alternative_text(figure: Shown) -> str:
    known = [_value_text(value) for value in figure.history if value is not None]
    return f"{figure.label}, week by week: {', '.join(known)}" if known else f"{figure.label}: no week yet"


def _value_text(value: float) -> str:
    """Return a value of a chart: a share as a percentage, a count as it is."""
    return f"{value:,}" if isinstance(value, int) else percent(value)


def _practices(letter: Letter) -> str:
    """Return the practices beside each other; each is a block of its own, so that it fits on a phone."""
    if len(letter.rows) == 1:
        return ""
    labels = [figure.label for figure in shown(letter)]
    blocks = "".join(
        f'<tr><td style="{_CELL}"><div style="font-size:15px;line-height:22px;"><b>{escape(name)}</b></div>'
        f'<div style="{_GREY}">'
        + " \u00b7 ".join(
            f"{escape(label)}&nbsp;<b>{escape(value)}</b>" for label, value in zip(labels, values, strict=True)
        )
        + "</div></td></tr>"
        for name, values in letter.rows
    )
    return _title("Practices") + (
        f'<table role="presentation" width="100%" cellpadding="0" cellspacing="0">{blocks}</table>'
    )


def _section(letter: Letter, title: str, lines: Sequence[str]) -> str:
    return _title(title) + "".join(
        f'<p style="margin:6px 0;font-size:15px;line-height:22px;">{_linked(letter, line)}</p>' for line in lines
    )


def _title(text: str) -> str:
    return f'<h2 style="margin:20px 0 4px;font-size:17px;line-height:24px;">{escape(text)}</h2>'


def _linked(letter: Letter, line: str) -> str:
    address = letter.list_link
    if address and line.endswith(address):
        return f'<a href="{escape(address)}" style="color:#1f6f5c;">Open the call-back list</a>'
    return escape(line)
