"""Values and tables as text for people, in the terminal and in Dagster.

Values come from outside, so they must neither control a terminal nor run in a spreadsheet.
A text that a spreadsheet would run as a formula, if it opens a CSV of the command line or the dashboard, is made
harmless. Also names a few of many, or the nearest, for one line of a message, and judges the name of a host.
"""

import re
from collections.abc import Collection, Sequence
from datetime import UTC, date, datetime
from difflib import get_close_matches
from ipaddress import ip_address

from pydantic_core import to_json

_INVISIBLE = r"[\s\ufeff\u200b-\u200f\u2060]*"

_FORMULA = re.compile(rf"[\t\r]|{_INVISIBLE}(?:[=@\uff1d\uff20]|[+\uff0b\u2212\uff0d-](?![\d\s().,-]*\Z))")
"""A sign that begins a formula, in narrow or wide form. Numbers and telephone numbers are no formulas."""


def harmless(text: str) -> str:
    """Return the text as a cell of a CSV; if it is a formula, with an apostrophe before it."""
    return f"'{text}" if _FORMULA.match(text) else text


_STEERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Control characters except tab and line feed, and characters that change the direction of writing."""


def printable(value: str) -> str:
    r"""Return the text with control characters escaped, such as `\x1b`."""
    return _STEERS.sub(lambda match: match[0].encode("unicode_escape").decode(), value)


def json_text(value: str) -> str:
    r"""Return JSON with control characters escaped, such as `\u202e`; the values stay the same."""
    return _STEERS.sub(lambda match: f"\\u{ord(match[0]):04x}", value)


def cell(value: object) -> str:
    """Return a value as a cell of a CSV; a formula gets an apostrophe before it."""
    content = text(value)
    return harmless(content) if isinstance(value, str) else content


def text(value: object) -> str:
    """Return a value as text: nothing for null, `true` and `false`, instants in UTC."""
    match value:
        case None:
            return ""
        case bool():
            return str(value).lower()
        case datetime():
            instant = value if value.tzinfo is None else value.astimezone(UTC)
            return instant.isoformat(sep=" ").replace("+00:00", "Z")
        case date():
            return value.isoformat()
        case list() | dict() | tuple():
            return printable(to_json(value, fallback=str).decode())
        case _:
            return printable(str(value))


def utc_seconds(instant: datetime) -> str:
    """Return an instant in UTC to the second, such as `2026-01-02T03:04:05Z`."""
    return instant.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def day_words(day: date) -> str:
    """Return a day: `12 January 2026`."""
    return f"{day.day} {day:%B %Y}"


def span(seconds: float) -> str:
    """Return a duration in words: "10 minutes", "90 seconds", "1 hour"."""
    units = ((3600, "hour"), (60, "minute"))
    size, unit = next((item for item in units if seconds and seconds % item[0] == 0), (1, "second"))
    return f"{seconds / size:g} {unit}{'' if seconds == size else 's'}"


def markdown(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a table in Markdown with its cells escaped; without `columns` only its rows, to add to a table."""

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |\n"

    body = "".join(line([text(value) for value in row]) for row in rows)
    return line([text(name) for name in columns]) + line(["---"] * len(columns)) + body if columns else body


def some_of(names: Sequence[str], most: int = 3) -> str:
    """Return the first names, and how many more there are: `a, b, c and 4 more`."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def nearest(name: str, known: Collection[str], otherwise: str = "") -> str:
    """Return the end of a line about an unknown name: the nearest, else `otherwise` or some of the known."""
    alike = _alike(name, known)
    if alike:
        return f"; did you mean {' or '.join(', '.join(alike).rsplit(', ', 1))}?"
    return f"; {otherwise or f'known are {some_of([*known], 10)}'}"


def _alike(name: str, known: Collection[str]) -> list[str]:
    """Return at most three names: of the same words and the fewest others, or spelled alike."""
    kind = name.rpartition("_")[2]
    same = [one for one in known if "_" in name and one.split("_")[-1] == kind]
    words = _words(name)
    more = {one: len(_words(one) - words) for one in known if _words(one) >= words}
    return (
        [one for one, others in more.items() if others == min(more.values())][:3]
        or get_close_matches(name, same, n=1, cutoff=0.8)
        or [one for one in known if _words(one) < words][:3]
        or get_close_matches(name, same, cutoff=0.4)
        or get_close_matches(name, known, n=1)
    )


def _words(name: str) -> set[str]:
    """Return the words of a name, in the singular."""
    return {word.removesuffix("s") for word in name.lower().split("_")}


LABEL_LENGTH = 40
"""Most characters of a label; the longest of the contract has 30."""


_UNLIKE_A_LABEL = re.compile(r"[@\uff20\s]")


def is_label(value: str) -> bool:
    """Return whether output, status and logs may repeat a value: one short word without digits and `@`."""
    unlike = _UNLIKE_A_LABEL.search(value) or any(character.isnumeric() for character in value)
    return len(value) <= LABEL_LENGTH and not unlike


def is_this_machine(host: str) -> bool:
    """Return whether a host name or address can only mean this machine."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
