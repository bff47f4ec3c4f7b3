"""Weeks of a group, read as its manager does: a line dies, a campaign runs, a practice opens, another leaves."""

import re
from contextlib import chdir
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
import vetl_sandbox
from support.mail_server import Mailbox, mail_server
from support.mart_builds import untested
from support.run_once import shared_result
from support.sandbox_settings import changed, settings_for
from support.warehouse_with_rows import ask
from vetl.cli.run import run_everything
from vetl.jobs.forecast import Forecast, forecast
from vetl.jobs.report import report
from vetl.notices.ledger import open_episodes
from vetl.settings import Settings
from vetl.settings.report import Reader
from vetl_sandbox.world.characters import Character, Spell

START, DAYS = datetime(2026, 4, 6, 12, tzinfo=UTC), 50
WEEK = timedelta(days=7)
MONDAYS = [START.date() + number * WEEK for number in range(4)]
DEAD = Spell(date(2026, 4, 7), date(2026, 4, 9), calls=0)
CAMPAIGN = Spell(date(2026, 4, 6), date(2026, 4, 19), calls=2, sessions=4)
BEFORE_OPENING = Spell(date.min, date(2026, 4, 12), calls=0, sessions=0, outreach=0, desk=0)
CHARACTERS = {
    1: Character(spells=(DEAD,), season=0),
    2: Character(spells=(CAMPAIGN,), season=0),
    3: Character(spells=(BEFORE_OPENING,), season=0),
    4: Character(left=date(2026, 4, 15), season=0),
}
LINE, CAMPAIGN_AT, NEW, LEAVING = (f"loc-00{number}" for number in CHARACTERS)


@dataclass
class Story:
    """What the manager got: mails and the letter by Monday, and the forecast of the last one.

    `calls_next_week` are those expected at the practice of the dead line, and those of its last week.
    """

    names: dict[str, str] = field(default_factory=dict)
    mails: dict[date, str] = field(default_factory=dict)
    letters: dict[date, str] = field(default_factory=dict)
    still_out: list[str] = field(default_factory=list)
    forecast: Forecast | None = None
    calls_next_week: tuple[float, int] = 0.0, 0

    def notices(self, practice: str) -> list[str]:
        lines = [line for text in self.mails.values() for line in text.splitlines()]
        return [line for line in lines if line.startswith(f"{self.names[practice]}: ")]


def lived(folder: Path) -> Story:
    """Live through the weeks with `vetl run`, letters and a forecast, as a schedule would start them."""
    story = Story()
    with (
        untested(),
        chdir(folder),
        mail_server() as mailbox,
        vetl_sandbox.running(frozen=True, start=START, days=DAYS, practices=4, characters=CHARACTERS) as platform,
    ):
        every = settings = _settings(platform, folder, mailbox)
        story.names = {practice.id: practice.name for practice in every.practices}
        for monday in MONDAYS:
            settings = _on(every, monday)
            before = len(mailbox.messages)
            run_everything(settings, quiet=True)
            story.mails[monday] = "".join(mail.get_content() for mail in mailbox.messages[before:])
            report(settings)
            [letter] = folder.glob(f"letters/{monday - WEEK}/all.txt")
            story.letters[monday] = letter.read_text("utf-8")
            platform.advance(WEEK)
        story.still_out = [episode.line for episode in open_episodes(every.watch.ledger)]
        story.forecast = forecast(settings)
        story.calls_next_week = _calls_next_week(settings)
    return story


def _calls_next_week(settings: Settings) -> tuple[float, int]:
    file, of = settings.warehouse.path, f"practice_id = '{LINE}'"
    [(expected,)] = ask(file, f"select sum(calls) from control.forecasts where {of} and day <= made_on + 7")
    [(counted,)] = ask(
        file,
        f"select count(*) from marts.phone_calls where {of} and direction = 'inbound'"
        f" and day between date '{MONDAYS[-2]}' and date '{MONDAYS[-2]}' + 6",
    )
    return expected, counted


def _settings(platform: vetl_sandbox.Handle, folder: Path, mailbox: Mailbox) -> Settings:
    files = {"folder": folder / "letters", "ledger": folder / "letters.sqlite"}
    return changed(
        settings_for(platform, folder, DAYS),
        phone_calls={"details": "off"},
        alerts={"email_to": ("m@example.com",), "smtp_host": "127.0.0.1", "smtp_port": mailbox.port},
        watch={"ledger": folder / "watch.sqlite"},
        report={"recipients": (Reader(name="All"),), **files},
    )


def _on(settings: Settings, monday: date) -> Settings:
    """Return the settings of a Monday: the new practice joins a week after it opened, one goes at the end."""
    opened = BEFORE_OPENING.last + timedelta(days=1)
    of = {practice.id: practice for practice in settings.practices}
    of[NEW] = replace(of[NEW], history_start=opened)
    if monday <= opened:
        del of[NEW]
    if monday == MONDAYS[-1]:
        del of[LEAVING]
    return settings.model_copy(update={"practices": tuple(of.values())})


@pytest.fixture(scope="module")
def story() -> Story:
    return shared_result("group", lived)


def test_a_dead_line_is_found_and_its_end_too(story: Story) -> None:
    [dead] = [line for line in story.notices(LINE) if ": Calls (inbound) " in line]

    assert f"Calls (inbound) on {DEAD.last}: 0; usual are about " in dead
    assert f"; out since {DEAD.first}; again as usual since {DEAD.last + timedelta(days=1)}, with " in dead


def test_a_campaign_is_one_episode_of_each_threshold_and_has_an_end(story: Story) -> None:
    for measure in ("Calls (inbound)", "Sessions"):
        [began, end] = [line for line in story.notices(CAMPAIGN_AT) if f": {measure} " in line]
        assert "usual are about" in began
        assert f"{measure} is again as usual since" in end
        assert f"(was out since {CAMPAIGN.first})" in end


def test_the_letter_of_a_dead_line_shows_fewer_calls_although_no_share_changed(story: Story) -> None:
    letter = story.letters[MONDAYS[1]]

    line, campaign = (f"Inbound calls at {story.names[practice]}" for practice in (LINE, CAMPAIGN_AT))
    assert re.search(rf"{line}: \d+ in the week of 6 April 2026, fewer than the usual", letter)
    assert re.search(rf"{campaign}: \d+ .*, more than the usual", letter)
    assert re.search(r"Calls answered +\d\d%   before \d\d%: may be chance", letter)
    assert "No practice changed by more than chance" in story.letters[MONDAYS[0]]


def test_a_practice_that_opens_is_counted_but_not_compared_and_one_that_left_is_named(story: Story) -> None:
    opened, gone = (story.letters[monday] for monday in MONDAYS[2:])

    assert re.search(rf"Too new for .Callers booked.*: {story.names[NEW]}\.", opened)
    assert "   without new practices " in opened
    assert f"Not read whole, so left out of all figures: {story.names[LEAVING]}." in opened
    assert story.names[LEAVING] not in gone
    assert not [line for line in story.still_out if line.startswith((story.names[LEAVING], story.names[LINE]))]


def test_the_forecast_after_a_dead_line_expects_what_is_usual(story: Story) -> None:
    assert story.forecast
    assert "8 weeks of calls are needed" in story.forecast.without[NEW]
    assert {LINE, CAMPAIGN_AT} <= story.forecast.practices.keys()
    expected, usual = story.calls_next_week
    assert 0.85 * usual < expected < 1.15 * usual
