"""The sentences about figures that a reader must not take for certain. No I/O.

Say in one sentence which kind of bad end makes up the largest part of the difference of two shares.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import date

from vetl.addons.letters.letter import FEW, LetterFigure, day_words
from vetl.core.text import some_of

ClosedWeeks = tuple[date | None, Mapping[str, Mapping[date, object]]]
"""The week of a figure, and the closed weeks of each practice for it."""


def uncertain(
    names: Mapping[str, str], closed: Mapping[str, ClosedWeeks], figures: Sequence[LetterFigure]
) -> list[str]:
    """Return the sentences; `names` are those of the letter's practices, `closed` is by label of the figure."""
    none = [label for label, (week, _) in closed.items() if week is None]
    lines = [f"No week is closed yet: {_quoted(none)}."] if none else []
    lines += _left_out(names, closed)
    few = [f"{figure.label} ({figure.counts[1]})" for figure in figures if 0 < figure.counts[1] < FEW]
    lines += [f"Few cases, which say little: {', '.join(few)}."] if few else []
    of: dict[date, list[str]] = {}
    for label, (week, _) in closed.items():
        if week:
            of.setdefault(week, []).append(label)
    for week in sorted(of)[:-1]:
        lines.append(f"Of the week of {day_words(week)}, as later weeks may still change: {_quoted(of[week])}.")
    return lines


def _left_out(names: Mapping[str, str], closed: Mapping[str, ClosedWeeks]) -> list[str]:
    """Return one sentence for all practices that are left out of the same figures for the same reason."""
    known = {label: (week, of) for label, (week, of) in closed.items() if week}
    groups: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for key, name in names.items():
        without = tuple(label for label, (week, of) in known.items() if week not in of.get(key, {}))
        first = min((start for _, of in known.values() for start in of.get(key, {})), default=None)
        is_new = first is not None and all(first > week for week, _ in (known[label] for label in without))
        groups.setdefault(("Too new for" if is_new else "Not read whole, so left out of", without), []).append(
            name
        )
    return [
        f"{reason} {'all figures' if len(without) == len(known) else _quoted(without)}: {some_of(members)}."
        for (reason, without), members in groups.items()
        if without
    ]


def _quoted(labels: Sequence[str]) -> str:
    return ", ".join(f"\u201c{label}\u201d" for label in labels)


Ends = Mapping[str | None, float]
"""The cases that did not go well, as shares of all cases, by how they ended."""

_MADE_UP = 0.005
"""The ends make up a difference if they miss it by at most half a point: then each is a part of it."""

_HALF, _WHOLE = 0.5 + 1e-9, 1 + 1e-9
"""More than one half and more than all of it, whatever the last bits of a sum."""


def largest_part(here: Ends, there: Ends, difference: float, number: Callable[[float, int], str]) -> str:
    """Return the sentence, after a space; empty if the ends do not make up the difference.

    `difference` is the share of the good ends here minus the one there. `number` formats points, with digits.
    """
    ends = here.keys() | there.keys()
    # More bad ends are a lower share: the sign of a part is that of what it does to the share.
    parts = {end: there.get(end, 0.0) - here.get(end, 0.0) for end in ends}
    if not difference or abs(sum(parts.values()) - difference) > _MADE_UP:
        return ""
    of_it = {end: part / difference for end, part in parts.items()}
    end = max(sorted(of_it, key=str), key=of_it.__getitem__)
    digits = 0 if abs(difference) >= 0.1 else 1  # noqa: PLR2004 - ten points
    points, whole = (number(abs(value) * 100, digits) for value in (parts[end], difference))
    name = (end or "not said").replace("_", " ").capitalize()
    if of_it[end] > _WHOLE:
        good = number((abs(parts[end]) - abs(difference)) * 100, digits)
        return f" Mostly \u201c{name}\u201d: {points} points, of which others made up for {good}."
    if of_it[end] > _HALF:
        return f" Mostly \u201c{name}\u201d: {points} of {whole} points."
    return f" Largest part: \u201c{name}\u201d, {points} of {whole} points."
