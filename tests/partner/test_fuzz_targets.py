"""The fuzzed functions hold for their seeds, for the findings of fuzzing, and for seeds spoiled at random.

`python -m fuzz` searches further, for as long as it is given.
"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fuzz.targets import TARGETS

HEAD = b"200" + b"\n" * 7
FOUND = [
    ("protocol", HEAD + b"0001-01-01T00:00:00+23:59"),  # before the calendar begins in UTC
    ("calls_csv", HEAD[:5] + b"\n1" + b"\n" * 4 + b"Date,\rPractice\n"),  # line ends of long ago
]


@pytest.mark.parametrize("name", TARGETS)
def test_the_seeds_are_usual_and_hold(name: str) -> None:
    for seed in TARGETS[name].seeds:
        TARGETS[name].one(seed)


@pytest.mark.parametrize(("name", "data"), FOUND)
def test_findings_of_fuzzing_stay_fixed(name: str, data: bytes) -> None:
    TARGETS[name].one(data)


@settings(max_examples=150)
@given(data=st.data(), name=st.sampled_from(sorted(TARGETS)))
def test_spoiled_seeds_hold(data: st.DataObject, name: str) -> None:
    target = TARGETS[name]
    seed = data.draw(st.sampled_from(target.seeds))
    start, end = sorted(data.draw(st.tuples(*[st.integers(0, len(seed))] * 2)))
    word = data.draw(st.sampled_from(target.words).map(str.encode) | st.binary(max_size=6))
    target.one(seed[:start] + word + seed[end:])
