"""Filters are in the address, so a view can be shared; a practice without rows has a page too."""

from datetime import date, timedelta

import pytest
from board.pages import PAGES
from streamlit.testing.v1 import AppTest
from support.dashboard_pages import Ask, Copied, Open, shown

SESSIONS = "select coalesce(sum(sessions), 0)::bigint from marts.booking_funnel_daily where day between ? and ?"


def sessions(page: AppTest) -> str:
    assert not page.exception
    return next(str(metric.value) for metric in page.metric if metric.label == "Sessions")


@pytest.fixture
def today(ask: Ask) -> date:
    return ask("select min(today) from marts.practices")[0][0]


@pytest.mark.parametrize(("period", "days"), [("7", 7), (None, 28), ("90", 90)])
def test_the_period_ends_yesterday(opened: Open, ask: Ask, today: date, period: str | None, days: int) -> None:
    page = opened("online-booking", **({"period": period} if period else {}))

    expected = ask(SESSIONS, today - timedelta(days=days), today - timedelta(days=1))[0][0]
    assert sessions(page) == f"{expected:,}"


def test_a_practice_is_chosen_by_the_address_and_by_hand(opened: Open, ask: Ask, today: date) -> None:
    (practice,) = ask("select practice_id from marts.practices order by name")[1]
    expected = ask(
        f"{SESSIONS} and practice_id = ?", today - timedelta(days=28), today - timedelta(days=1), practice
    )

    by_address, by_hand = opened("online-booking", practice=practice), opened("online-booking")
    by_hand.multiselect(key="practice").select(practice).run()

    assert sessions(by_address) == sessions(by_hand) == f"{expected[0][0]:,}"
    for page in (by_address, by_hand):
        assert page.query_params["practice"] in (practice, [practice])


def test_a_choice_that_overtakes_the_new_address_undoes_no_other_choice(opened: Open) -> None:
    """The browser sends its address with each choice, and may not have that of the choice before yet."""
    page = opened("online-booking", period="7")
    page.multiselect(key="practice").select("loc-001").run()
    page.query_params.clear()
    page.query_params["period"] = "7"

    page.selectbox(key="group").select("America").run()

    assert page.multiselect(key="practice").value == ["loc-001"]
    assert set(page.query_params) == {"period", "group", "practice"}


def test_what_an_address_names_and_no_filter_knows_is_said(opened: Open) -> None:
    """An address may be old, or written by hand: the view is wider then, and not in silence."""
    strange = {"practice": "nobody", "group": "none", "period": "for ever", "channel": "smoke"}
    page = opened("online-booking", **strange)

    assert sessions(page) == sessions(opened("online-booking"))
    for value in ("nobody", "none", "for ever", "channel"):
        assert f"\u201c{value}\u201d" in page.warning[0].value
    assert not page.query_params


@pytest.mark.parametrize(
    ("path", "address"),
    [
        ("online-booking", {"period": "own", "from": "x"}),
        ("online-booking", {"period": "own", "to": "1999-01-01"}),
        ("online-booking", {"by": "moon"}),
        ("call-back", {"tries": "many"}),
        ("call-back", {"wanted": "moon"}),
        ("call-back", {"contact": "moon"}),
        ("phones", {"direction": "up"}),
        ("outreach", {"channel": "smoke"}),
        ("overview", {"figure": "moon"}),
        ("overview", {"channel": "call"}),
        ("explore", {"metric": "moon"}),
        ("explore", {"by": "moon"}),
        ("explore", {"metric": "calls", "only": "moon=1"}),
        ("explore", {"against": "moon"}),
    ],
)
def test_each_filter_says_what_it_cannot_show(opened: Open, path: str, address: dict[str, str]) -> None:
    page = opened("" if path == "overview" else path, **address)

    assert not page.exception
    assert len(page.warning) == 1
    warning = shown(page.warning[0].value)
    assert list(address.values())[-1] in warning or "channel" in warning


def test_a_practice_outside_of_the_chosen_group_is_said(opened: Open, copied: Copied) -> None:
    file = copied("update marts.practices set group_name = 'West' where practice_id = 'loc-002'")
    page = opened("online-booking", file, group="West", practice="loc-001")

    assert "loc-001" in shown(page.warning[0].value)


def test_an_empty_practice_and_one_of_a_day_have_pages(opened: Open, copied: Copied) -> None:
    file = copied("""
        insert into marts.practices by name
        select * replace ('empty' as practice_id, 'Empty' as name) from marts.practices limit 1;
        insert into marts.practices by name
        select * replace ('new' as practice_id, 'New' as name, today - 1 as history_start)
        from marts.practices limit 1
    """)
    for page in (opened(path, file, practice="new") for path in ("", "online-booking", "phones", "outreach")):
        assert not page.exception
        assert [metric.delta for metric in page.metric if metric.delta] == []
    for path in ("", *(page.path for page in PAGES[1:])):
        assert not opened(path, file, practice="empty").exception, path
