"""The letter of a dead line and of a group that changes: calls beside their usual range, and who is left out."""

from datetime import date, timedelta

from vetl.addons.letters.letter_uncertain import uncertain
from vetl.addons.letters.letter_volume import Calls, volume_change, volume_of
from vetl.figures.periods import Baseline

MONDAY = date(2026, 4, 6)
BEFORE = MONDAY - timedelta(days=7)
USUAL = Baseline(100, 80, 120)
NAMES = {"line": "Harbor", "new": "Saguaro", "gone": "Ferry"}


def test_fewer_calls_than_usual_are_said_and_a_new_practice_is_counted_but_not_compared() -> None:
    line = {BEFORE: Calls(100, USUAL), MONDAY: Calls(60, USUAL)}
    new = {MONDAY: Calls(30, None)}

    volume = volume_of({"line": line, "new": new}, ["line", "new", "gone"], MONDAY)

    assert (volume.count, volume.compared, volume.before, volume.is_low) == (90, 60, 100, True)
    assert volume_change(volume) == "without new practices 60, before 100; fewer than the usual 80 to 120"


def test_ranges_of_practices_are_added_as_independent_ones() -> None:
    calls = {BEFORE: Calls(100, USUAL), MONDAY: Calls(130, USUAL)}

    alone = volume_of({"line": calls}, ["line"], MONDAY)
    together = volume_of({"line": calls, "other": calls}, ["line", "other"], MONDAY)

    assert volume_change(alone).endswith("; more than the usual 80 to 120")
    assert not alone.is_low
    assert together.usual
    assert (together.usual.usual, round(together.usual.low), round(together.usual.high)) == (200, 172, 228)


def test_without_a_closed_week_or_a_week_before_there_is_nothing_to_compare() -> None:
    new = {"new": {MONDAY: Calls(30, None)}}

    assert volume_of(new, ["new"], None).count == 0
    assert volume_change(volume_of(new, ["new"], MONDAY)) == "no week before to compare with"


def test_who_is_too_new_for_a_figure_or_was_not_read_whole_is_named() -> None:
    whole = {"line": {BEFORE: 1, MONDAY: 1}, "new": {MONDAY: 1}}

    lines = uncertain(NAMES, {"Booked": (BEFORE, whole), "Answered": (MONDAY, whole)}, [])

    assert lines == [
        "Too new for \u201cBooked\u201d: Saguaro.",
        "Not read whole, so left out of all figures: Ferry.",
        "Of the week of 30 March 2026, as later weeks may still change: \u201cBooked\u201d.",
    ]


def test_only_practices_with_a_usual_range_are_compared_if_any_has_one() -> None:
    line = {BEFORE: Calls(100, USUAL), MONDAY: Calls(60, USUAL)}
    young = {BEFORE: Calls(7, None), MONDAY: Calls(8, None)}
    new = {MONDAY: Calls(30, None)}

    assert volume_of({"line": line, "young": young}, ["line", "young"], MONDAY).compared == 60
    unknown = volume_of({"young": young, "new": new}, ["young", "new"], MONDAY)
    assert volume_change(unknown) == "without new practices 8, before 7; what is usual is not known yet"
