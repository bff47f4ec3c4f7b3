"""Show progress on standard error: bars on a terminal, otherwise a plain line every few seconds."""

import sys
import time
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Timer

import rich.progress
from rich.console import Console, RenderableType
from rich.spinner import Spinner
from rich.text import Text

from vetl.cli.terminal import OUTPUT, count, say
from vetl.core import list_read
from vetl.jobs.dbt_process import Advance

LINES_EVERY = 5.0
"""Seconds between two lines if standard error is not a terminal."""
SILENT_WAIT = 1.0
"""Seconds of a wait before a line about it, if standard error is not a terminal."""
SPINS_AFTER = 0.5
"""Seconds before a spinner appears."""
ENDED = frozenset(("certified", "uncertified", "withdrawn", "failed"))


@dataclass(frozen=True, slots=True)
class ListProgress:
    """The progress of a list over all practices; `total` is `None` until it is known for every practice."""

    done: int
    total: int | None
    ended: int
    practices: int
    phases: set[str]
    changes: str

    @property
    def is_done(self) -> bool:
        """Return whether the list of every practice is done."""
        return self.ended == self.practices

    @property
    def mark(self) -> str:
        """Return a tick if it is certified, `!` if it is not, a cross if it failed; a space until it is done."""
        if not self.is_done:
            return " "
        return "✗" if "failed" in self.phases else "✓" if self.phases == {"certified"} else "!"


@dataclass(slots=True)
class Tally:
    """The latest progress of every list of every practice. `expected` is the number of practices, if known."""

    expected: int | None = None
    latest: dict[str, dict[str, list_read.Progress]] = field(default_factory=dict)

    def take(self, progress: list_read.Progress) -> ListProgress:
        """Record the progress of a list of a practice; return that of the list."""
        self.latest.setdefault(progress.endpoint, {})[progress.practice_id] = progress
        return self.of(progress.endpoint)

    def of(self, endpoint: str) -> ListProgress:
        """Return the progress of a list; a row that was read twice counts once as new or changed."""
        parts = self.latest[endpoint].values()
        totals = [part.total for part in parts if part.total is not None]
        is_known = len(totals) == len(parts) >= (self.expected or 0)
        new, changed = sum(part.new for part in parts), sum(part.changed for part in parts)
        requests = count(sum(part.requests for part in parts), "request")
        return ListProgress(
            done=sum(part.done for part in parts),
            total=sum(totals) if is_known else None,
            ended=sum(part.phase in ENDED for part in parts),
            practices=self.expected or len(parts),
            phases={part.phase for part in parts},
            changes=f"{count(new, 'row')} new, {changed:,} changed, {requests}",
        )


@contextmanager
def showing_lists(practices: int | None = None) -> Generator[list_read.ReportProgress]:
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
    spinner = rich.progress.Progress(
        rich.progress.SpinnerColumn(),
        rich.progress.TextColumn(f"{activity}, Ctrl-C ends it"),
        rich.progress.TimeElapsedColumn(),
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


class _Count(rich.progress.ProgressColumn):
    """`1,200 of 16,000 rows`, or `1,200 rows` until the total is known."""

    def render(self, task: rich.progress.Task) -> Text:
        is_done = task.finished or task.fields["mark"] != " "
        of = "" if task.total is None or is_done else f" of {int(task.total):,}"
        return Text(f"{int(task.completed):,}{of} {task.fields['unit']}")


class _Bars(rich.progress.Progress):
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
        rich.progress.TextColumn("{task.fields[mark]}"),
        rich.progress.TextColumn("{task.description}"),
        rich.progress.BarColumn(bar_width=20),
        _Count(),
        rich.progress.TimeRemainingColumn(compact=True),
        rich.progress.TextColumn("{task.fields[practices]}", style="dim"),
        console=Console(stderr=True),
        transient=True,
    )


def _moving(bars: _Bars, tally: Tally) -> list_read.ReportProgress:
    tasks: dict[str, rich.progress.TaskID] = {}

    def report(progress: list_read.Progress | list_read.Waiting) -> None:
        if isinstance(progress, list_read.Waiting):
            bars.spinner = Spinner("dots", progress.what) if progress.what else None
            return
        name, of_list = progress.endpoint, tally.take(progress)
        if name not in tasks:
            tasks[name] = bars.add_task(name, total=None, mark=" ", unit="rows", practices="")
        bars.update(
            tasks[name],
            completed=of_list.done,
            total=max(of_list.done, 1) if of_list.is_done else of_list.total,
            mark=of_list.mark,
            practices=f"{of_list.ended} of {of_list.practices} practices" if of_list.practices > 1 else "",
        )

    return report


class _Lines:
    """Write a line every few seconds, one at the end of each list, and one for each long wait."""

    def __init__(self, tally: Tally) -> None:
        self._tally = tally
        self._due = time.monotonic() + LINES_EVERY
        self._late: Timer | None = None

    def __call__(self, progress: list_read.Progress | list_read.Waiting) -> None:
        """Record one report of progress or of a wait."""
        self.end()
        if isinstance(progress, list_read.Progress):
            self._say(progress, self._tally.take(progress))
        elif progress.what:
            self._late = Timer(SILENT_WAIT, say, (progress.what,))
            self._late.start()

    def end(self) -> None:
        """End the wait, so that no line about it follows."""
        if self._late:
            self._late.cancel()
            self._late.join()

    def _say(self, progress: list_read.Progress, of_list: ListProgress) -> None:
        name, has_ended = progress.endpoint, progress.phase in ENDED
        if has_ended and of_list.is_done and of_list.practices > 1:
            say(f"{name}: all {of_list.practices} practices done, {of_list.changes}")
        elif has_ended and self._tally.expected == 1:
            say(f"{name}: {progress.phase}, {of_list.changes}")
        elif time.monotonic() >= self._due:
            self._due = time.monotonic() + LINES_EVERY
            lists = {name: self._tally.of(name) for name in self._tally.latest}
            say("reading " + ", ".join(_in_progress(name, one) for name, one in lists.items() if not one.is_done))


def _in_progress(name: str, of_list: ListProgress) -> str:
    of = f" of {of_list.total:,}" if of_list.total else ""
    ended = f" ({of_list.ended} of {of_list.practices} practices)" if of_list.practices > 1 else ""
    return f"{name} {of_list.done:,}{of} rows{ended}"
