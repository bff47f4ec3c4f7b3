"""`vetl report`: make the letter of each reader, and send it once for each week and way."""

from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from email.message import EmailMessage
from functools import partial
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

from vetl.addons.letters.letter import Letter
from vetl.addons.letters.letter_data import LetterData, compose, read_letter_data
from vetl.addons.letters.letter_forms import as_html, as_pdf, as_text, charts, summary
from vetl.addons.letters.settings import Reader, ReportSettings, file_name
from vetl.addons.watch.job import is_configured
from vetl.addons.watch.notice_ledger import Notice, NoticeLedger, StoredEpisode, open_episodes
from vetl.addons.watch.settings import WatchSettings
from vetl.core.errors import ConfigurationError, LedgerError, NotDelivered, WrongUse, cannot_write
from vetl.hooks import AddonFiles
from vetl.notices import post_text, send_mail, written
from vetl.publishing.statements import reading
from vetl.settings import Settings
from vetl.settings.core_sections import AlertSettings
from vetl.store.drafts import draft_for

ALL = Reader(name="All practices")


@dataclass(frozen=True, slots=True)
class LetterSent:
    """A letter on one way, and the end of it: `sent`, `sent before`, `failed`, or `unknown` after a kill."""

    reader: str
    way: str
    week: date
    state: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Reported:
    """The deliveries of one command, and the readers without a letter, as no week is closed."""

    deliveries: tuple[LetterSent, ...]
    without: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """Return 1 if a letter was not delivered, 3 if it is unknown whether it was."""
        states = {item.state for item in self.deliveries}
        return 1 if "failed" in states else 3 if "unknown" in states else 0


def report(settings: Settings, readers: Sequence[str] = (), *, again: bool = False) -> Reported:
    """Send each reader the letter about the newest closed week, unless it was sent before.

    Raise `ConfigurationError` if no reader is set, or the extra is not installed, `LedgerError` if the ledger
    cannot be written (nothing more is sent), `WrongUse` if there is no such reader.
    """
    at = datetime.now(UTC)
    deliveries: list[LetterSent] = []
    without: list[str] = []
    with NoticeLedger.open(ReportSettings.of(settings).ledger) as ledger:
        for reader, letter in letters(settings, readers):
            if letter is None:
                without.append(reader.name)
                continue
            for way, send in _ways(settings, reader, letter, at.isoformat() if again else ""):
                deliveries.append(_once(ledger, letter, way, send, at, again=again))
    return Reported(tuple(deliveries), tuple(without))


def preview(settings: Settings, folder: Path, readers: Sequence[str] = ()) -> list[Path]:
    """Write the letters into a folder; nothing is sent, and the ledger stays as it is.

    Without a reader in the settings the letter is about all practices.
    """
    written = (letter for _, letter in letters(settings, readers, usual=ALL) if letter is not None)
    return [path for letter in written for path in _write_files(folder, letter)]


def letters(
    settings: Settings, readers: Sequence[str] = (), usual: Reader | None = None
) -> Iterator[tuple[Reader, Letter | None]]:
    """Yield each reader with the letter about their practices; `usual` is the reader if none is set."""
    if find_spec("typst") is None:
        raise ConfigurationError("typst is not installed: pip install 'vetl-warehouse[report]'")
    known = {item.name: item for item in ReportSettings.of(settings).recipients or (usual,) if item}
    if not known:
        raise ConfigurationError("no reader is set: [[report.recipients]] in vetl.toml; docs/report.md shows how")
    for name in readers:
        if name not in known:
            raise WrongUse(f"--to {name}: there is no such reader; known are {', '.join(known)}")
    with reading(settings.warehouse.published) as read:
        data = read_letter_data(read, settings.warehouse.published)
        composed = [(known[name], _letter(settings, data, known[name])) for name in readers or known]
    yield from composed


def _letter(settings: Settings, data: LetterData, reader: Reader) -> Letter | None:
    practices = [key for key in practices_of(reader, data.groups) if is_configured(settings.practices, key)]
    out = partial(_out, WatchSettings.of(settings).ledger, practices)
    link = ReportSettings.of(settings).link
    return compose(data, reader.name, practices, link=link, out=out) if practices else None


def practices_of(reader: Reader, groups: Mapping[str, str | None]) -> list[str]:
    """Return the ids of the published practices that a letter is about; `groups` has the group of each."""
    return [
        key
        for key, group in groups.items()
        if (not reader.practices or key in reader.practices) and reader.group in {None, group}
    ]


def _out(ledger: Path, practices: Sequence[str], week: date) -> list[str]:
    """Return sentences about the practices that are outside of a threshold, or were in the letter's week."""
    try:
        episodes = open_episodes(ledger, week)
    except LedgerError:
        return []  # each build says it
    return [_episode(one) for one in episodes if one.practice_id in practices]


def _episode(one: StoredEpisode) -> str:
    since = "" if one.began == one.last else f"; out since {one.began}"
    over = f"; over since {one.ended or 'a correction of the data'}" if one.is_over else ""
    return f"{one.line}{since}{over}"


Send = Callable[[], object]


def _ways(settings: Settings, reader: Reader, letter: Letter, again: str) -> Iterator[tuple[str, Send]]:
    for to in reader.to:
        yield f"mail to {to}", partial(_mail, settings.alerts, letter, to, again)
    address = ReportSettings.of(settings).webhook_of(reader.name) if reader.webhook else None
    if address:
        yield "webhook", lambda: post_text(address, summary(letter))
    folder = ReportSettings.of(settings).folder
    if folder:
        yield "folder", partial(_write_files, folder, letter)


def _mail(alerts: AlertSettings, letter: Letter, to: str, again: str) -> None:
    send_mail(alerts, mail(alerts.email_from, letter, to, again))


def _once(ledger: NoticeLedger, letter: Letter, way: str, send: Send, at: datetime, *, again: bool) -> LetterSent:
    """Send a letter on one way, unless the ledger has it."""
    key, recipient = f"letter {letter.week}", f"{letter.reader} by {way}"
    ledger.due(key, [recipient], letter.subject, at)
    noted = _stored(ledger, key, recipient)
    if not ledger.claim([noted], again=again):
        state = "sent before" if _stored(ledger, key, recipient).state == "sent" else "unknown"
        return LetterSent(letter.reader, way, letter.week, state)
    try:
        send()
    except NotDelivered as error:
        ledger.ended([noted], "failed", at, str(error))
        return LetterSent(letter.reader, way, letter.week, "failed", str(error))
    ledger.ended([noted], "sent", at)
    return LetterSent(letter.reader, way, letter.week, "sent")


def _stored(ledger: NoticeLedger, key: str, recipient: str) -> Notice:
    return next(item for item in ledger.messages() if (item.id, item.recipient) == (key, recipient))


def mail(sender: str, letter: Letter, to: str, again: str = "") -> EmailMessage:
    """Return the letter as a mail: text, HTML with its charts inside, and the PDF.

    A letter that is repeated because its first answer was lost has the same Message-ID, so that a server can drop
    it. With `again`, the time of `--again`, it has another one.
    """
    message = written(letter.subject, sender, [to])
    domain = sender.rpartition("@")[2]
    digest = sha256(f"{letter.week} {letter.reader} {to}{again}".encode()).hexdigest()[:32]
    message["Message-ID"] = f"<{digest}@{domain}>"
    message.set_content(as_text(letter))
    pictures = charts(letter)
    names = [f"{digest}.{number}@{domain}" for number in range(len(pictures))]
    message.add_alternative(as_html(letter, [f"cid:{name}" for name in names]), subtype="html")
    html = message.get_body(("html",))
    assert html
    for name, picture in zip(names, pictures, strict=True):
        html.add_related(picture, "image", "png", cid=f"<{name}>", disposition="inline")  # pyright: ignore[reportAttributeAccessIssue]
    message.add_attachment(
        as_pdf(letter), maintype="application", subtype="pdf", filename=f"vetl-{letter.week}.pdf"
    )
    return message


def _write_files(folder: Path, letter: Letter) -> list[Path]:
    """Write the letter as HTML, text and PDF; the charts are inside the HTML."""
    name, place = file_name(letter.reader), folder / str(letter.week)
    sources = [f"data:image/png;base64,{b64encode(picture).decode()}" for picture in charts(letter)]
    files = {"html": as_html(letter, sources).encode(), "txt": as_text(letter).encode(), "pdf": as_pdf(letter)}
    try:
        for suffix, content in files.items():
            file = place / f"{name}.{suffix}"
            with draft_for(file) as draft:
                draft.write_bytes(content)
                draft.replace(file)
    except OSError as error:
        raise NotDelivered(cannot_write(place, error)) from None
    return [place / f"{name}.{suffix}" for suffix in files]


def files(settings: Settings) -> AddonFiles:
    """Return the ledger of letters."""
    return AddonFiles({"report-ledger": ReportSettings.of(settings).ledger})
