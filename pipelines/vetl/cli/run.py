"""`vetl run` and its parts, `vetl sync` and `vetl build`; `vetl reconcile` reads history again."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from datetime import datetime
from importlib import import_module
from itertools import groupby
from operator import attrgetter
from typing import Annotated, Any

import typer

from vetl import hooks
from vetl.cli import terminal
from vetl.cli.commands import WHOLE_DAYS, AsJson, Commands, Lists, Practices, day_option, local, zone
from vetl.cli.progress import showing_lists, showing_nodes
from vetl.cli.publish import show_published
from vetl.cli.terminal import MANY_PRACTICES, Columns, TableColumn, count, mention, say
from vetl.core.errors import WrongUse
from vetl.core.list_read import EndpointResult, Practice, State, SyncResult
from vetl.core.pages import Changes
from vetl.jobs.dbt_process import Advance, BuildResult, NodeDone
from vetl.jobs.drain import DrainResult
from vetl.jobs.sync import run_sync
from vetl.run import Event, Events, built_and_published, forgetting_in_words, report_of, run as one_run
from vetl.settings import Settings, load_settings
from vetl.store.warehouse import existing

DUCKDB = "duckdb"
"""The engine that builds the marts in the private file."""

STATES_IN_ORDER: tuple[State, ...] = ("failed", "uncertified", "withdrawn", "certified")
"""The states, the worst first."""

SYNC_COLUMNS: Columns[EndpointResult] = {
    "practice": attrgetter("practice_id"),
    "list": attrgetter("endpoint"),
    "state": attrgetter("state"),
    "certified until": lambda item: local(item.certified_through),
    TableColumn("rows", 1): attrgetter("rows"),
    TableColumn("new", 2): attrgetter("changes.inserted"),
    TableColumn("changed", 3): attrgetter("changes.updated"),
    TableColumn("deleted", 4): attrgetter("changes.deleted"),
    TableColumn("requests", 5): attrgetter("requests"),
}

app = Commands()


@app.command(
    examples="""
        vetl sync
        vetl sync --practice loc-001 --endpoint phone_calls
        vetl sync --since 2026-01-01
        vetl sync --practice loc-002 --since 2026-03-01 --until 2026-03-31"""
)
def sync(
    practice: Practices = None,
    endpoint: Lists = None,
    since: Annotated[
        datetime | None, day_option("--since", "Read again all rows that changed since this day.")
    ] = None,
    until: Annotated[datetime | None, day_option("--until", "The last day of --since.")] = None,
    as_json: AsJson = False,
) -> int:
    """Read new and changed rows into the private warehouse."""
    settings = load_settings()
    with showing_lists(len(practice or settings.practices)) as progress:
        result = run_sync(
            settings,
            practices=practice,
            endpoints=endpoint,
            since=since and since.date(),
            until=until and until.date(),
            progress=progress,
        )
    if as_json:
        terminal.print_json(result.as_json())
    else:
        show_sync(result, settings.practices)
    return result.exit_code


@app.command(
    examples="""
        vetl reconcile
        vetl reconcile --practice loc-001 --full"""
)
def reconcile(
    practice: Practices = None,
    full: Annotated[bool, typer.Option("--full", help="All of history, not the last 35 days.")] = False,
    as_json: AsJson = False,
) -> int:
    """Read history again, repair late changes and deletions."""
    settings = load_settings()
    existing(settings.warehouse)
    with showing_lists(len(practice or settings.practices)) as report:
        result = run_sync(
            settings,
            practices=practice,
            endpoints=None,
            since=None,
            progress=report,
            reconcile="full" if full else "recent",
        )
    requests = sum(item.requests for item in result.results)
    restated = sum(item.changes.restated for item in result.results)
    if as_json:
        terminal.print_json({**result.as_json(), "requests": requests, "restated": restated})
    else:
        show_sync(result, settings.practices, "Reconciled")
        mention(f"{count(restated, 'row')} had changed after certification{'; repaired' if restated else ''}")
    return result.exit_code


@app.command(
    examples="""
        vetl build
        vetl build --full-refresh"""
)
def build(
    full_refresh: Annotated[
        bool, typer.Option("--full-refresh", help="Make every table again from all rows.")
    ] = False,
    engine: Annotated[
        str, typer.Option(help=f"{DUCKDB} builds from the private file; others: {', '.join(hooks.engines())}.")
    ] = DUCKDB,
    as_json: AsJson = False,
) -> int:
    """Build the marts with dbt, then publish."""
    if engine != DUCKDB:
        engines = hooks.engines()
        if engine not in engines:
            raise WrongUse(f"--engine {engine}: known are {', '.join((DUCKDB, *engines))}")
        if full_refresh:
            raise WrongUse(f"--full-refresh cannot be combined with --engine {engine}")
        return import_module(engines[engine]).build(as_json=as_json)
    settings = load_settings()
    report = shown(built_and_published(settings, full_refresh=full_refresh), settings.practices, quiet=as_json)
    if as_json:
        terminal.print_json(report)
    return report["exit_code"]


@app.command(
    examples="""
        vetl run
        vetl -C /srv/vetl run --quiet --log-file vetl.log
        vetl run --practice loc-001 --json"""
)
def run(practice: Practices = None, as_json: AsJson = False) -> int:
    """Sync, build and publish, as a schedule does."""
    report = run_everything(load_settings(), practice, quiet=as_json)
    if as_json:
        terminal.print_json(report)
    return report["exit_code"]


def run_everything(settings: Settings, practices: Sequence[str] | None = None, *, quiet: bool) -> dict[str, Any]:
    """Sync, drain, build and publish; show each result unless `quiet`. The report has the worst exit code."""
    report = shown(one_run(settings, practices, showing_lists), settings.practices, quiet=quiet)
    return {"sync": None, "drain": None, **report}


def shown(events: Events, practices: Sequence[Practice], *, quiet: bool) -> dict[str, Any]:
    """Print each event as it comes, the results only unless `quiet`, and return the report of all."""
    seen: list[Event] = []
    with ExitStack() as bar:
        advance: Advance | None = None
        for event in events:
            if isinstance(event, NodeDone):
                advance = advance or bar.enter_context(showing_nodes())
                advance(event.done, event.total)
                continue
            bar.close()
            advance = None
            seen.append(event)
            _say(event)
            if not quiet:
                _show(event, practices)
    return report_of(seen)


def _say(event: Event) -> None:
    match event.kind:
        case "forgotten":
            say(forgetting_in_words(event.result))
        case "failed":
            say(f"vetl: {event.result}")
        case "held":
            say(f"not published: {event.result}")
        case "kept" | "told":
            say(event.result)
        case "current":
            mention("No new data; the published file is up to date.")
        case _:
            pass


def _show(event: Event, practices: Sequence[Practice]) -> None:
    match event.kind:
        case "synced":
            show_sync(event.result, practices)
        case "drained":
            show_drain(event.result)
        case "built":
            show_build(event.result)
        case "published":
            show_published(event.result)
        case _:
            pass


def _columns_of_practices(names: Mapping[str, str]) -> Columns[Sequence[EndpointResult]]:

    def total(name: str) -> Callable[[Sequence[EndpointResult]], object]:
        return lambda results: sum(map(attrgetter(name), results))

    return {
        "practice": lambda results: results[0].practice_id,
        TableColumn("name", 3): lambda results: names.get(results[0].practice_id, ""),
        "state": lambda results: min((item.state for item in results), key=STATES_IN_ORDER.index),
        TableColumn("certified", 2): lambda results: (
            f"{sum(item.state == 'certified' for item in results)} of {len(results)}"
        ),
        TableColumn("rows", 1): total("rows"),
        TableColumn("new", 4): total("changes.inserted"),
        TableColumn("changed", 5): total("changes.updated"),
        TableColumn("deleted", 6): total("changes.deleted"),
        TableColumn("requests", 7): total("requests"),
    }


def show_sync(result: SyncResult, practices: Sequence[Practice], verb: str = "Synced") -> None:
    """Print the totals, a row for each list (or for each practice, if there are many), and the problems."""
    by_practice = [list(group) for _, group in groupby(result.results, key=attrgetter("practice_id"))]
    if len(by_practice) > MANY_PRACTICES:
        names = {item.id: item.name for item in practices}
        terminal.print_items(sync_summary(result, verb), _columns_of_practices(names), by_practice)
        terminal.print_aside("`vetl status --all` shows every list, `vetl status --problems` those with a problem")
    else:
        terminal.print_items(sync_summary(result, verb), SYNC_COLUMNS, result.results)
        terminal.print_aside(f"times in {zone()}; the platform's clock is at {local(result.source_clock)}")
        if any(item.endpoint == "phone_calls" for item in result.results):
            terminal.print_aside(WHOLE_DAYS)
    for item in result.results:
        where = f"{item.practice_id} {item.endpoint}"
        if item.state != "certified":
            say(f"{where}: {item.state}: {item.reason}")
        if item.held:
            say(f"{where}: {count(item.held, 'row')} quarantined; see `vetl quarantine list`")
        for note in item.notes:
            say(f"{where}: {note}")
    for line in (*result.doubts, *result.notes):
        say(line)


def sync_summary(result: SyncResult, verb: str) -> str:
    """Return `Synced 14 lists of 2 practices: 14 certified; 423 rows new, 12 changed, 0 deleted, 611 requests`."""
    states = Counter(item.state for item in result.results)
    practices = len({item.practice_id for item in result.results})
    changes = sum((item.changes for item in result.results), Changes())
    by_state = ", ".join(f"{states[state]} {state}" for state in STATES_IN_ORDER if states[state])
    rows = f"{count(changes.inserted, 'row')} new, {changes.updated:,} changed, {changes.deleted:,} deleted"
    requests = count(sum(item.requests for item in result.results), "request")
    of = f"{count(len(result.results), 'list')} of {count(practices, 'practice')}"
    return f"{verb} {of}: {by_state}; {rows}, {requests}"


def show_drain(result: DrainResult) -> None:
    """Print the changes that webhooks brought, and the notes about missed webhooks."""
    changes = result.changes
    terminal.print_line(
        f"Drained {count(result.deliveries, 'webhook')}, asked for {result.requested:,} by id:"
        f" {count(changes.inserted, 'row')} new, {changes.updated:,} changed, {changes.unchanged:,} unchanged,"
        f" {changes.quarantined:,} quarantined"
    )
    for note in (*result.notes, *changes.drift):
        say(note)


def show_build(result: BuildResult) -> None:
    """Print the result of dbt, with one line for each warning and each failed node."""
    for warning in result.warnings:
        say(f"warning: {warning}")
    for failure in result.failures:
        say(f"failed: {failure}")
    if any("unique" in failure for failure in result.failures):
        say("`vetl reconcile` repairs rows that are stored twice")
    skipped = f", {result.skipped} skipped" if result.skipped else ""
    terminal.print_line(
        f"Built in {result.seconds:.1f} s: {result.succeeded} models and tests succeeded,"
        f" {count(len(result.warnings), 'warning')}, {len(result.failures)} failed{skipped}"
    )
    if result.because:
        terminal.print_aside(f"made: {result.because}")
