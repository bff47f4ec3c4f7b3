"""A year with acting on: the marts equal a recount from the platform's truth. `make chaos` runs it.

`VETL_ACTING_MONTHS` is the number of months. The suite has one month, in `tests/e2e/test_marts_equal_truth.py`.
"""

import os
from datetime import timedelta
from pathlib import Path

from support.acting_month import KIND, act, acting, leaks_of, work
from support.expected import assert_mart_is_true
from support.expected.questions import ANSWERS, expected_marts
from support.expected_inputs import known_from
from support.mart_builds import build_marts_untested
from support.story import START, Follower, following
from vetl.acting.codes import code_of
from vetl.acting.ledger import read_ledger

MONTHS = int(os.environ.get("VETL_ACTING_MONTHS", "12"))
PRACTICES = ("loc-001", "loc-003")
MARTS = ("acts", "acts_daily", "demand_ledger", "demand_daily", "leaks", "leak_list", "first_responses_daily")
DAY = timedelta(days=1)


def test_a_year_of_acting_is_recounted_from_the_truth(tmp_path: Path) -> None:
    start = START - MONTHS * 30 * DAY  # vetl doubts a platform whose clock is ahead of this machine's
    with following(tmp_path, seed=31, practices=PRACTICES, groups={}, start=start) as follower:
        follower.settings = follower.settings.model_copy(update={"act": acting(tmp_path, PRACTICES)})
        for _ in range(MONTHS):
            a_month(follower)
        chapter = follower.chapter(build_marts_untested)

    source = known_from(chapter)
    for name in MARTS:
        assert_mart_is_true(name, chapter.marts[name], source)
    shown = chapter.rows("acts_daily")
    assert all(sum(row[name] for row in shown) for name in ("acts", "acts_booked", "held_out"))
    for name in ("acting-difference", "acting-tasks"):
        assert sorted(chapter.answers[name]) == sorted(ANSWERS[name](expected_marts(chapter, source)))


def a_month(follower: Follower) -> None:
    """Read, build, act; the day after, staff work on the tasks and nobody who was acted on is on the list."""
    read_and_build(follower)
    clients = leaks_of(follower)
    acts = act(follower)
    follower.platform.advance(DAY)
    work(follower, acts, clients)
    known = {(row["practice_id"], row["episode_id"]): row for row in [*acts, *follower.acts]}
    follower.acts = list(known.values())
    _keep_states(follower)
    read_and_build(follower)
    acted = {(row["practice_id"], row["episode_id"]) for row in acts if row["task_id"]}
    assert acted & leaks_of(follower).keys() == set()
    follower.platform.advance(29 * DAY)
    follower.visit()


def read_and_build(follower: Follower) -> None:
    follower.visit()
    assert build_marts_untested(follower.settings).exit_code == 0


def _keep_states(follower: Follower) -> None:
    """Take over what vetl has done since: it cancels tasks of clients who have booked."""
    states = {
        (entry.act.practice_id, entry.act.code): entry.state.value
        for entry in read_ledger(follower.settings.act.ledger)
    }
    for row in follower.acts:
        row["state"] = states[row["practice_id"], code_of(row["practice_id"], KIND, row["episode_id"])]
