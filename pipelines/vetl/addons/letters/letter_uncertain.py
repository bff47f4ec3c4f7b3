"""The sentences about figures that a reader must not take for certain. No I/O."""

from collections.abc import Mapping, Sequence
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
