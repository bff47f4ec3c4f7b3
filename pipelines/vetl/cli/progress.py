"""Show progress on standard error: bars on a terminal, otherwise a plain line every few seconds."""

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

from vetl.cli.output import OUTPUT, say
from vetl.cli.terminal import count
from vetl.core import results
from vetl.jobs.dbt_process import Advance

LINES_EVERY = 5.0
"""Seconds between two lines if standard error is not a terminal."""
SILENT_WAIT = 1.0
"""Seconds of a wait before a line about it, if standard error is not a terminal."""
SPINS_AFTER = 0.5
"""Seconds before a spinner appears."""
ENDED = frozenset(("certified", "uncertified", "withdrawn", "failed"))


@dataclass(slots=True)
class Tally:
    """The latest progress of every list of every practice. `expected` is the number of practices, if known."""

    expected: int | None = None
    latest: dict[str, dict[str, results.Progress]] = field(default_factory=dict)

    def take(self, progress: results.Progress) -> None:
        """Record the progress of a list of a practice."""
        self.latest.setdefault(progress.endpoint, {})[progress.practice_id] = progress

    def done(self, endpoint: str) -> int:
        """Return the number of rows read of a list so far, over all practices."""
        return sum(part.done for part in self.latest[endpoint].values())

    def total(self, endpoint: str) -> int | None:
        """Return the total rows of a list at the source, or `None` until it is known for every practice."""
        parts = self.latest[endpoint].values()
        if any(part.total is None for part in parts) or len(parts) < (self.expected or 0):
            return None
        return sum(part.total or 0 for part in parts)

    def ended(self, endpoint: str) -> int:
        """Return the number of practices whose list is done."""
        return sum(part.phase in ENDED for part in self.latest[endpoint].values())

    def practices(self, endpoint: str) -> int:
        """Return the number of practices of a list."""
        return self.expected or len(self.latest[endpoint])

    def changes(self, endpoint: str) -> str:
        """Return `992 rows new, 0 changed, 40 requests`; a row that was read twice counts once."""
        parts = self.latest[endpoint].values()
        new, changed = sum(part.new for part in parts), sum(part.changed for part in parts)
        requests = sum(part.requests for part in parts)
        return f"{count(new, 'row')} new, {changed:,} changed, {count(requests, 'request')}"

    def is_done(self, endpoint: str) -> bool:
        """Return whether the list of every practice is done."""
        return self.ended(endpoint) == self.practices(endpoint)

    def mark(self, endpoint: str) -> str:
        """Return a tick if it is certified, `!` if it is not, a cross if it failed; a space until it is done."""
        phases = {part.phase for part in self.latest[endpoint].values()}
        if not self.is_done(endpoint):
            return " "
        return "✗" if "failed" in phases else "✓" if phases == {"certified"} else "!"


@contextmanager
def showing_lists(practices: int | None = None) -> Generator[results.ReportProgress]:
    """Show a bar for each list on a terminal, otherwise a line every few seconds; nothing with `--quiet`."""
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
    """Show the number of dbt nodes that are done, on a terminal only."""
    if OUTPUT.quiet or not sys.stderr.isatty():
        yield lambda _done, _total: None
        return
    with _bars() as bars:
        task = bars.add_task("building", total=None, mark=" ", unit="models and tests", practices="")
        yield lambda done, total: bars.update(task, completed=done, total=total or None)


@contextmanager
def waiting(activity: str) -> Generator[None]:
    """Show a spinner with the elapsed time after half a second, on a terminal only."""
    if OUTPUT.quiet or not sys.stderr.isatty():
        yield
        return
    spinner = Progress(
        SpinnerColumn(),
        TextColumn(f"{activity}, Ctrl-C ends it"),
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
    """`1,200 of 16,000 rows`, or `1,200 rows` until the total is known."""

    def render(self, task: Task) -> Text:
        is_done = task.finished or task.fields["mark"] != " "
        of = "" if task.total is None or is_done else f" of {int(task.total):,}"
        return Text(f"{int(task.completed):,}{of} {task.fields['unit']}")


class _Speed(ProgressColumn):
    """Recent rows per second; once the task is done, the average."""

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text(f"{int(speed):,}/s" if speed and speed >= 1 else "", style="dim")


class _TimeLeft(TimeRemainingColumn):
    """The remaining time.

    It is empty if more rows were read than the source has and the list is not done, because rows are read again.
    """

    def render(self, task: Task) -> Text:
        return Text() if task.finished and task.fields["mark"] == " " else super().render(task)


class _Bars(Progress):
    """Bars, with a spinner below them during a wait."""

    spinner: Spinner | None = None

    def get_renderables(self) -> Iterable[RenderableType]:
        """Yield the bars, then the spinner."""
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
            total=max(done, 1) if tally.is_done(name) else tally.total(name),
            mark=tally.mark(name),
            practices=f"{tally.ended(name)} of {practices} practices" if practices > 1 else "",
        )

    return report


class _Lines:
    """Write a line every few seconds, one at the end of each list, and one for each long wait."""

    def __init__(self, tally: Tally, clock: Callable[[], float] = time.monotonic) -> None:
        self._tally = tally
        self._clock = clock
        self._due = clock() + LINES_EVERY
        self._late: Timer | None = None

    def __call__(self, progress: results.Progress | results.Waiting) -> None:
        """Record one report of progress or of a wait."""
        self.end()
        if isinstance(progress, results.Progress):
            self._tally.take(progress)
            self._say_progress(progress)
        elif progress.what:
            self._late = Timer(SILENT_WAIT, say, (progress.what,))
            self._late.start()

    def end(self) -> None:
        """End the wait, so that no line about it follows."""
        if self._late:
            self._late.cancel()
            self._late.join()

    def _say_progress(self, progress: results.Progress) -> None:
        name, tally = progress.endpoint, self._tally
        if progress.phase in ENDED and tally.is_done(name) and tally.practices(name) > 1:
            say(f"{name}: all {tally.practices(name)} practices done, {tally.changes(name)}")
        elif progress.phase in ENDED and tally.expected == 1:
            say(f"{name}: {progress.phase}, {tally.changes(name)}")
        elif self._clock() >= self._due:
            self._due = self._clock() + LINES_EVERY
            say(_lists_in_progress(tally))


def _lists_in_progress(tally: Tally) -> str:
    """Return one line with the progress of every list that is not done."""
    names = [name for name in tally.latest if not tally.is_done(name)]
    return "reading " + ", ".join(_list_in_progress(tally, name) for name in names)


def _list_in_progress(tally: Tally, name: str) -> str:
    total, practices = tally.total(name), tally.practices(name)
    of = f" of {total:,}" if total else ""
    ended = f" ({tally.ended(name)} of {practices} practices)" if practices > 1 else ""
    return f"{name} {tally.done(name):,}{of} rows{ended}"
