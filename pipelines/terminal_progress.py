"""How far a command has come, on standard error: bars on a terminal, a few plain lines elsewhere."""

import sys
from collections.abc import Generator
from contextlib import contextmanager

from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)

from pipelines import results
from pipelines.dbt_process import Advance
from pipelines.terminal import say


@contextmanager
def showing_lists() -> Generator[results.Report]:
    """One bar for each list over all practices; elsewhere a line for each new phase of a list."""
    if not sys.stderr.isatty():
        yield _lines()
        return
    with _progress() as bars:
        yield _bars(bars)


@contextmanager
def showing_nodes() -> Generator[Advance]:
    """How many of dbt's nodes are done; nothing where nobody watches."""
    if not sys.stderr.isatty():
        yield lambda _done, _total: None
        return
    with _progress() as bars:
        task = bars.add_task("building", total=None)
        yield lambda done, total: bars.update(task, completed=done, total=total)


def _progress() -> Progress:
    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    )


def _lines() -> results.Report:
    seen: set[tuple[str, str, str]] = set()

    def report(progress: results.Progress) -> None:
        key = (progress.practice_id, progress.endpoint, progress.phase)
        if key not in seen:
            seen.add(key)
            say(" ".join(key))

    return report


def _bars(bars: Progress) -> results.Report:
    tasks: dict[str, TaskID] = {}
    latest: dict[str, dict[str, results.Progress]] = {}

    def report(progress: results.Progress) -> None:
        practices = latest.setdefault(progress.endpoint, {})
        practices[progress.practice_id] = progress
        if progress.endpoint not in tasks:
            tasks[progress.endpoint] = bars.add_task(progress.endpoint, total=None)
        known = [part.total for part in practices.values() if part.total is not None]
        bars.update(
            tasks[progress.endpoint],
            completed=sum(part.done for part in practices.values()),
            total=sum(known) if len(known) == len(practices) else None,
            description=f"{progress.endpoint} [dim]{escape(progress.practice_id)} {escape(progress.phase)}",
        )

    return report
