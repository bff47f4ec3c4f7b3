"""Say in one sentence which kind of bad end makes up the largest part of the difference of two shares."""

from collections.abc import Callable, Mapping

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
