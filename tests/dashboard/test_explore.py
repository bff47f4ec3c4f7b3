"""Explore: each figure is that of `vetl metric`, a filter holds for all of the page, rows are those counted."""

import stat
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from board.pages.explore import SUBJECTS
from streamlit.testing.v1 import AppTest
from support.dashboard_pages import Ask, Open, shown as text
from vetl.figures.ask import MetricQuestion, ask, list_of
from vetl.figures.explanation import rows_of_metric


def value_of(file: Path, name: str, days: tuple[date, date], *where: str) -> str:
    [row] = ask(file, MetricQuestion(name, (), where, *days)).rows
    value = row[-3]
    if value is None:
        return "\u2013"
    if ask(file, MetricQuestion(name, (), where, *days)).metric.aggregation != "ratio":
        return f"{value:,.0f}"
    return f"{value * 100:.{0 if value >= 0.1 else 1}f}".removesuffix(".0") + "%"


def shown(page: AppTest) -> dict[str, str]:
    assert not page.exception
    return {metric.label: str(metric.value) for metric in page.metric}


def rows_of(page: AppTest, which: int) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in page.dataframe[which].value.itertuples(index=False)]


def test_every_metric_has_a_subject(file: Path) -> None:
    metrics = list_of(file).values()
    marts = {metric.mart for metric in metrics if not metric.numerator}

    assert marts - {mart for group in SUBJECTS.values() for mart in group} == set(), "SUBJECTS lacks their mart"


@pytest.mark.parametrize("where", [(), ("direction=inbound",), ("practice=loc-001", "call_classification=null")])
def test_every_measure_of_a_subject_is_on_the_page_with_its_filters(
    opened: Open, file: Path, days: tuple[date, date], where: tuple[str, ...]
) -> None:
    page = opened("explore", metric="calls", only=list(where))
    found = shown(page)

    asked = ("calls", "answered_calls", "answered_rate", "new_booking_conversion_rate", "intent_calls")
    expected = {list_of(file)[name].words: value_of(file, name, days, *where) for name in asked}
    assert expected.items() <= found.items()
    assert found["Inbound calls"] == ("\u2013" if where == ("direction=inbound",) else found["Inbound calls"])
    assert len(found) > 15


def test_a_rate_has_both_counts_by_practice_and_by_day(opened: Open, ask: Ask, days: tuple[date, date]) -> None:
    page = opened("explore", metric="completion_rate", by="practice")
    counts = "count(*) filter (where status = 'completed'), count(*) from marts.booking_sessions"
    by_practice = ask(
        f"select name, {counts} join marts.practices using (practice_id) where day between ? and ? group by name",
        *days,
    )
    by_day = ask(f"select day, {counts} where day between ? and ? group by day order by day", *days)

    assert [(row[0].date(), *row[1:3]) for row in rows_of(page, 0)] == by_day
    assert sorted(row[:3] for row in rows_of(page, 1)) == sorted(by_practice)


def test_a_filter_is_removed_by_its_button_and_a_measure_chosen_by_its_own(opened: Open) -> None:
    page = opened("explore", metric="calls", only=["direction=inbound", "practice=loc-001"])
    page = page.button(key="without-direction").click().run()
    assert page.query_params["only"] in ("practice=loc-001", ["practice=loc-001"])

    page = page.button(key="measure-answered_rate").click().run()
    assert page.query_params["metric"] in ("answered_rate", ["answered_rate"])
    assert "Answered calls, share" in [header.value for header in page.header]


def test_a_period_stands_beside_any_other(opened: Open, file: Path, days: tuple[date, date]) -> None:
    since, until = days
    sunday = until - timedelta(days=(until.weekday() + 1) % 7)
    others = {
        "before": (since - timedelta(days=28), since - timedelta(days=1)),
        "year_ago": (since - timedelta(days=364), until - timedelta(days=364)),
        "week": (sunday - timedelta(days=6), sunday),
        "month": (until.replace(day=1), until),
    }
    for name, other in others.items():
        page = opened("explore", metric="calls", against=name)
        rows = ask(file, MetricQuestion("calls", (), (), *other)).rows
        said = f"before {rows[0][-3]:,}" if rows else "before \u2013"
        assert said in [caption.value for caption in page.caption], name


def test_each_kind_of_measure_has_a_page(opened: Open) -> None:
    """A stage needs its stage; people, the present state, a median and a measure without rows have a page, too."""
    for metric in ("drop_off_rate", "median_hours_to_booking", "acts", "unique_callers", "tasks_pending"):
        page = opened("explore", metric=metric)
        assert not page.exception, metric
        assert page.dataframe or page.info[0].value == "Nothing in this period.", metric


def test_the_rows_of_every_metric_give_its_value(file: Path, days: tuple[date, date]) -> None:
    for name, metric in list_of(file).items():
        if metric.aggregation == "people":
            continue
        where = ("stage=started",) if "stage" in name or name == "drop_off_rate" else ()
        period = (None, None) if metric.is_of_now else days
        found = rows_of_metric(file, MetricQuestion(name, (), where, *period))
        assert found.agrees, name


def test_rows_are_those_that_the_measure_counts(opened: Open, ask: Ask, days: tuple[date, date]) -> None:
    where = "day between ? and ? and direction = 'inbound' and practice_id = 'loc-001'"
    ((calls,),) = ask(f"select count(*) from marts.phone_calls where {where}", *days)
    page = opened("rows", measure="calls", only=["direction=inbound", "practice=loc-001"])

    assert shown(page)["Calls"] == f"{calls:,}"
    assert len(page.dataframe[0].value) == calls
    assert "Only Direction: Inbound" in text(" ".join(caption.value for caption in page.caption))


def test_a_view_is_saved_by_name_for_its_user(
    opened: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = tmp_path / "kept.sqlite"
    monkeypatch.setenv("VETL_DASHBOARD__MARKS", str(kept))
    page = opened("explore", metric="calls", only="direction=inbound", period="90")
    page.text_input(key="view_name").set_value("Inbound, a quarter")
    page = next(button for button in page.button if button.label == "Save this view").click().run()

    assert not page.exception
    links = [link.proto for link in page.get("page_link")]
    [link] = [link for link in links if text(link.label) == "Inbound, a quarter"]
    assert {"metric=calls", "only=direction%3Dinbound", "period=90"} <= set(link.query_string.split("&"))
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600

    page = page.button(key="drop-Inbound, a quarter").click().run()
    assert "Inbound, a quarter" not in [text(link.proto.label) for link in page.get("page_link")]
