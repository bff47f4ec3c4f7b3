"""`[warehouse] shards`: a number, or the practices of each shard; anything else is one clear line."""

import pytest
from support.settings_file import HARBOR, complaint, written

from pipelines.settings import load_settings


@pytest.mark.parametrize(
    ("shards", "message"),
    [
        ("0", "must be a number of files"),
        ("true", "must be a number of files"),
        ('"x"', "must be a number of files"),
        ("{}", "must be a number of files"),
        ('{North = ["loc-001"]}', "must be a number of files"),
        ('{a = "loc-001"}', "must be a number of files"),
        ('{a = ["loc-001"], b = ["loc-001"]}', "practice loc-001 is there 2 times"),
        ('{a = ["loc-001", "loc-007"]}', "practice loc-007 is not configured"),
        ("{a = []}", "practice loc-001 is in no shard"),
        (
            '{a = ["loc-001"]}\npublished = "warehouse/data/vetl.a.duckdb"',
            "must not have the name of a shard's file",
        ),
        ('2\nmemory_limit = "lots"', "must be an amount such as 4GB"),
    ],
)
def test_a_wrong_one_is_as_vetl_errors(shards: str, message: str) -> None:
    written(f"[warehouse]\nshards = {shards}\n{HARBOR}")

    assert message in complaint()


def test_a_number_or_names_from_the_file_or_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    written(f"[warehouse]\nshards = 4\n{HARBOR}")
    assert load_settings().warehouse.shards == 4

    monkeypatch.setenv("VETL_WAREHOUSE__SHARDS", '{"north": ["loc-001"]}')
    assert load_settings().warehouse.shards == {"north": ("loc-001",)}
