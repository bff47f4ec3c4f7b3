"""Thresholds over a real published file in which a day has many calls, and data is corrected."""

import sqlite3
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pytest
from pydantic import SecretStr
from support.mail_server import Mailbox
from support.processes import free_port
from support.sandbox_settings import changed
from vetl.addons.watch.job import judge, send_notices
from vetl.addons.watch.notice_ledger import NoticeLedger, open_episodes
from vetl.addons.watch.settings import Threshold, WatchSettings
from vetl.addons.watch.watching import Judged, episodes
from vetl.core.errors import ConfigurationError, WrongUse
from vetl.figures.periods import PeriodValue
from vetl.settings import Settings, load_settings

CALLS = Threshold(measure="calls", where=("direction=inbound",), by="day", above=200)


class World:
    """The published file of one day after another. `today` is not over yet."""

    def __init__(self, settings: Settings) -> None:
        self.file = settings.warehouse.published
        [(self.practice, self.last)] = self.rows(
            "select practice_id, max(day) from meta.practice_days where is_over and practice_id = 'loc-001'"
            " and day < (select min(timezone(time_zone, certified_through)::date) from meta.proof"
            " join marts.practices using (practice_id) where endpoint = 'phone_calls') group by all"
        )
        self.run("create table marts.all_calls as from marts.phone_calls")

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        with duckdb.connect(self.file) as connection:
            return connection.execute(sql).fetchall()

    run = rows

    def tuesday(self, weeks_before: int = 0) -> date:
        return self.last - timedelta(days=(self.last.weekday() - 1) % 7, weeks=weeks_before)

    def closed_through(self, day: date) -> None:
        self.run(f"update meta.practice_days set is_over = day <= date '{day}'")

    def has_many_calls(self, day: date) -> None:
        self.run(
            f"insert into marts.phone_calls select * replace (date '{day}' as day) from marts.all_calls"
            f" where practice_id = '{self.practice}' and direction = 'inbound' limit 300"
        )

    def is_busy_on(self, day: date) -> None:
        """Let the day be the last that is over, with more calls than the threshold allows."""
        self.closed_through(day)
        self.has_many_calls(day)

    def corrected(self) -> None:
        self.run("delete from marts.phone_calls; insert into marts.phone_calls from marts.all_calls")


@pytest.fixture
def world(settings: Settings) -> World:
    return World(settings)


def only(settings: Settings, *thresholds: Threshold) -> Settings:
    return changed(settings, watch={"thresholds": thresholds, "headlines": False})


def test_a_correction_of_the_data_ends_an_episode(settings: Settings, world: World, mailbox: Mailbox) -> None:
    settings = only(settings, CALLS)
    world.is_busy_on(world.tuesday())
    assert len(send_notices(settings).rang) == 1

    world.corrected()
    assert len(send_notices(settings).ended) == 1
    assert "after a correction of the data" in mailbox.messages[1].get_content()
    assert send_notices(settings).ended == ()


def test_a_refused_notice_is_sent_with_the_next_build_and_a_new_threshold_is_silent_about_the_past(
    settings: Settings, world: World, mailbox: Mailbox
) -> None:
    settings, busy = only(settings, CALLS), world.tuesday(1)
    world.has_many_calls(busy)
    world.closed_through(world.last)
    assert send_notices(settings).rang == ()  # the episode is over, and the threshold is new

    world.is_busy_on(world.tuesday())
    other = only(settings, CALLS.model_copy(update={"periods": 1, "least": 11}))
    mailbox.refuses = True
    [failure] = send_notices(other).failures
    assert "did not take the message (451)" in failure
    mailbox.refuses = False
    assert (send_notices(other).sent, send_notices(other).sent) == (1, 0)
    with sqlite3.connect(WatchSettings.of(settings).ledger) as ledger:
        assert ledger.execute("select distinct state from messages").fetchall() == [("sent",)]


def test_a_notice_to_a_recipient_who_was_taken_out_is_neither_sent_nor_noted_as_sent(
    settings: Settings, world: World, mailbox: Mailbox
) -> None:
    webhook = SecretStr(f"http://127.0.0.1:{free_port()}")
    with_both = only(changed(settings, alerts={"webhook": webhook}), CALLS)
    without = changed(with_both, alerts={"webhook": None, "email_to": ("others@example.com",)})
    world.is_busy_on(world.tuesday())
    mailbox.refuses = True
    assert len(send_notices(with_both).failures) == 2
    mailbox.refuses = False

    assert (send_notices(without).sent, mailbox.messages) == (0, [])
    with sqlite3.connect(WatchSettings.of(settings).ledger) as ledger:
        assert ledger.execute("select distinct state from messages").fetchall() == [("failed",)]
    assert send_notices(with_both).sent == 1  # the mail; nobody answers at the webhook


def test_a_message_in_flight_when_vetl_was_killed_is_not_sent_again(tmp_path: Path) -> None:
    with NoticeLedger.open(tmp_path / "l.sqlite") as ledger:
        ledger.due("k", ["a@example.com"], "text", datetime.now(UTC))
        assert len(ledger.claim(ledger.messages(("due",)))) == 1
    with NoticeLedger.open(tmp_path / "l.sqlite") as ledger:  # the next process
        assert ledger.claim(ledger.messages()) == []
        assert len(ledger.claim(ledger.messages(), again=True)) == 1


def test_a_headline_rings_once_and_not_if_it_is_switched_off_or_its_practice_was_taken_out(
    settings: Settings, world: World, mailbox: Mailbox
) -> None:
    world.run(
        "delete from marts.headlines;"
        " insert into marts.headlines by name select practice_id, 'answered_hours' as measure,"
        f" date '{world.last}' as since, date '{world.last}' as until, date '{world.last}' as first_seen,"
        " 'lower' as direction, 0.1 as value, 0.8 as usual, 9 as people, 0.99 as sureness, 1 as rank,"
        " '1 of 10 calls' as made_of, 'The line was down' as words, null as part from marts.practices limit 1"
    )
    off = changed(settings, watch={"thresholds": (), "headlines": False})
    on = changed(settings, watch={"thresholds": ()})
    without = on.model_copy(update={"practices": (replace(on.practices[0], id="another"),)})

    assert send_notices(off).rang == ()
    assert send_notices(without).rang == ()
    assert send_notices(on).rang == ("The line was down",)
    assert send_notices(on).rang == ()
    [notice] = mailbox.messages
    assert "The line was down" in notice.get_content()


def test_uncertified_days_are_not_judged(settings: Settings, world: World) -> None:
    settings, busy = only(settings, CALLS), world.tuesday()
    world.is_busy_on(busy)
    world.run(f"update meta.proof set certified_through = date '{busy}' - 2 where endpoint = 'phone_calls'")

    assert send_notices(settings).rang == ()
    assert max(one.through for one in judge(settings) if one.through) < busy


def test_a_holiday_is_not_judged(settings: Settings, world: World) -> None:
    settings, holiday = only(settings, CALLS), world.tuesday(1)
    world.has_many_calls(holiday)
    [own] = [one for one in judge(settings) if one.practice_id == "loc-001"]
    assert [episode.began for episode in own.episodes] == [holiday]

    own_day = f"practice_id = 'loc-001' and day = '{holiday}'"
    world.run(f"update meta.practice_days set is_holiday = true where {own_day}")
    [own] = [one for one in judge(settings) if one.practice_id == "loc-001"]
    assert own.episodes == []
    [judged] = [one for one in own.judged if one.value.start == holiday]
    assert judged.judgement == "unknown"


@pytest.mark.parametrize(
    ("judgements", "periods", "ends_after", "found"),
    [
        ("iioi", 1, 1, [(2, 2, 3)]),
        ("ooi", 2, 1, [(0, 1, 2)]),
        ("oioi", 2, 1, []),
        ("o?o", 2, 1, [(0, 2, None)]),
        ("?o?", 1, 1, [(1, 1, None)]),
        ("ooooiioooooi?iii", 1, 3, [(0, 0, 11)]),  # a campaign with quiet weekends
    ],
)
def test_episodes(
    judgements: str, periods: int, ends_after: int, found: list[tuple[int, int, int | None]]
) -> None:
    names: Any = {"i": "in", "o": "out", "?": "unknown"}
    first = date(2026, 1, 5)
    judged = [
        Judged(PeriodValue(first + timedelta(days=at), 1.0), names[letter]) for at, letter in enumerate(judgements)
    ]

    def number(day: date | None) -> int | None:
        return None if day is None else (day - first).days

    made = episodes(judged, periods, ends_after=ends_after)
    assert [(number(one.began), number(one.rings_at), number(one.ended)) for one in made] == found


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("measure = 'cals'\nabove = 3", "measure is no metric: cals; did you mean calls"),
        ("measure = 'tasks_pending'\nabove = 3", "counts the present state, so no closed day or week has a value"),
        ("measure = 'calls'", "give exactly one of above and below"),
        ("measure = 'calls'\nabove = 3\nbelow = 2", "give exactly one of above and below"),
        ("measure = 'calls'\nabove = 3\npractices = ['loc-9']", "practice loc-9 is not configured"),
        ("measure = 'calls'\nabove = 3\nto = [\"a@b.c\\nBcc: x@y.z\"]", "must be an address"),
        ("measure = 'calls'\nabove = true", "must be a number"),
    ],
)
def test_a_wrong_threshold_is_an_error_of_the_settings(text: str, message: str, tmp_path: Path) -> None:
    config = tmp_path / "vetl.toml"
    config.write_text(f"[[watch.thresholds]]\n{text}\n", "utf-8")
    with pytest.raises(ConfigurationError, match=message):
        load_settings(config)


def test_a_threshold_with_a_wrong_dimension_fails_no_publication(settings: Settings) -> None:
    settings = only(settings, CALLS.model_copy(update={"where": ("directon=inbound",)}))
    with pytest.raises(WrongUse, match="did you mean direction"):
        judge(settings)
    [failure] = send_notices(settings).failures
    assert "thresholds were not judged" in failure


def test_a_threshold_that_was_taken_out_leaves_no_episode(
    settings: Settings, world: World, mailbox: Mailbox
) -> None:
    world.is_busy_on(world.tuesday())
    assert len(send_notices(only(settings, CALLS)).rang) == 1

    send_notices(only(settings, CALLS.model_copy(update={"periods": 2})))
    assert open_episodes(WatchSettings.of(settings).ledger) == []
    assert len(mailbox.messages) == 1
