"""Every cell of every mart, compared with the platform's own truth after two syncs and an incremental build.

Neither side uses vetl's models (`support.expected_inputs`, `support.expected`). What is rare on a platform is in
the random rows of `tests/transform/test_marts_equal_rows.py`. `VETL_TRUTH_SEED` is another seed; `make chaos`
compares two more.
"""

from pathlib import Path

import pytest
from support.expected import EXPECTED, assert_mart_is_true, mart_of
from support.lists import TABLES
from support.mart_builds import was_full
from support.mart_inputs import Known
from support.story import play
from support.warehouse_with_rows import ask


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Known]:
    return play(tmp_path_factory.mktemp("truth"))


@pytest.mark.parametrize("mart", EXPECTED)
def test_a_mart_equals_the_truth(mart: str, story: tuple[Path, Known]) -> None:
    warehouse, source = story

    assert not was_full(warehouse)
    assert_mart_is_true(mart, mart_of(warehouse, mart), source)


def test_the_proof_counts_the_rows_of_the_platform(story: tuple[Path, Known]) -> None:
    warehouse, source = story
    counts = "select practice_id, endpoint, warehouse_count, source_count, comparison from meta.proof"

    for practice, name, here, there, comparison in ask(warehouse, counts):
        assert here == sum(row["practice_id"] == practice for row in source.rows(TABLES[name])), name
        assert there in (None, here)
        assert (comparison == "equal") is (there is not None), comparison
