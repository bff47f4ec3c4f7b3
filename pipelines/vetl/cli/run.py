"""`vetl run` and its parts: `vetl sync` and `vetl build`."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import date, datetime
from functools import partial
from importlib import import_module
from typing import Annotated, Any

import typer

from vetl import bundled, hooks
from vetl.cli.commands import Commands
from vetl.cli.options import AsJson, Lists, Practices, Verbose
from vetl.cli.output import configure_logs
from vetl.cli.progress import showing_lists, showing_nodes
from vetl.cli.publish import publish_unless_held
from vetl.cli.terminal import mention, print_json, say, short
from vetl.cli.views import show_build, show_drain, show_published, show_sync
from vetl.core.errors import BuildFailed, VetlError, WrongUse, is_of_a_full_disk
from vetl.core.results import SyncResult
from vetl.forgetting.job import finish_forgettings
from vetl.jobs.build import build_marts, existing, is_built, treatments
from vetl.jobs.dbt_process import log_file
from vetl.jobs.drain import run_drain
from vetl.jobs.one_writer import writing
from vetl.jobs.sync import chosen_practices, run_sync
from vetl.publishing.publication import Published
from vetl.settings import Settings, load_settings
from vetl.store.control.activity import recorded
from vetl.store.control.snapshot import refuse_newer

WORST_FIRST = (1, 2, 3, 0)

DUCKDB = "duckdb"
"""The engine that builds the marts in the private file."""

app = Commands()


@app.command(
    examples="""
        vetl sync
        vetl sync --practice loc-001 --endpoint phone_calls
        vetl sync --since 2026-01-01"""
)
def sync(
    practice: Practices = None,
    endpoint: Lists = None,
    since: Annotated[
        datetime | None,
        typer.Option(
            "--since",
            formats=["%Y-%m-%d"],
            metavar="DATE",
            help="Read again all rows that changed since this day.",
        ),
    ] = None,
    as_json: AsJson = False,
    verbose: Verbose = 0,
) -> int:
    """Read new and changed rows into the private warehouse."""
    configure_logs(verbose)
    settings = load_settings()
    result = _sync(settings, practice, endpoint, since and since.date())
    if as_json:
        print_json(result.as_json())
    else:
        show_sync(result, settings.practices)
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
    verbose: Verbose = 0,
) -> int:
    """Build the marts with dbt, then publish."""
    configure_logs(verbose)
    if engine != DUCKDB:
        return build_with(engine, as_json=as_json)
    report = build_and_publish(load_settings(), full_refresh=full_refresh, quiet=as_json)
    if as_json:
        print_json(report)
    return report["exit_code"]


@app.command(
    examples="""
        vetl run
        vetl -C /srv/vetl run --quiet --log-file vetl.log
        vetl run --practice loc-001 --json"""
)
def run(practice: Practices = None, as_json: AsJson = False, verbose: Verbose = 0) -> int:
    """Sync, build and publish, as a schedule does."""
    configure_logs(verbose)
    report = run_everything(load_settings(), practice, quiet=as_json)
    if as_json:
        print_json(report)
    return report["exit_code"]


def run_everything(settings: Settings, practices: Sequence[str] | None = None, *, quiet: bool) -> dict[str, Any]:
    """Sync, drain, build and publish; show each result unless `quiet`. The report has the worst exit code.

    `practices` limits the sync; the marts are built for all practices. Nothing is built if no row changed and the
    marts do not depend on the time that passed. Webhooks are drained if there is an inbox. If the sync fails, the
    rows that it committed are still built and published, unless the disk is full.

    Raises:
        ConfigurationError: a practice is not configured, credentials are not set, or `[privacy]` is wrong. Nothing
            was changed.
    """
    settings.login()
    chosen_practices(settings, practices)
    treatments(settings)
    with writing(settings):
        return _everything(settings, practices, quiet=quiet)


def _everything(settings: Settings, practices: Sequence[str] | None, *, quiet: bool) -> dict[str, Any]:
    report: dict[str, Any] = {"sync": None, "drain": None, "build": None, "published": None}
    codes: list[int] = []
    refuse_newer(settings.warehouse.path, bundled.migrations())
    for step in (
        _go_on_forgetting,
        partial(_sync_lists, practices=practices),
        _drain,
        partial(_build, codes=codes),
    ):
        codes += step(settings, report, quiet=quiet)
        if is_of_a_full_disk(report.get("error", "")):
            break  # the next step writes to the same disk, and would fail with the same line
    report["exit_code"] = next(code for code in WORST_FIRST if code in codes)
    return report


def _go_on_forgetting(settings: Settings, report: dict[str, Any], *, quiet: bool) -> list[int]:
    """Continue each `vetl forget` that was interrupted or incomplete, and return the exit codes."""
    try:
        done = finish_forgettings(settings, partial(build_and_publish, full_refresh=True, quiet=quiet))
    except VetlError as error:
        return _failed(report, error)
    for forgotten in done:
        rest = f"still mentioned in {', '.join(forgotten.left)}" if forgotten.left else "is complete"
        say(f"the forgetting of {forgotten.pseudonym} {rest}")
    return [forgotten.exit_code for forgotten in done]


def _sync_lists(
    settings: Settings, report: dict[str, Any], *, practices: Sequence[str] | None, quiet: bool
) -> list[int]:
    try:
        result = _sync(settings, practices)
    except VetlError as error:
        return _failed(report, error)
    report["sync"] = result.as_json()
    if not quiet:
        show_sync(result, settings.practices)
    return [result.exit_code]


def _drain(settings: Settings, report: dict[str, Any], *, quiet: bool) -> list[int]:
    if not settings.webhooks.inbox.exists():
        return []
    try:
        drained = run_drain(settings)
    except VetlError as error:
        return _failed(report, error)
    report["drain"] = drained.as_json()
    if not quiet:
        show_drain(drained)
    return [drained.exit_code]


def _build(settings: Settings, report: dict[str, Any], *, codes: Sequence[int], quiet: bool) -> list[int]:
    """Build and publish; only publish if nothing has changed. `codes` are those of the steps before."""
    if not settings.warehouse.path.exists():
        return []
    if any(codes) or not is_built(settings):
        built = build_and_publish(settings, all_tests=False, quiet=quiet)
        code = built.pop("exit_code")
        report |= built
        return [code]
    # Publish all the same: the published file may be missing, or `[privacy]` may have changed.
    published, code = publish_unless_held(settings)
    if published:
        mention("No new data; the published file is up to date.")
    report["published"] = asdict(published) if published else None
    return [code]


def _failed(report: dict[str, Any], error: VetlError) -> list[int]:
    """Print and record the error of a step; return its exit code."""
    say(f"vetl: {error}")
    report["error"] = str(error)
    return [error.exit_code]


def build_and_publish(
    settings: Settings, *, full_refresh: bool = False, all_tests: bool = True, quiet: bool
) -> dict[str, Any]:
    """Build the marts; publish them only if every node was built, so that analysts never see half a build."""
    path = settings.warehouse.path
    published: Published | None = None
    existing(settings)
    with writing(settings):
        try:
            with recorded(path, "build", "build") as recorder, showing_nodes() as advance:
                result = build_marts(settings, full_refresh=full_refresh, all_tests=all_tests, advance=advance)
                if result.failures:
                    rest = f" and {len(result.failures) - 1} more" if len(result.failures) > 1 else ""
                    recorder.error = f"{next(iter(result.failures))}{rest}; log at {log_file(path)}"
        except BuildFailed as error:
            raise BuildFailed(f"{error}; {_not_published(settings)}") from None
        if not quiet:
            show_build(result)
        code = result.exit_code
        if result.failures:
            say(_not_published(settings))
        else:
            published, code = publish_unless_held(settings)
    if published and not quiet:
        show_published(published)
    return {
        "build": asdict(result),
        "published": asdict(published) if published else None,
        "exit_code": code,
    }


def build_with(engine: str, *, as_json: bool) -> int:
    """Build the marts with the engine of an addon; return the exit code.

    Raises:
        WrongUse: no addon has such an engine.
    """
    engines = hooks.engines()
    if engine not in engines:
        raise WrongUse(f"--engine {engine}: known are {', '.join((DUCKDB, *engines))}")
    return import_module(engines[engine]).build(as_json=as_json)


def _not_published(settings: Settings) -> str:
    published, log = short(settings.warehouse.published), short(log_file(settings.warehouse.path))
    stays = f"; {published} stays as it was" if settings.warehouse.published.exists() else ""
    return f"not published{stays}; log at {log}"


def _sync(
    settings: Settings,
    practices: Sequence[str] | None = None,
    endpoints: Sequence[str] | None = None,
    since: date | None = None,
) -> SyncResult:
    with showing_lists(len(practices or settings.practices)) as report:
        return run_sync(settings, practices=practices, endpoints=endpoints, since=since, progress=report)
