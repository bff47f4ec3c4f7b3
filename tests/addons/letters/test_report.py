"""The letter, as a real mail server takes it, and as it stays in a folder; sent once for each week and way."""

import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import duckdb
import pytest
from pydantic import SecretStr, ValidationError
from support.hook_receiver import receiving
from support.mail_server import Mailbox
from support.warehouse_with_rows import ask
from vetl.addons.letters.job import letters, preview, report
from vetl.addons.letters.letter_forms import as_text
from vetl.addons.letters.settings import Reader, ReportSettings
from vetl.addons.watch.notice_ledger import NoticeLedger, StoredEpisode
from vetl.addons.watch.settings import WatchSettings
from vetl.core.errors import ConfigurationError
from vetl.notices import payload
from vetl.settings import Settings


@pytest.fixture
def reporting(settings: Settings, tmp_path: Path) -> Settings:
    """Provide settings with a reader of all practices and a reader of one."""
    readers = (
        Reader(name="All", to=("all@example.com", "other@example.com")),
        Reader(name="One", practices=("loc-001",), to=("one@example.com",)),
    )
    section = ReportSettings(
        recipients=readers, link="https://board.example.com", folder=tmp_path / "out", ledger=tmp_path / "l.sqlite"
    )
    return settings.model_copy(update={"report": section})


def test_no_two_readers_have_the_same_files() -> None:
    """The letter of one would replace that of the other."""
    ReportSettings(recipients=(Reader(name="北"), Reader(name="南")))

    for name, message in (
        ("North!", "North! would have the same files as North"),
        ("North", "North is there twice"),
    ):
        with pytest.raises(ValidationError, match=f"recipients: {message}"):
            ReportSettings(recipients=(Reader(name="North"), Reader(name=name)))


def test_each_reader_gets_one_mail_with_text_html_charts_and_pdf(reporting: Settings, mailbox: Mailbox) -> None:
    done = [report(reporting) for _ in range(2)]

    assert [[item.state for item in one.deliveries] for one in done] == [["sent"] * 5, ["sent before"] * 5]
    to = [f"{name}@example.com" for name in ("all", "other", "one")]
    assert [message["To"] for message in mailbox.messages] == to
    mail = mailbox.messages[0]
    parts = {part.get_content_type(): part for part in mail.walk()}
    html = parts["text/html"].get_content()
    named = re.findall(r'src="cid:([^"]+)"', html)
    pictures = [part for part in mail.walk() if part.get_content_type() == "image/png"]
    assert [f"<{name}>" for name in named] == [picture["Content-ID"] for picture in pictures]
    assert len(named) == 6
    assert all(picture.get_content().startswith(b"\x89PNG") for picture in pictures)
    assert parts["application/pdf"].get_content().startswith(b"%PDF")
    assert not re.search(r"<script|<link|@import|http://", html)
    [address] = re.findall(r"https://board\.example\.com/call-back\S+", parts["text/plain"].get_content())
    assert "practice=loc-001" in address


def test_a_reader_sees_their_practices_alone_and_no_person(reporting: Settings) -> None:
    file = reporting.warehouse.published
    people = ask(file, "select distinct unnest([client_id, phone_number, episode_id]) from marts.call_back_list")
    waits = "practice_id = 'loc-001' and (reason is null or reason not in ('declined', 'resolved'))"
    [(waiting,)] = ask(file, f"select count(*) from marts.call_back_list where {waits}")
    [(other,)] = ask(file, "select name from marts.practices where practice_id = 'loc-002'")
    [(_, letter)] = letters(reporting, ["One"])

    assert letter
    assert letter.people == waiting > 0
    files = [path for path in preview(reporting, Path("p"), ["One"]) if path.suffix != ".pdf"]
    written = b"".join(path.read_bytes() for path in files)
    assert other.encode() not in written
    assert not any(str(person).encode() in written for (person,) in people if person)


def test_without_a_reader_a_preview_is_about_all_practices_and_next_week(
    reporting: Settings, tmp_path: Path
) -> None:
    nobody = reporting.model_copy(update={"report": ReportSettings()})
    file = reporting.warehouse.published
    [(visits,)] = ask(
        file,
        """select count(*) from marts.appointments join marts.practices using (practice_id)
           where attendance <> 'canceled' and booking_date_local >= today and booking_date_local < today + 7""",
    )
    [text] = [path.read_text() for path in preview(nobody, tmp_path / "p") if path.suffix == ".txt"]

    assert f"{visits:,} visits are booked for the next seven days" in text
    assert all(name in text for (name,) in ask(file, "select name from marts.practices"))
    assert "http" not in text
    with pytest.raises(ConfigurationError, match="no reader"):
        report(nobody)


def test_the_figures_are_those_of_the_marts(reporting: Settings) -> None:
    [(_, letter)] = letters(reporting, ["All"])
    assert letter
    file, answered, online = reporting.warehouse.published, letter.figures[0], letter.figures[3]

    def counts(figures: str, mart: str, week: Any) -> tuple[int, int]:
        return ask(
            file, f"select {figures} from marts.{mart} and day between date '{week}' and date '{week}' + 6"
        )[0]

    calls = counts(
        "count(*) filter (where is_answered), count(*)", "phone_calls where direction = 'inbound'", answered.week
    )
    sessions = counts("sum(completed), sum(sessions)", "practice_daily where true", online.week)
    [(today,)] = ask(file, "select min(today) from marts.practices")
    assert (answered.counts, online.counts) == (calls, sessions)
    assert answered.week
    assert 7 <= (today - answered.week).days <= 14
    assert "Callers booked" in " ".join(letter.uncertain)


def test_a_letter_that_was_refused_is_sent_by_the_next_run_and_others_once(
    reporting: Settings, mailbox: Mailbox
) -> None:
    mailbox.refuses = True
    first = report(reporting, ["One"])
    mailbox.refuses = False
    second = report(reporting, ["One"])
    third = report(reporting, ["One"], again=True)

    assert (first.exit_code, second.exit_code) == (1, 0)
    assert [(item.way, item.state) for item in second.deliveries] == [
        ("mail to one@example.com", "sent"),
        ("folder", "sent before"),
    ]
    assert [item.state for item in third.deliveries] == ["sent", "sent"]
    [once, more] = mailbox.messages
    assert once["Message-ID"] != more["Message-ID"]
    assert once["Date"]


def test_a_server_elsewhere_must_offer_tls(
    reporting: Settings, mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vetl.notices.is_this_machine", str.isdecimal)

    [mail, _] = report(reporting, ["One"]).deliveries

    assert (mail.state, mailbox.messages) == ("failed", [])
    assert "offers no TLS" in mail.note


def test_a_letter_names_thresholds_that_are_out_and_those_of_its_week_that_are_over(reporting: Settings) -> None:
    """A telephone line that was dead on Tuesday is repaired by Monday, and still the news of the week."""
    [(_, letter)] = letters(reporting, ["One"])
    assert letter
    with NoticeLedger.open(WatchSettings.of(reporting).ledger) as ledger:
        for practice, days, is_over in (
            ("loc-001", 1, True),
            ("loc-001", -20, False),
            ("loc-001", -21, True),
            ("loc-002", 1, True),
        ):
            began = letter.week + timedelta(days=days)
            ended = began + timedelta(days=1) if is_over else None
            ledger.keep(StoredEpisode("calls", practice, began, began, ended, is_over, f"{practice} {days}"))

    [(_, letter)] = letters(reporting, ["One"])
    assert letter
    assert letter.out == ("loc-001 -20", f"loc-001 1; over since {letter.week + timedelta(days=2)}")
    assert "Outside of a threshold" in as_text(letter)


def test_a_letter_counts_what_was_made_in_seven_days_and_what_is_not_known(reporting: Settings) -> None:
    with duckdb.connect(reporting.warehouse.published) as file:
        file.execute(
            "insert into marts.acts by name select practice_id, 'e' || days as episode_id, 'call_back' as kind,"
            " false as holdout, today as day, as_of as planned_at, as_of - to_days(days) as sent_at, state"
            " from marts.practices, (values (1, 'made'), (2, 'unknown'), (9, 'made')) as acts(days, state)"
        )
    [(_, letter)] = letters(reporting, ["One"])
    assert letter
    assert letter.done == (
        "1 staff tasks or messages were made in the last seven days, 3 in all.",
        "Of 1 requests it is not known whether they made one.",
    )


def test_a_webhook_gets_a_summary_in_the_form_of_its_host(reporting: Settings, tmp_path: Path) -> None:
    assert payload("https://hooks.slack.com/x", "a\nb") == {"text": "a\nb"}
    with receiving() as hook:
        section = ReportSettings(
            recipients=(Reader(name="One", webhook=True),),
            webhooks=SecretStr(f"One={hook.url}"),
            ledger=tmp_path / "w",
        )
        hook.answers.append(500)
        settings = reporting.model_copy(update={"report": section})
        assert [report(settings).deliveries[0].state for _ in range(3)] == ["failed", "sent", "sent before"]
    assert "Calls answered: " in hook.bodies[1]["text"]
    card = payload("https://prod.westeurope.logic.azure.com/x", "a\n\nb")["attachments"][0]["content"]
    assert [block["text"] for block in card["body"]] == ["a", "b"]
