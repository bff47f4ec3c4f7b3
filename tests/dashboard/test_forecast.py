"""Next week's phones: the page shows the sums of the predictions, and a hint if there is no forecast."""

from datetime import date, timedelta
from pathlib import Path

import pytest
from board.published import now_published
from board.thresholds import out_now
from support.dashboard_pages import Ask, Copied, Open, shown
from vetl.addons.watch.notice_ledger import NoticeLedger, StoredEpisode


def test_the_hours_of_next_week_and_the_days_are_the_sums_of_the_predictions(opened: Open, ask: Ask) -> None:
    page = opened("phones")

    assert not page.exception
    days, hours = [table.value for table in page.dataframe if "expected_calls" in table.value]
    coming = "from marts.calls_forecast join marts.practices using (practice_id) where day > today"
    [(calls, minutes, cells)] = ask(
        f"select sum(calls_expected), sum(staff_minutes_expected), count(distinct (weekday, hour)) {coming}"
        " and day <= today + 7"
    )
    assert len(hours) == cells > 100
    assert abs(hours["expected_calls"].sum() - calls) < 0.05 * cells
    assert abs(hours["staff_minutes"].sum() - minutes) < 0.05 * cells
    sums = ask(
        f"select min(day), sum(calls_expected) {coming} group by day - today"
        " having count(distinct practice_id) = 2"
    )
    shown = zip(days["day"], days["expected_calls"], strict=True)
    assert {day.date(): value for day, value in shown} == pytest.approx(dict(sums), abs=0.06)
    assert len(days) >= 13
    assert page.info[-1].value == "No predicted day is over yet."


def test_tomorrow_has_its_band_and_the_calls_that_are_usual_on_its_weekday(opened: Open, ask: Ask) -> None:
    for practice, today in ask("select practice_id, today from marts.practices"):
        [(expected, usual)] = ask(
            """select any_value(expected), sum(calls) / 8
               from marts.booking_intent_daily, (
                   select sum(calls_expected) as expected from marts.calls_forecast
                   where practice_id = $1 and day = $2::date + 1
               )
               where direction = 'inbound' and practice_id = $1 and day between $2::date - 56 and $2::date - 1
                     and isodow(day) = isodow($2::date + 1)""",
            practice,
            today,
        )
        page = opened("phones", practice=practice)
        days = next(table.value for table in page.dataframe if "usual_calls" in table.value)
        first = days.to_dict("records")[0]
        specs = [str(chart.proto.spec) for chart in page.get("vega_lite_chart")]

        assert first["day"].date() == today + timedelta(days=1)
        assert first["expected_calls"] == pytest.approx(expected, abs=0.06)
        assert first["low"] < first["expected_calls"] < first["high"]
        assert first["usual_calls"] == pytest.approx(usual, abs=0.06)
        assert sum('"type": "area"' in spec for spec in specs) == 1


def test_without_a_forecast_the_page_says_so(opened: Open, copied: Copied) -> None:
    page = opened("phones", copied("delete from marts.calls_forecast"))

    assert not page.exception
    assert any("There is no forecast yet" in info.value for info in page.info)


@pytest.fixture
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Provide a ledger with an episode of each practice that goes on, and one that is over."""
    path = tmp_path / "watch.sqlite"
    with NoticeLedger.open(path) as open_ledger:
        for practice, is_over in (("loc-001", False), ("loc-002", False), ("loc-001", True)):
            began = date(2026, 1, 6 + is_over)
            text = f"{practice}: calls on 2026-01-06: 2; usual are about 19"
            with open_ledger.writing():
                open_ledger.keep(StoredEpisode("calls", practice, began, began, None, is_over, text))
    monkeypatch.setenv("VETL_WATCH__LEDGER", str(path))
    return path


def test_overview_names_who_is_outside_of_a_threshold_and_since_when(opened: Open, ledger: Path) -> None:
    said = [shown(warning.value) for warning in opened().warning]

    assert said == [
        f"{practice}: calls on 2026-01-06: 2; usual are about 19; out since Jan 6, 2026"
        for practice in ("loc-001", "loc-002")
    ]
    assert [shown(warning.value) for warning in opened(practice="loc-002").warning] == said[1:]
    assert ledger.exists()


def test_a_user_hears_of_their_practices_alone(published: Path, ledger: Path) -> None:
    seen = out_now(ledger, now_published(published, ("loc-002",)))

    assert [episode.practice_id for episode in seen] == ["loc-002"]
    assert out_now(ledger.with_name("none"), now_published(published)) == []
