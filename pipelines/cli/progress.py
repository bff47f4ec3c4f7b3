"""How far a command has come, on standard error: bars on a terminal, a plain line every few seconds elsewhere."""

import sys
import time
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Timer

from rich.console import Console, RenderableType
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.spinner import Spinner
from rich.text import Text

from pipelines.cli.output import OUTPUT, say
from pipelines.cli.terminal import count
from pipelines.core import results
from pipelines.jobs.dbt_process import Advance

LINES_EVERY = 5.0
"""Seconds between two lines, where nobody watches."""
WAITS_UNTOLD = 1.0
"""Seconds that something is waited for without a line about it, where nobody watches."""
SPINS_AFTER = 0.5
"""Seconds before a spinner: what is answered sooner needs none."""
ENDED = frozenset(("certified", "uncertified", "withdrawn", "failed"))


@dataclass(slots=True)
class Tally:
    """What was reported of every list of every practice. `expected`: how many practices there are, if known."""

    expected: int | None = None
    latest: dict[str, dict[str, results.Progress]] = field(default_factory=dict)

    def take(self, progress: results.Progress) -> None:
        """One more report."""
        self.latest.setdefault(progress.endpoint, {})[progress.practice_id] = progress

    def done(self, endpoint: str) -> int:
        """Rows read of a list so far, over all practices."""
        return sum(part.done for part in self.latest[endpoint].values())

    def total(self, endpoint: str) -> int | None:
        """Rows that the source tells of, and has not told of yet for practices that wait."""
        parts = self.latest[endpoint].values()
        if any(part.total is None for part in parts) or len(parts) < (self.expected or 0):
            return None
        return sum(part.total or 0 for part in parts)

    def ended(self, endpoint: str) -> int:
        """How many practices are through with a list."""
        return sum(part.phase in ENDED for part in self.latest[endpoint].values())

    def practices(self, endpoint: str) -> int:
        """How many practices a list has."""
        return self.expected or len(self.latest[endpoint])

    def brought(self, endpoint: str) -> str:
        """Return `992 rows new, 0 changed, 40 requests`; a row that was read twice counts once."""
        parts = self.latest[endpoint].values()
        new, changed = sum(part.new for part in parts), sum(part.changed for part in parts)
        requests = sum(part.requests for part in parts)
        return f"{count(new, 'row')} new, {changed:,} changed, {count(requests, 'request')}"

    def is_through(self, endpoint: str) -> bool:
        """Every practice is through with this list."""
        return self.ended(endpoint) == self.practices(endpoint)

    def mark(self, endpoint: str) -> str:
        """A tick where a list is through, a cross where one practice's failed."""
        if not self.is_through(endpoint):
            return " "
        return "✗" if any(part.phase == "failed" for part in self.latest[endpoint].values()) else "✓"


@contextmanager
def showing_lists(practices: int | None = None) -> Generator[results.ReportProgress]:
    """A bar for each list over all practices; elsewhere a line every few seconds; nothing with `--quiet`."""
    tally = Tally(practices)
    if OUTPUT.quiet:
        yield lambda _progress: None
    elif not sys.stderr.isatty() or OUTPUT.log_format == "json":
        lines = _Lines(tally)
        try:
            yield lines
        finally:
            lines.end()
    else:
        with _bars() as bars:
            yield _moving(bars, tally)


@contextmanager
def showing_nodes() -> Generator[Advance]:
    """How many of dbt's nodes are done; nothing where nobody watches."""
    if OUTPUT.quiet or not sys.stderr.isatty():
        yield lambda _done, _total: None
        return
    with _bars() as bars:
        task = bars.add_task("building", total=None, mark=" ", unit="models and tests", practices="")
        yield lambda done, total: bars.update(task, completed=done, total=total)


@contextmanager
def waiting(what: str) -> Generator[None]:
    """A spinner with the time that has passed, once that is a while; nothing where nobody watches."""
    if OUTPUT.quiet or not sys.stderr.isatty():
        yield
        return
    spinner = Progress(
        SpinnerColumn(),
        TextColumn(f"{what}, Ctrl-C ends it"),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )
    spinner.add_task("")
    late = Timer(SPINS_AFTER, spinner.start)
    late.start()
    try:
        yield
    finally:
        late.cancel()
        late.join()
        spinner.stop()


class _Count(ProgressColumn):
    """`1,200 of 16,000 rows`, or the first number alone while the second is not known."""

    def render(self, task: Task) -> Text:
        of = "" if task.total is None or task.finished else f" of {int(task.total):,}"
        return Text(f"{int(task.completed):,}{of} {task.fields['unit']}")


class _Speed(ProgressColumn):
    """Rows a second, of late; over the whole where it is done."""

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text(f"{int(speed):,}/s" if speed and speed >= 1 else "", style="dim")


class _TimeLeft(TimeRemainingColumn):
    """Nothing where more rows came than the source has, and a list is not through: some are read again."""

    def render(self, task: Task) -> Text:
        return Text() if task.finished and task.fields["mark"] == " " else super().render(task)


class _Bars(Progress):
    """Bars, and below them what is waited for."""

    spinner: Spinner | None = None

    def get_renderables(self) -> Iterable[RenderableType]:
        """The bars first."""
        if self.tasks:
            yield from super().get_renderables()
        if self.spinner:
            yield self.spinner


def _bars() -> _Bars:
    return _Bars(
        TextColumn("{task.fields[mark]}"),
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        _Count(),
        _Speed(),
        _TimeLeft(compact=True),
        TextColumn("{task.fields[practices]}", style="dim"),
        console=Console(stderr=True),
        transient=True,
    )


def _moving(bars: _Bars, tally: Tally) -> results.ReportProgress:
    tasks: dict[str, TaskID] = {}

    def report(progress: results.Progress | results.Waiting) -> None:
        if isinstance(progress, results.Waiting):
            bars.spinner = Spinner("dots", progress.what) if progress.what else None
            return
        tally.take(progress)
        name = progress.endpoint
        if name not in tasks:
            tasks[name] = bars.add_task(name, total=None, mark=" ", unit="rows", practices="")
        done = tally.done(name)
        practices = tally.practices(name)
        bars.update(
            tasks[name],
            completed=done,
            total=max(done, 1) if tally.is_through(name) else tally.total(name),
            mark=tally.mark(name),
            practices=f"{tally.ended(name)} of {practices} practices" if practices > 1 else "",
        )

    return report


class _Lines:
    """A line every few seconds, one at the end of each list, and one for whatever keeps everything waiting."""

    def __init__(self, tally: Tally, clock: Callable[[], float] = time.monotonic) -> None:
        self._tally = tally
        self._clock = clock
        self._due = clock() + LINES_EVERY
        self._late: Timer | None = None

    def __call__(self, progress: results.Progress | results.Waiting) -> None:
        """One more report."""
        self.end()
        if isinstance(progress, results.Progress):
            self._tally.take(progress)
            self._read(progress)
        elif progress.what:
            self._late = Timer(WAITS_UNTOLD, say, (progress.what,))
            self._late.start()

    def end(self) -> None:
        """Nothing is waited for any more."""
        if self._late:
            self._late.cancel()
            self._late.join()

    def _read(self, progress: results.Progress) -> None:
        name, tally = progress.endpoint, self._tally
        if progress.phase in ENDED and tally.is_through(name) and tally.practices(name) > 1:
            say(f"{name}: all {tally.practices(name)} practices done, {tally.brought(name)}")
        elif progress.phase in ENDED and tally.expected == 1:
            say(f"{name}: {progress.phase}, {tally.brought(name)}")
        elif self._clock() >= self._due:
            self._due = self._clock() + LINES_EVERY
            say(_in_short(tally))


def _in_short(tally: Tally) -> str:
    """Every list that is under way, in one line."""
    under_way = [name for name in tally.latest if not tally.is_through(name)]
    return "reading " + ", ".join(_one(tally, name) for name in under_way)


def _one(tally: Tally, name: str) -> str:
    total, practices = tally.total(name), tally.practices(name)
    of = f" of {total:,}" if total else ""
    through = f" ({tally.ended(name)} of {practices} practices)" if practices > 1 else ""
    return f"{name} {tally.done(name):,}{of} rows{through}"
