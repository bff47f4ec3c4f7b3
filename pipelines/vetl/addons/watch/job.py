"""Judge the thresholds of `[watch]` after each publication, and send a notice of each episode once."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from hashlib import sha256
from itertools import groupby
from operator import attrgetter
from pathlib import Path

from vetl.addons.watch.notice_ledger import Notice, NoticeLedger, StoredEpisode, open_episodes
from vetl.addons.watch.settings import Threshold, WatchSettings
from vetl.addons.watch.watching import Episode, Watched, end_line, first_line, line, watched
from vetl.core.errors import LedgerError, NotDelivered, VetlError
from vetl.core.list_read import Practice
from vetl.core.text import some_of
from vetl.figures.periods import Series, series
from vetl.hooks import AddonFiles, StatusPart
from vetl.notices import post_text, send_mail, written
from vetl.publishing.statements import Read, query, reading
from vetl.settings import Settings
from vetl.settings.core_sections import AlertSettings

WEBHOOK = "webhook"
"""The recipient that stands for the webhook of `[alerts]`."""


@dataclass(frozen=True, slots=True)
class NoticesSent:
    """The result of one judgement: episodes that rang or ended, messages that left, and lines about failures."""

    rang: tuple[str, ...] = ()
    ended: tuple[str, ...] = ()
    sent: int = 0
    failures: tuple[str, ...] = ()


def judge(settings: Settings) -> list[Watched]:
    """Judge each threshold at each practice, from the published file alone.

    Raise `WrongUse` if a threshold names a dimension that its metric has not, or would add up what does not
    add up.
    """
    published, thresholds = settings.warehouse.published, WatchSettings.of(settings).thresholds
    with reading(published) as read:
        found = [(threshold, _series(read, published, threshold)) for threshold in thresholds]
        names = dict(read("select practice_id, name from marts.practices").rows)
    every = [one for threshold, values in found for one in watched(threshold, values, names)]
    return [one for one in every if is_configured(settings.practices, one.practice_id)]


def is_configured(practices: Sequence[Practice], practice_id: str) -> bool:
    """Return whether a practice is in the settings; the published file keeps rows of one that was taken out."""
    return not practices or practice_id in {practice.id for practice in practices}


def _series(read: Read, file: Path, threshold: Threshold) -> Series:
    try:
        return series(read, file, threshold.measure, threshold.by, threshold.where, threshold.practices)
    except VetlError as error:
        error.add_note(f" (of the threshold: {threshold.rule})")
        raise


def send_notices(settings: Settings) -> NoticesSent:
    """Judge the thresholds, keep new episodes in the ledger, and send the due notices. An error is only a line.

    A threshold that is new at a practice rings for an open episode, but not for earlier ones.
    """
    watch = WatchSettings.of(settings)
    if not watch.thresholds and not watch.headlines:
        return NoticesSent()
    at = datetime.now(UTC)
    try:
        found = judge(settings)
        with NoticeLedger.open(watch.ledger) as ledger:
            rang = _headlines(settings, ledger, at) if watch.headlines else []
            ended: list[str] = []
            for one in found:
                with ledger.writing():
                    _keep(settings.alerts, ledger, one, at, rang, ended)
            watched_now = {(one.key, one.practice_id) for one in found}
            for episode in open_episodes(watch.ledger):
                # The threshold or the practice was taken out of the settings: it ends without a notice.
                if (episode.watch, episode.practice_id) not in watched_now:
                    ledger.keep(replace(episode, is_over=True))
            sent, failures = _send(settings, ledger, at)
            return NoticesSent(tuple(rang), tuple(ended), sent, tuple(failures))
    except VetlError as error:
        return NoticesSent(failures=(f"thresholds were not judged: {error}",))


def lines(settings: Settings) -> list[str]:
    """Judge the thresholds and send notices; return who is out, and who is in again."""
    notices = send_notices(settings)
    return [
        *(f"new: {line}" for line in notices.rang),
        *(f"over: {line}" for line in notices.ended),
        *(f"warning: {line}" for line in notices.failures),
    ]


def _headlines(settings: Settings, ledger: NoticeLedger, at: datetime) -> list[str]:
    """Note a message about each headline that is shown and was in none before; return their lines."""
    ranked = query(
        settings.warehouse.published,
        "select practice_id, measure, since, words from marts.headlines where rank is not null order by rank",
    ).rows
    shown = [row for row in ranked if is_configured(settings.practices, row[0])]
    rang: list[str] = []
    for practice_id, measure, since, words in shown[:5]:
        key = f"headline {measure} {since}"
        if ledger.through(key, practice_id) is None:
            with ledger.writing():
                ledger.judged_through(key, practice_id, since)
                ledger.due(f"{key} {practice_id}", recipients(settings.alerts), words, at)
            rang.append(words)
    return rang


def _keep(
    alerts: AlertSettings, ledger: NoticeLedger, one: Watched, at: datetime, rang: list[str], ended: list[str]
) -> None:
    """Compare the episodes of the data with those of the ledger."""
    if one.through is None:
        return
    known = ledger.episodes(one.key, one.practice_id)
    before = ledger.through(one.key, one.practice_id)
    of_known: dict[date, Episode] = {}
    for episode in one.episodes:
        same = [
            stored for stored in known if stored.began <= episode.last.value.start and episode.began <= stored.last
        ]
        for stored in same:
            of_known[stored.began] = episode
        is_new = episode.ended is None if before is None else episode.rings_at > before
        if not same and is_new:
            text, last, is_over = line(one, episode), episode.last.value.start, episode.ended is not None
            ledger.keep(StoredEpisode(one.key, one.practice_id, episode.began, last, episode.ended, is_over, text))
            text = first_line(one, episode)
            ledger.due(_event(one, episode.began, "began"), recipients(alerts, one.threshold), text, at)
            rang.append(text)
    for stored in known:
        episode = of_known.get(stored.began)
        if stored.is_over:
            continue
        if episode is not None and episode.ended is None:
            ledger.keep(replace(stored, last=max(stored.last, episode.last.value.start), line=line(one, episode)))
            continue
        end = episode.ended if episode else None
        ledger.keep(replace(stored, ended=end, is_over=True))
        text = end_line(one, stored.began, end)
        ledger.due(_event(one, stored.began, "ended"), recipients(alerts, one.threshold), text, at)
        ended.append(text)
    ledger.judged_through(one.key, one.practice_id, one.through)


def recipients(alerts: AlertSettings, threshold: Threshold | None = None) -> list[str]:
    """Return who hears of a threshold: its own addresses, else those and the webhook of `[alerts]`."""
    own = list(threshold.to) if threshold else []
    return own or [*alerts.email_to, *([WEBHOOK] if alerts.webhook else [])]


def unknown_notices(settings: Settings) -> int:
    """Return the number of notices that were leaving when vetl was killed."""
    if not WatchSettings.of(settings).ledger.exists():
        return 0
    with NoticeLedger.open(WatchSettings.of(settings).ledger) as ledger:
        return len(ledger.messages(("sending",)))


def _event(one: Watched, began: date, what: str) -> str:
    return f"{one.key} {one.practice_id} {began} {what}"


def _send(settings: Settings, ledger: NoticeLedger, at: datetime) -> tuple[int, list[str]]:
    """Send each recipient one message with all due notices. Return the number of messages, and the failures.

    Notices to a recipient that was taken out of the settings stay due.
    """
    sent, failures = 0, list[str]()
    alerts, thresholds = settings.alerts, WatchSettings.of(settings).thresholds
    known = {*recipients(alerts), *(to for threshold in thresholds for to in threshold.to)}
    due = [message for message in ledger.messages(("due", "failed")) if message.recipient in known]
    by_recipient = attrgetter("recipient")
    for recipient, group in groupby(sorted(due, key=by_recipient), key=by_recipient):
        claimed = ledger.claim(list(group))
        if not claimed:
            continue
        try:
            _deliver(alerts, recipient, claimed)
        except NotDelivered as error:
            ledger.ended(claimed, "failed", at, str(error))
            failures.append(f"a notice was not delivered and is sent again with the next build: {error}")
        else:
            ledger.ended(claimed, "sent", at)
            sent += 1
    return sent, failures


def _deliver(alerts: AlertSettings, recipient: str, messages: Sequence[Notice]) -> None:
    text = "\n".join(message.text for message in messages)
    if recipient == WEBHOOK:
        assert alerts.webhook
        post_text(alerts.webhook.get_secret_value(), text)
        return
    subject = some_of([message.text.partition(";")[0] for message in messages], 1)
    mail = written(f"vetl: {subject}", alerts.email_from, [recipient])
    # The same notice has the same id: a server that got it although the answer was lost can drop the second one.
    digest = sha256("\n".join(f"{message.id} {recipient}" for message in messages).encode()).hexdigest()[:32]
    mail["Message-ID"] = f"<{digest}@{alerts.email_from.rpartition('@')[2]}>"
    mail.set_content(f"{text}\n\nThe figures are of closed periods. `vetl watch` shows all thresholds.\n")
    send_mail(alerts, mail)


def files(settings: Settings) -> AddonFiles:
    """Return the ledger of notices."""
    return AddonFiles({"watch-ledger": WatchSettings.of(settings).ledger})


def status_part(settings: Settings, practices: Sequence[str] | None) -> StatusPart:
    """Return the practices outside of a threshold, as the last publication found them; they are no failure."""
    try:
        episodes = open_episodes(WatchSettings.of(settings).ledger)
    except LedgerError:
        return StatusPart(name="thresholds", content=())  # `vetl run` says it
    out = tuple(episode for episode in episodes if not practices or episode.practice_id in practices)
    lines = tuple(f"out since {episode.began}: {episode.line}" for episode in out)
    return StatusPart(lines=lines, name="thresholds", content=out)
