"""The sentence about the largest part of a difference: its size, its sign, and when nothing can be said."""

import pytest
from hypothesis import given, strategies as st
from vetl.core.significance import largest_part


def number(value: float, digits: int) -> str:
    return f"{value:.{digits}f}"


@pytest.mark.parametrize(
    ("here", "there", "difference", "sentence"),
    [
        (
            {"busy": 0.10, "no_answer": 0.13, None: 0.09},
            {"busy": 0.06, "no_answer": 0.09, None: 0.05},
            -0.12,
            " Largest part: \u201cBusy\u201d, 4 of 12 points.",
        ),
        (
            {"busy": 0.10, "no_answer": 0.07},
            {"busy": 0.03},
            -0.14,
            " Largest part: \u201cBusy\u201d, 7 of 14 points.",
        ),
        ({"busy": 0.12, "no_answer": 0.04}, {"busy": 0.04}, -0.12, " Mostly \u201cBusy\u201d: 8 of 12 points."),
        ({"busy": 0.01}, {"busy": 0.035}, 0.025, " Mostly \u201cBusy\u201d: 2.5 of 2.5 points."),
        (
            {"pet_details": 0.3, "slot": 0.1},
            {"pet_details": 0.05, "slot": 0.2},
            -0.15,
            " Mostly \u201cPet details\u201d: 25 points, of which others made up for 10.",
        ),
        ({None: 0.3}, {None: 0.1}, -0.2, " Mostly \u201cNot said\u201d: 20 of 20 points."),
    ],
)
def test_the_largest_part_is_said_with_its_points(
    here: dict[str | None, float], there: dict[str | None, float], difference: float, sentence: str
) -> None:
    """Mostly is more than half: 4 of 12 points are none, and neither are 7 of 14."""
    assert largest_part(here, there, difference, number) == sentence


def test_ends_that_do_not_make_up_the_difference_are_no_part_of_it() -> None:
    """The calls of callers who booked later, or a share that fell while its bad ends fell, explain nothing."""
    assert largest_part({"busy": 0.10}, {"busy": 0.04}, 0.22, number) == ""
    assert largest_part({"busy": 0.10}, {"busy": 0.04}, -0.22, number) == ""
    assert largest_part({}, {}, 0.0, number) == ""


SHARES = st.dictionaries(st.sampled_from(["busy", "no_answer", "voicemail", None]), st.floats(0, 0.25))


@given(here=SHARES, there=SHARES)
def test_the_named_end_moved_the_share_in_the_direction_of_the_difference(
    here: dict[str | None, float], there: dict[str | None, float]
) -> None:
    difference = sum(there.values()) - sum(here.values())
    said = largest_part(here, there, difference, number)

    if said:
        name = said.split("\u201c")[1].split("\u201d")[0].lower().replace(" ", "_")
        end = None if name == "not_said" else name
        part = there.get(end, 0.0) - here.get(end, 0.0)
        assert part * difference > 0
        assert ("Mostly" in said) == (part / difference > 1 / 2)
