"""Planted facts are in the lines; `make headlines` plants twenty of each kind, and looks at more quiet years."""

from benchmarks.planted import KINDS, false_lines, result


def test_most_planted_facts_are_in_the_lines_by_the_second_morning() -> None:
    """A few years; those of `make headlines` are many, and were never looked at while thresholds were chosen."""
    found = {(kind, seed): result(kind, seed).delay for kind in KINDS for seed in (1001,)}

    missed = [one for one, delay in found.items() if delay is None]
    assert len(missed) <= len(found) / 6, missed


def test_a_quiet_practice_has_hardly_a_line_in_a_month() -> None:
    lines = [number for seed in (1001, 1002) for number in false_lines(seed, mornings=30)]

    assert sum(lines) <= 3, lines
