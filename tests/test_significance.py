"""Intervals of shares, of differences and of counts: published figures, and what holds for all counts."""

import pytest
from hypothesis import given, strategies as st
from vetl.core.significance import count_interval, difference_interval, is_significant, outliers, share_interval

COUNTS = st.integers(0, 10_000).flatmap(lambda whole: st.tuples(st.integers(0, whole), st.just(whole)))


def test_the_intervals_of_newcombes_paper() -> None:
    """Statistics in Medicine 17 (1998): 81 of 263, and 56 of 70 beside 48 of 80, without continuity correction."""
    assert share_interval(81, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert difference_interval(56, 70, 48, 80) == pytest.approx((0.0524, 0.3339), abs=5e-5)


@given(COUNTS, COUNTS)
def test_a_difference_is_in_its_interval_and_turns_with_its_sides(
    one: tuple[int, int], other: tuple[int, int]
) -> None:
    low, high = difference_interval(*one, *other)

    assert low <= high
    assert difference_interval(*other, *one) == pytest.approx((-high, -low))
    if one[1] and other[1]:
        assert low - 1e-9 <= one[0] / one[1] - other[0] / other[1] <= high + 1e-9
    else:
        assert not is_significant((low, high))


@given(COUNTS)
def test_a_share_is_in_its_interval(cases: tuple[int, int]) -> None:
    low, high = share_interval(*cases)

    assert 0 <= low <= high <= 1
    if cases[1]:
        assert low - 1e-9 <= cases[0] / cases[1] <= high + 1e-9


def test_a_small_difference_of_counts_is_not_significant() -> None:
    assert not is_significant(count_interval(104, 100))
    assert is_significant(count_interval(160, 100))
    assert not is_significant(count_interval(0, 0))


def test_beside_one_practice_that_is_far_the_others_do_not_stand_out() -> None:
    [far] = outliers({"a": (900, 1000), "b": (500, 1000), "c": (510, 1000)})

    assert (far.name, far.others, far.among) == ("a", (1010, 2000), {"b", "c"})
    assert far.difference == pytest.approx(0.395)


@given(st.dictionaries(st.sampled_from("abcdef"), COUNTS))
def test_each_outlier_differs_from_those_that_are_left(members: dict[str, tuple[int, int]]) -> None:
    left = set(members)
    for one in outliers(members):
        left -= {one.name}
        assert one.among == left
        assert one.others == tuple(sum(members[name][place] for name in left) for place in (0, 1))
        assert is_significant(difference_interval(*one.counts, *one.others))
