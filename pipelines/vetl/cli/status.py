"""`vetl status`: show the status of every list, of the build and of the published file, also during a sync."""

import sys
import time
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from itertools import groupby
from operator import attrgetter
from typing import Annotated, Any, Literal

import typer
from rich.console import Console

from vetl.cli import terminal
from vetl.cli.commands import WHOLE_DAYS, AsJson, Commands, Practices, ago, in_words, local, zone
from vetl.cli.terminal import Columns, Item, TableColumn, count, say, short
from vetl.core.errors import WrongUse
from vetl.jobs.status_report import StatusReport, read_status
from vetl.settings import Settings, load_settings
from vetl.store.notes import ListStatus

_WATCH_INTERVAL = 2.0
"""Seconds between two reports of `--watch`."""
_WORST_FIRST = ("failed", "uncertified", "partly read", "not read", "withdrawn", "certified", "received")
_ROWS_BESIDE_THE_TABLE = 8
"""Lines of `--watch` beside the rows: summary, header, notes, and the number of rows that do not fit."""
_UNCHANGED_AFTER = timedelta(minutes=1)

app = Commands()


@app.command(
    examples="""
        vetl status
        vetl status --practice loc-001
        vetl status --watch
        vetl status --format prometheus"""
)
def status(
    practice: Practices = None,
    problems: Annotated[
        bool | None, typer.Option("--problems/--all", help="Show only lists with a problem, or every list.")
    ] = None,
    watch: Annotated[bool, typer.Option("--watch", help="Repeat every two seconds until interrupted.")] = False,
    as_json: AsJson = False,
    form: Annotated[
        Literal["prometheus"] | None,
        typer.Option("--format", help="For the textfile collector of Prometheus' node exporter."),
    ] = None,
) -> int:
    """Show the state of practices and lists, also while a sync runs."""
    if watch and (as_json or form):
        raise WrongUse("--watch cannot be combined with --json or --format; repeat the command instead")
    if as_json and form:
        raise WrongUse("--json cannot be combined with --format")
    settings = load_settings()
    if watch:
        return _watch(settings, practice, problems=problems)
    report = read_status(settings, practice)
    if form:
        from vetl.jobs.status_metrics import as_metrics  # noqa: PLC0415 - its library takes 30 ms

        sys.stdout.write(as_metrics(report))
    elif as_json:
        terminal.print_json(report.as_json(summary(report)))
    else:
        show(report, problems=problems)
    return report.exit_code


def _watch(settings: Settings, practices: Sequence[str] | None, *, problems: bool | None) -> int:
    code = 0
    console = Console()
    try:
        while True:
            report = read_status(settings, practices)
            console.clear()
            lines = max(1, console.height - _ROWS_BESIDE_THE_TABLE - len(report.problems))
            show(report, problems=problems, most=lines if console.is_terminal else None)
            sys.stdout.flush()
            code = report.exit_code
            time.sleep(_WATCH_INTERVAL)
    except KeyboardInterrupt:
        return code


def summary(report: StatusReport) -> str:
    """Return one line: `210 lists of 30 practices: 210 certified; last sync 5 min ago`."""
    read = [item for item in report.snapshot.lists if not item.is_received]
    practices = len({item.practice_id for item in read})
    parts = [f"{number} {state}" for state in _WORST_FIRST if (number := report.states[state])]
    parts += _quarantined(report.snapshot.lists)
    lists = f"{count(len(read), 'list')} of {count(practices, 'practice')}: {', '.join(parts)}"
    return f"{lists}; {_last_sync(report)}"


def show(report: StatusReport, *, problems: bool | None = None, most: int | None = None) -> None:
    """Print the summary, a table of at most `most` rows, and the problems below it."""
    lists = report.snapshot.lists
    selected = [item for item in lists if item.has_problem] if problems else lists
    if problems is None:
        _say_problems(report, selected, most)
        _print_practices(summary(report), selected, most)
    else:
        _print_some(summary(report), COLUMNS, selected, most)
    if problems and not selected:
        terminal.print_aside("no list has a problem")
    if lists:
        written = report.snapshot.written_at
        as_of = f"as of {local(written)}; " if written else ""
        terminal.print_aside(f"{as_of}times in {zone()}; {short(report.warehouse)}")
        if any(item.endpoint == "phone_calls" and item.certified_through for item in selected):
            terminal.print_aside(WHOLE_DAYS)
    _show_published(report, all_of_it=problems is False)
    for headline in report.headlines:
        terminal.print_line(headline["words"])
    for line in (line for part in report.parts for line in part.lines):
        terminal.print_line(line)
    _show_inbox(report.inbox)
    if problems is not None:
        _say_problems(report, selected, most)


def _print_practices(title: str, lists: Sequence[ListStatus], most: int | None) -> None:
    groups = [list(group) for _, group in groupby(lists, key=attrgetter("practice_id"))]
    _print_some(title, PRACTICE_COLUMNS, sorted(groups, key=lambda group: _WORST_FIRST.index(_worst(group))), most)
    terminal.print_aside("--problems shows the lists with a problem, --all every list")


def _read(lists: Sequence[ListStatus]) -> Sequence[ListStatus]:
    return [item for item in lists if not item.is_received] or lists


def _worst(lists: Sequence[ListStatus]) -> str:
    return min((item.state for item in _read(lists)), key=_WORST_FIRST.index)


def _earliest(lists: Sequence[ListStatus]) -> str:
    """Return the earliest end of certification, or nothing if a list has none."""
    ends = [item.certified_through for item in _read(lists) if item.state != "withdrawn"]
    return "" if not all(ends) else min((local(end) for end in ends), default="")


def _quarantine_of(lists: Sequence[ListStatus]) -> str:
    """Return `3` or `3 (all known)`, or nothing if no row is in quarantine."""
    quarantined, acknowledged = sum(item.quarantined for item in lists), sum(item.acknowledged for item in lists)
    all_known = quarantined and quarantined == acknowledged
    return f"{quarantined} (all known)" if all_known else f"{quarantined or ''}"


COLUMNS: Columns[ListStatus] = {
    "practice": attrgetter("practice_id"),
    TableColumn("name", 3): attrgetter("practice"),
    "list": attrgetter("endpoint"),
    "state": attrgetter("state"),
    "certified until": lambda item: local(item.certified_through),
    TableColumn("last read", 4): lambda item: local(item.read_at),
    TableColumn("rows", 1): attrgetter("rows"),
    TableColumn("open", 5): attrgetter("open"),
    TableColumn("restated", 6): attrgetter("restated"),
    TableColumn("drift", 7): lambda item: "; ".join(item.drift),
    TableColumn("last window proven by", 8): lambda item: item.certificate.reason if item.certificate else "",
    TableColumn("quarantined", if_filled=True): lambda item: _quarantine_of([item]),
}
PRACTICE_COLUMNS: Columns[Sequence[ListStatus]] = {
    "practice": lambda lists: lists[0].practice_id,
    TableColumn("name", 1): lambda lists: lists[0].practice,
    "state": _worst,
    "certified until": _earliest,
    TableColumn("rows", 2): lambda lists: sum(item.rows for item in lists),
    TableColumn("quarantined", if_filled=True): _quarantine_of,
}


def _print_some(title: str, columns: Columns[Item], items: Sequence[Item], most: int | None) -> None:
    terminal.print_items(title, columns, items[:most])
    if most is not None and len(items) > most:
        terminal.print_aside(f"{len(items) - most} more rows do not fit; every problem is listed below")


def _quarantined(lists: Sequence[ListStatus]) -> list[str]:
    quarantined = sum(item.quarantined for item in lists)
    acknowledged = sum(item.acknowledged for item in lists)
    of_these = f" ({acknowledged} acknowledged)" if acknowledged else ""
    return [f"{count(quarantined, 'row')} quarantined{of_these}"] if quarantined else []


def _last_sync(report: StatusReport) -> str:
    sync, run = report.sync, report.snapshot.run
    if sync and sync.outcome == "running":
        return f"a {sync.command} began {ago(sync.started_at)} and runs"
    if sync and sync.outcome != "done":
        how = {"failed": "failed", "stopped": "was interrupted", "killed": "was killed"}[sync.outcome]
        return f"last {sync.command} {how} {ago(sync.at)}"
    if run and run["finished_at"]:
        failed = " failed" if run["exit_code"] == 1 else ""
        return f"last {run['command']}{failed} {ago(run['finished_at'])}"
    if run is None:
        return "nothing synced yet"
    return f"a {run['command']} began {ago(run['started_at'])}"


def _show_published(report: StatusReport, *, all_of_it: bool) -> None:
    parts: list[str] = []
    if report.build and report.build.outcome == "running":
        parts.append(f"a build began {ago(report.build.started_at)} and runs")
    if report.build and report.build.succeeded_at:
        parts.append(f"built {ago(report.build.succeeded_at)}")
    if report.published:
        file, done = report.published, report.publication and report.publication.succeeded_at
        parts.append(f"published {ago(done or file.made_at)}")
        if done and datetime.fromisoformat(done) - file.made_at > _UNCHANGED_AFTER:
            parts[-1] += f" (not changed since {local(file.made_at)})"
        parts[-1] += f": {short(file.path)}"
    if parts:
        terminal.print_line(", ".join(parts))
    if report.published and (masked := report.published.masked_words):
        few = f"{count(len(masked), 'column')} published with masked values: --all names them and what shows them"
        terminal.print_aside(masked_words_in_words(masked) if all_of_it else few)


def masked_words_in_words(masked: Mapping[str, int]) -> str:
    """Return a line with the columns in which values are masked, and with what shows them."""
    columns = ", ".join(f"{column} ({number})" for column, number in sorted(masked.items()))
    return (
        f"values published as `masked`, because too few people share them: {columns}. `vetl query --private` shows"
        " them; [privacy] words publishes those that name nobody, [privacy] fewest_people says how many are enough"
    )


def _show_inbox(inbox: Mapping[str, Any] | None) -> None:
    if not inbox or inbox["error"]:
        return
    parts = [f"{count(inbox['waiting'], 'webhook')} waiting"]
    parts += [f"the oldest since {local(inbox['oldest'])}"] if inbox["oldest"] else []
    parts += [f"the last came {local(inbox['last_received'])}"] if inbox["last_received"] else []
    parts += [f"{inbox['quarantined']} quarantined"] if inbox.get("quarantined") else []
    terminal.print_line(f"{', '.join(parts)}; {short(inbox['path'])}")


def _say_problems(report: StatusReport, lists: Sequence[ListStatus], most: int | None) -> None:
    failed = [item for item in lists if item.attempt and item.state not in {"certified", "withdrawn", "received"}]
    for item in failed[:most]:
        assert item.attempt
        where = f"{item.practice_id} {item.endpoint}"
        say(f"{where}: {item.state} {ago(item.attempt.finished)}: {item.reason}")
    if most is not None and len(failed) > most:
        say(f"{len(failed) - most} more lists have a problem; `vetl status --problems` shows them")
    if any(item.unacknowledged for item in lists):
        say("rows in quarantine: see `vetl quarantine list`; `vetl quarantine acknowledge` accepts them")
    for problem in report.problems:
        say(in_words(problem.line))
