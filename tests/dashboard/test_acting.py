"""The page on acting shows a difference with its interval, or that there is nothing to compare."""

import shutil
import stat
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pytest
from streamlit.testing.v1 import AppTest
from support.dashboard_pages import Open
from vetl.addons.act.act_files import plan_file, write_plan
from vetl.addons.act.acts import Act, HeldBack
from vetl.addons.act.planning import ActPlan
from vetl.core.significance import difference_interval


def with_acts(published: Path, folder: Path, *days: tuple[int, int, int, int, bool]) -> Path:
    """Return a copy of the file with these days of acts, of the first practice."""
    file = Path(shutil.copy(published, folder / "acted.duckdb"))
    with duckdb.connect(file) as connection:
        for number, (acts, booked, left, left_booked, is_mature) in enumerate(days):
            connection.execute(
                "insert into marts.acts_daily (practice_id, day, kind, acts, acts_booked, held_out,"
                " held_out_booked, is_mature) select practice_id, today - $1 - 20, 'call_back', $2, $3, $4, $5, $6"
                " from marts.practices order by practice_id limit 1",
                [number, acts, booked, left, left_booked, is_mature],
            )
    return file


def text(page: AppTest) -> str:
    assert not page.exception
    return " ".join(str(item.value) for item in (*page.header, *page.markdown, *page.info))


PLAN, EFFECT = "Staff tasks by vetl: the last plan", "What it brings"


def test_a_practice_for_which_vetl_never_acted_has_no_parts_about_it(opened: Open) -> None:
    said = text(opened("call-back"))

    assert "Not on the list" in said
    assert PLAN not in said
    assert EFFECT not in said


@pytest.mark.parametrize(("booked", "is_chance"), [(30, False), (12, True)])
def test_the_difference_has_its_interval(
    opened: Open, published: Path, tmp_path: Path, booked: int, *, is_chance: bool
) -> None:
    file = with_acts(published, tmp_path, (60, booked, 25, 4, True), (40, 10, 15, 2, True), (99, 99, 9, 0, False))

    page = opened("call-back", file)
    said = text(page)

    low, high = difference_interval(booked + 10, 100, 6, 40)
    assert f"**{booked + 10}%** booked within 14 days; of 40 left alone, **15%**" in said
    assert f"between {100 * low:+.1f} points and {100 * high:+.1f} points (95 times of 100)" in said
    assert ("It may be chance" in said) is is_chance


def test_without_a_holdout_there_is_nothing_to_compare(opened: Open, published: Path, tmp_path: Path) -> None:
    page = opened("call-back", with_acts(published, tmp_path, (9, 3, 0, 0, True)))

    assert "there is nothing to compare" in text(page)


def test_the_last_plan_is_shown_with_its_words_for_the_chosen_practices(
    opened: Open, published: Path, tmp_path: Path
) -> None:
    file = with_acts(published, tmp_path)
    now = datetime.now(UTC)
    acts = tuple(
        Act(of, f"e-{of}", "call_back", "", "Call back", "Words <b>of</b> it", None, now, ())
        for of in ("loc-001", "loc-002")
    )
    plan = ActPlan(acts, (HeldBack("loc-001", "e-9", "holdout"),), (), ())
    assert PLAN not in text(opened("call-back", file))

    write_plan(file, plan, now)
    page = opened("call-back", file, practice="loc-001")

    assert stat.S_IMODE(plan_file(file).stat().st_mode) == 0o600
    assert "**1 act** by the plan of" in text(page)
    assert plan.digest in text(page)
    shown = [table.value for table in page.dataframe if "description" in table.value]
    assert [list(table["episode_id"]) for table in shown] == [["e-loc-001"]]
    reasons = [
        list(table.value["reason"])
        for table in page.dataframe
        if len(table.value.columns) == 2 and "reason" in table.value
    ]
    assert reasons == [["Left alone to compare with"]]
    assert PLAN in text(page)
    plan_file(file).write_text("[]", "utf-8")
    assert PLAN not in text(opened("call-back", file))
