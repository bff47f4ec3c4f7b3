"""The content and the exit code of `vetl status`; docs/exit-codes.md has the table of bad days."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from vetl import hooks
from vetl.core.errors import ConfigurationError, InboxError, WarehouseError
from vetl.core.text import some_of
from vetl.hooks import Problem, StatusPart
from vetl.publishing.last_publication import Hold, masked_in, read_hold
from vetl.receiving.inbox import read_backlog
from vetl.settings import Settings
from vetl.store.file_header import what_is_wrong
from vetl.store.notes import Snapshot, read_note, read_snapshot
from vetl.store.writer_lock import Activity, read_activity, unfinished_restore

_NEXT = "run `vetl run` again"
_HOW_IT_ENDED = {
    "killed": f"was killed, or the machine went down; {_NEXT}",
    "stopped": f"was interrupted; {_NEXT}",
}


@dataclass(frozen=True, slots=True)
class PublishedFile:
    """The file that analysts open, written at `made_at`; a later publication may have found it current.

    `masked_words`: the number of different values that are masked in each column of words; `None` if it is not
    known, as after a rollback.
    """

    path: Path
    made_at: datetime
    bytes: int
    masked_words: Mapping[str, int] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusReport:
    """The content of `vetl status`; `problems` does not contain the problems of single lists."""

    warehouse: Path
    snapshot: Snapshot = field(default_factory=Snapshot)
    inbox: dict[str, Any] | None = None
    headlines: Sequence[Mapping[str, Any]] = ()
    sync: Activity | None = None
    build: Activity | None = None
    publication: Activity | None = None
    published: PublishedFile | None = None
    hold: Hold | None = None
    parts: tuple[StatusPart, ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def exit_code(self) -> int:
        """Return 1 if something failed or is too old, 3 if something is not certified or not done, else 0."""
        lists = self.snapshot.lists
        codes = {problem.exit_code for problem in self.problems}
        codes |= {1 if item.state == "failed" else 3 for item in lists if item.has_problem}
        return next((code for code in (1, 3) if code in codes), 0)

    @property
    def error(self) -> str | None:
        """Return all problems except those of single lists, in one line."""
        return "; ".join(problem.line for problem in self.problems) or None

    @property
    def states(self) -> Counter[str]:
        """Return the number of lists by state; lists that webhooks bring have no state."""
        return Counter(item.state for item in self.snapshot.lists if not item.is_received)

    def as_json(self, summary: str) -> dict[str, Any]:
        """Return the report as one JSON object."""
        document = {
            "exit_code": self.exit_code,
            "summary": summary,
            "warehouse": self.warehouse,
            "written_at": self.snapshot.written_at,
            "run": self.snapshot.run,
            "sync": self.sync,
            "build": self.build,
            "publication": self.publication,
            "published": self.published and {**asdict(self.published), "rolled_back": self.hold},
            **{part.name: part.content for part in self.parts if part.name},
            "headlines": self.headlines,
            "problems": self.problems,
            "lists": self.snapshot.lists,
            "inbox": self.inbox,
        }
        return {**document, "error": self.error} if self.problems else document


def read_status(
    settings: Settings, practices: Sequence[str] | None = None, now: datetime | None = None
) -> StatusReport:
    """Read the records of the last commands beside the warehouse, with the lists of `practices` or of all."""
    path, now = settings.warehouse.path, now or datetime.now(UTC)
    inbox = inbox_status(settings.webhooks.inbox)
    snapshot = read_snapshot(path)
    if snapshot is None and (restore := unfinished_restore(path)):
        raise WarehouseError(restore)
    if snapshot is None:
        sync = read_activity(path, "sync")
        ended = list(_of_activity("sync", sync))
        if not inbox:
            lost = ", or the notes beside it are gone" if path.exists() else ""
            so = f": {ended[0].line}" if ended else "; run `vetl sync`"
            raise WarehouseError(f"{path}: nothing has been synced yet{lost}{so}")
        problems = [*_of_inbox(inbox), *ended]
        problems.append(Problem(3, "nothing has been synced yet; run `vetl run`"))
        return StatusReport(warehouse=path, inbox={**inbox, "quarantined": 0}, sync=sync, problems=tuple(problems))
    if inbox:
        inbox["quarantined"] = sum(item.quarantined for item in snapshot.lists if item.is_received)
    report = StatusReport(
        warehouse=path,
        snapshot=_only(snapshot, practices),
        inbox=inbox,
        sync=read_activity(path, "sync"),
        build=read_activity(path, "build"),
        publication=read_activity(path, "publication"),
        published=_published_file(path, settings.warehouse.published),
        hold=_hold(path),
        headlines=_headlines(path, practices),
        parts=tuple(hooks.problems(settings, practices, now)),
    )
    return replace(report, problems=tuple(_problems(settings, report, practices, now)))


def _headlines(warehouse: Path, practices: Sequence[str] | None) -> list[dict[str, Any]]:
    try:
        every = read_note(warehouse, "headlines") or []
    except WarehouseError:
        return []  # a problem says that the notes cannot be read
    return [one for one in every if not practices or one["practice_id"] in practices]


def _problems(
    settings: Settings, report: StatusReport, practices: Sequence[str] | None, now: datetime
) -> Iterator[Problem]:
    yield from _of_forgettings(settings.warehouse.path)
    if restore := unfinished_restore(settings.warehouse.path):
        yield Problem(1, restore)
    if why := _damage(settings.warehouse.path):
        remedy = "the table shows its last commit; restore the file, or move both away and sync again"
        yield Problem(1, f"{settings.warehouse.path}: {why}; {remedy}")
    yield from _of_inbox(report.inbox)
    yield from _of_activity("sync", report.sync)
    yield from _of_lists(settings, report, practices, now)
    yield from _of_activity("build", report.build)
    # During a first sync nothing can be built yet, and its lists show that they are not read.
    has_read = any(item.attempt for item in report.snapshot.lists)
    if has_read and report.build is None and report.published is None:
        yield Problem(3, "the marts were never built; run `vetl build`")
    yield from _of_activity("publication", report.publication)
    yield from _of_published(settings, report, now)
    for part in report.parts:
        yield from part.problems


def _of_forgettings(warehouse: Path) -> Iterator[Problem]:
    """Yield a problem for each forgetting that is not complete; it names no person."""
    try:
        if not read_note(warehouse, "forgettings"):
            return
        from vetl.store.person import COPIES, read_plans  # noqa: PLC0415 - DuckDB takes three times as long as the rest

        plans = read_plans(warehouse)
    except WarehouseError as error:
        yield Problem(1, str(error))
        return
    for plan in plans:
        since = f" since {plan.begun_at}" if plan.begun_at else ""
        still = f"; the person is still in {some_of(plan.left)} ({COPIES})" if plan.left else ""
        yield Problem(1, f"a forgetting is not complete{since}{still}: `vetl run` continues it")


def _of_activity(name: str, activity: Activity | None) -> Iterator[Problem]:
    if activity is None or activity.outcome in {"running", "done"}:
        return
    subject = f"the last {activity.command if name == 'sync' else name}"
    if activity.outcome == "failed":
        yield Problem(1, f"{subject} failed at {activity.at}: {activity.error}")
    else:
        yield Problem(1, f"{subject}, begun at {activity.started_at}, {_HOW_IT_ENDED[activity.outcome]}")


def _of_lists(
    settings: Settings, report: StatusReport, practices: Sequence[str] | None, now: datetime
) -> Iterator[Problem]:
    """Yield problems of practices that no sync has tried, and of lists that are older than `max_age`."""
    lists = report.snapshot.lists
    configured = [item.id for item in settings.practices if not practices or item.id in practices]
    new = [name for name in configured if name not in {item.practice_id for item in lists}]
    if new:
        yield Problem(3, f"in vetl.toml, but never synced: {some_of(new)}")
    read = [item for item in lists if item.attempt and (not configured or item.practice_id in configured)]
    allowed = settings.schedule.oldest_allowed
    old = [item for item in read if item.attempt and _is_older(item.attempt.finished, allowed, now)]
    if not old:
        return
    oldest = min(item.attempt.finished for item in old if item.attempt)
    of = "" if len(old) == len(read) else f" of {some_of(list(dict.fromkeys(item.practice_id for item in old)))}"
    how_many = "no list" if len(old) == len(read) else f"{len(old)} of {len(read)} lists{of}"
    was = "was read" if len(old) == len(read) else "were not read"
    limit = f"{settings.schedule.max_age} allowed by [schedule] max_age"
    yield Problem(1, f"{how_many} {was} for longer than the {limit}; the oldest is of {oldest}; does vetl run?")


def _of_published(settings: Settings, report: StatusReport, now: datetime) -> Iterator[Problem]:
    path, published = settings.warehouse.published, report.published
    if published is None:
        if report.publication and report.publication.succeeded_at:
            yield Problem(1, f"{path}: the published file is gone; `vetl publish` writes it again")
        elif report.build:
            yield Problem(3, "nothing was published yet; run `vetl publish`")
        return
    why = _damage(path)
    if why:
        yield Problem(1, f"{path}: the published file {why}; `vetl publish` writes it again")
    if report.hold:
        since, made = report.hold.since, report.hold.published_at
        yield Problem(3, f"{path}: rolled back at {since} to the file of {made}, until `vetl publish --release`")
        return
    current = report.publication.succeeded_at if report.publication else None
    current = current or published.made_at.isoformat()
    if _is_older(current, settings.schedule.oldest_allowed, now):
        limit = f"{settings.schedule.max_age} allowed by [schedule] max_age"
        yield Problem(1, f"{path}: last brought up to date at {current}, longer ago than the {limit}")


def _is_older(instant: str, allowed: timedelta | None, now: datetime) -> bool:
    return allowed is not None and now - datetime.fromisoformat(instant) > allowed


def _only(snapshot: Snapshot, practices: Sequence[str] | None) -> Snapshot:
    ids = dict.fromkeys(item.practice_id for item in snapshot.lists)
    for name in practices or ():
        if name not in ids:
            raise ConfigurationError(f"practice {name} has nothing in the warehouse; known are {', '.join(ids)}")
    return replace(
        snapshot, lists=[item for item in snapshot.lists if not practices or item.practice_id in practices]
    )


def _published_file(private: Path, path: Path) -> PublishedFile | None:
    try:
        stat = path.stat()
    except OSError:
        return None
    made_at = datetime.fromtimestamp(int(stat.st_mtime), UTC)
    return PublishedFile(path, made_at, stat.st_size, masked_in(private, path))


def _hold(warehouse: Path) -> Hold | None:
    # Even if the record cannot be read, it prevents publications.
    try:
        return read_hold(warehouse)
    except WarehouseError:
        return Hold("an unknown time", "an unknown time")


def _damage(path: Path) -> str | None:
    try:
        return what_is_wrong(path)
    except OSError as error:
        return f"cannot be read: {error.strerror}"


def _of_inbox(inbox: Mapping[str, Any] | None) -> Iterator[Problem]:
    if inbox and inbox["error"]:
        yield Problem(1, inbox["error"])


def inbox_status(path: Path) -> dict[str, Any] | None:
    """Return the state of the inbox with an error if it cannot be read, or `None` if there is no inbox."""
    if not path.exists():
        return None
    backlog = error = None
    try:
        backlog = read_backlog(path)
    except InboxError as unread:
        error = str(unread)
    of_backlog = {name: getattr(backlog, name, None) for name in ("waiting", "oldest", "last_received")}
    return {"path": path, **of_backlog, "error": error}
