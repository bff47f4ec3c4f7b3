"""The letter of a group that changes: calls beside the week before, and who is left out."""

from datetime import date, timedelta

from vetl.addons.letters.letter import uncertain, volume_of
from vetl.addons.letters.letter_forms import volume_change

MONDAY = date(2026, 4, 6)
BEFORE = MONDAY - timedelta(days=7)
NAMES = {"line": "Harbor", "new": "Saguaro", "gone": "Ferry"}


def test_a_new_practice_is_counted_but_not_compared() -> None:
    weeks = {"line": {BEFORE: 100, MONDAY: 60}, "new": {MONDAY: 30}}

    volume = volume_of(weeks, ["line", "new", "gone"], MONDAY)

    assert (volume.count, volume.compared, volume.before) == (90, 60, 100)
    assert volume_change(volume) == "without new practices 60, before 100"


def test_without_a_closed_week_or_a_week_before_there_is_nothing_to_compare() -> None:
    new = {"new": {MONDAY: 30}}

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
