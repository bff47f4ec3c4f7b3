"""Distances of counts from what is usual: signs, bounds, and how rarely chance alone comes far."""

import numpy as np
from hypothesis import given, strategies as st
from vetl.headlines import surprise

CASES = st.integers(0, 500)
SHARES = st.floats(0.02, 0.98)


@given(whole=CASES, share=SHARES, known=st.integers(20, 5000), data=st.data())
def test_the_sign_is_that_of_the_difference_and_more_cases_are_farther(
    whole: int, share: float, known: int, data: st.DataObject
) -> None:
    some = data.draw(st.integers(0, whole))

    far = float(surprise.of_share(some, whole, share, known, 1.0))
    twice = float(surprise.of_share(2 * some, 2 * whole, share, 2 * known, 1.0))

    assert np.isfinite(far)
    assert far * (some - whole * min(max(share, 0.5 / known), 1 - 0.5 / known)) >= 0
    assert abs(twice) >= abs(far) - 1e-9


@given(count=CASES, expected=st.floats(0.1, 500), times=st.floats(1, 20), spread=st.floats(1, 9))
def test_a_practice_that_scatters_more_is_less_surprising(
    count: int, expected: float, times: float, spread: float
) -> None:
    alone = float(surprise.of_count(count, expected, expected * times, 1.0))
    scattered = float(surprise.of_count(count, expected, expected * times, spread))

    assert abs(scattered) <= abs(alone)
    assert alone * (count - expected) >= 0


def test_chance_alone_comes_no_farther_than_a_normal_tail() -> None:
    """Of few cases too: a morning has six calls."""
    dice = np.random.default_rng(7)
    for whole, share in ((6, 0.85), (20, 0.1), (200, 0.5)):
        base = dice.binomial(1000, share, 100_000) / 1000
        some = dice.binomial(whole, share, 100_000)
        far = surprise.of_share(some, whole, base, 1000.0, 1.0)
        assert (np.abs(far) > 3).mean() <= 0.0027 * 1.5, (whole, share)


def test_the_scatter_of_a_practice_is_found_although_one_week_was_bad() -> None:
    dice = np.random.default_rng(7)
    usual = np.full(112, 40.0)
    quiet = dice.poisson(usual).astype(float)
    wild = dice.poisson(usual * dice.gamma(5, 1 / 5, 112)).astype(float)
    bad = np.where(np.arange(112) < 5, 0.0, quiet)

    assert surprise.spread_of(quiet, usual, usual) < 1.5
    assert surprise.spread_of(wild, usual, usual) > 4
    assert surprise.spread_of(bad, usual, usual) < 2


def test_nothing_far_is_sure_and_a_far_one_is() -> None:
    assert surprise.sureness(0.0, 1000) == 0
    assert 0.95 < surprise.sureness(4.0, 1000) < 1
