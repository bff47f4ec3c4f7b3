"""`vetl run` and its parts, `vetl sync` and `vetl build`; `vetl reconcile` reads history again."""

from collections.abc import Sequence
from contextlib import ExitStack
from datetime import datetime
from importlib import import_module
from typing import Annotated, Any

import typer

from vetl import hooks
from vetl.cli.commands import AsJson, Commands, Lists, Practices, day_option
from vetl.cli.output import mention, say
from vetl.cli.progress import showing_lists, showing_nodes
from vetl.cli.terminal import count, print_json
from vetl.cli.views import show_build, show_drain, show_published, show_sync
from vetl.core.errors import WrongUse
from vetl.core.list_read import Practice
from vetl.jobs.dbt_process import Advance, NodeDone
from vetl.jobs.sync import run_sync
from vetl.run import Event, Events, built_and_published, forgetting_in_words, report_of, run as one_run
from vetl.settings import Settings, load_settings
from vetl.store.warehouse import existing

DUCKDB = "duckdb"
"""The engine that builds the marts in the private file."""

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
        print_json(result.as_json())
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
        print_json({**result.as_json(), "requests": requests, "restated": restated})
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
        bool, typer.Option("--full-refresh", help="Rebuild incremental models from scratch.")
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
        print_json(report)
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
        print_json(report)
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
