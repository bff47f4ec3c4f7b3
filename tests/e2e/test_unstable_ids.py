"""A source that shows the same rows under other ids at each read: nothing is certified, and no table grows."""

from collections.abc import Generator
from contextlib import contextmanager
from datetime import timedelta
from itertools import count
from typing import Any

from support.lists import WITH_IDS
from support.lying_proxy import lying
from support.sandbox_settings import at
from support.truth import lacking_details
from support.warehouse_with_rows import ask, by_table
from vetl.settings import Settings

SMALL = {"practices": 1, "calls": 60, "days": 8}
STORED = ("raw", "history")


@contextmanager
def other_ids(practices: Any, lists: tuple[str, ...] = WITH_IDS) -> Generator[None]:
    answers = count()
    paths = {"ai_outbound": "ai_outbound/requests"}

    def change(path: str, page: dict[str, Any]) -> None:
        if any(f"/{paths.get(name, name)}?" in path for name in lists):
            number = next(answers)
            for row in page["content"]:
                row["id"] = f"{row['id']}-{number}"

    settings: Settings = practices.settings
    with lying(practices.platform.base_url, change) as base_url:
        practices.settings = at(settings, base_url)
        yield
        practices.settings = settings


def states(result: Any) -> dict[str, tuple[str, str]]:
    return {item.endpoint: (item.state, item.reason) for item in result.results if item.state != "certified"}


def test_ids_that_become_unstable_are_noticed_grow_nothing_and_once_they_stay_all_is_mended(opened: Any) -> None:
    practices = opened(**SMALL)
    practices.sync()
    whole = by_table(practices.warehouse, *STORED)
    practices.platform.advance(timedelta(hours=30))
    with other_ids(practices):
        results = [practices.sync()]
        sizes = [by_table(practices.warehouse, *STORED)]
        for _ in range(2):
            practices.platform.advance(timedelta(minutes=5))
            results.append(practices.sync())
            sizes.append(by_table(practices.warehouse, *STORED))

    assert {result.exit_code for result in results} == {3}
    by_list = states(results[-1])
    assert set(by_list) == set(WITH_IDS)
    assert all("came back under another id" in reason for _, reason in by_list.values())
    assert all(size == sizes[0] for size in sizes[1:])
    assert all(
        sizes[0][f"raw.{name}"] <= 2 * whole[f"raw.{name}"] + 100 for name in ("booking_sessions", "staff_tasks")
    )

    assert practices.mended()
    assert practices.sync().exit_code == 0


def test_ids_of_calls_that_change_are_not_attached_and_every_call_is_here_all_the_same(opened: Any) -> None:
    practices = opened(**SMALL)
    with other_ids(practices, ("phone_calls",)):
        result = practices.sync(endpoints=["phone_calls"])

    assert result.exit_code == 3
    assert "all calls are read, but new ones lack ids and clients" in states(result)["phone_calls"][1]
    assert practices.differences(("phone_calls",)) == []
    assert ask(practices.warehouse, "select count(id) from raw.phone_calls") == [(0,)]

    assert practices.sync(endpoints=["phone_calls"]).exit_code == 0
    assert lacking_details(practices.warehouse, practices.today) == 0
