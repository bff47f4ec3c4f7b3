"""The commands that change something: sync, build, publish, run."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import date
from functools import partial
from typing import Any, Literal

from pipelines import bundled
from pipelines.cli.lake import build_on_spark
from pipelines.cli.output import configure_logs
from pipelines.cli.progress import showing_lists, showing_nodes
from pipelines.cli.terminal import mention, print_json, say, short
from pipelines.cli.views import show_build, show_drain, show_published, show_sync
from pipelines.core.errors import VetlError
from pipelines.core.results import SyncResult
from pipelines.jobs.build import build_marts, publish_marts, roll_back_published, treatments, whats_new
from pipelines.jobs.drain import run_drain
from pipelines.jobs.forget import go_on
from pipelines.jobs.sync import run_sync
from pipelines.loading.control.snapshot import refuse_newer
from pipelines.loading.layout import written_files
from pipelines.settings import Settings, load_settings

WORST_FIRST = (1, 2, 3, 0)


def sync(
    practices: Sequence[str] | None,
    endpoints: Sequence[str] | None,
    since: date | None,
    *,
    as_json: bool,
    verbosity: int,
) -> int:
    """`vetl sync`."""
    configure_logs(verbosity)
    result = _sync(load_settings(), practices, endpoints, since)
    if as_json:
        print_json(result.as_json())
    else:
        show_sync(result)
    return result.exit_code


def build(*, full_refresh: bool, engine: Literal["duckdb", "spark"], as_json: bool, verbosity: int) -> int:
    """`vetl build`: the marts, then the published file."""
    if engine == "spark":
        return build_on_spark(as_json=as_json, verbosity=verbosity)
    configure_logs(verbosity)
    report = build_and_publish(load_settings(), full_refresh=full_refresh, quiet=as_json)
    if as_json:
        print_json(report)
    return report["exit_code"]


def publish(*, rollback: bool, as_json: bool) -> int:
    """`vetl publish`; with `rollback` the file of before takes the place of the published one."""
    if rollback:
        settings = load_settings()
        before = roll_back_published(settings)
        if as_json:
            print_json({"exit_code": 0, "path": settings.warehouse.published, "before": before})
        else:
            published = short(settings.warehouse.published)
            mention(f"{published} is again the file that was published before; the next publication replaces it")
        return 0
    published = publish_marts(load_settings())
    if as_json:
        print_json({"exit_code": 0, "published": asdict(published)})
    else:
        show_published(published)
    return 0


def run(practices: Sequence[str] | None, *, as_json: bool, verbosity: int) -> int:
    """`vetl run`: what is committed is built and published even where the sync failed."""
    configure_logs(verbosity)
    report = run_everything(load_settings(), practices, quiet=as_json)
    if as_json:
        print_json(report)
    return report["exit_code"]


def run_everything(settings: Settings, practices: Sequence[str] | None = None, *, quiet: bool) -> dict[str, Any]:
    """Sync, drain, build, publish; show each unless `quiet`. The report has the worst exit code.

    `practices`: only these are synced; the marts are built of all. Nothing is built where no row changed and no
    boundary of time was crossed. What webhooks brought is only drained where there is an inbox.
    """
    report: dict[str, Any] = {"sync": None, "drain": None, "build": None, "published": None}
    codes: list[int] = []
    refuse_newer(settings.warehouse.path, bundled.migrations())
    treatments(settings)  # before hours of reading: what `[privacy]` says can be done
    codes += _go_on_forgetting(settings, report, quiet=quiet)
    try:
        result = _sync(settings, practices)
        report["sync"] = result.as_json()
        codes.append(result.exit_code)
        if not quiet:
            show_sync(result)
    except VetlError as error:
        report["error"] = str(error)
        codes.append(error.exit_code)
        say(f"vetl: {error}")
    if settings.webhooks.inbox.exists():
        codes.append(_drain(settings, report, quiet=quiet))
    if written_files(settings.warehouse.path):
        if not any(codes) and whats_new(settings) is None:
            mention("nothing changed since the marts were built: what is published holds")
            report["published"] = asdict(publish_marts(settings))  # where it is still there, and masked as set
        else:
            built = build_and_publish(settings, all_tests=False, quiet=quiet)
            codes.append(built.pop("exit_code"))
            report |= built
    report["exit_code"] = next(code for code in WORST_FIRST if code in codes)
    return report


def _go_on_forgetting(settings: Settings, report: dict[str, Any], *, quiet: bool) -> list[int]:
    """Go on with what `vetl forget` could not finish."""
    try:
        done = go_on(settings, partial(build_and_publish, full_refresh=True, quiet=quiet))
    except VetlError as error:
        say(f"vetl: {error}")
        report["error"] = str(error)
        return [error.exit_code]
    for forgotten in done:
        rest = f"still mentioned in {', '.join(forgotten.left)}" if forgotten.left else "is complete"
        say(f"the forgetting of {forgotten.pseudonym} {rest}")
    return [forgotten.exit_code for forgotten in done]


def _drain(settings: Settings, report: dict[str, Any], *, quiet: bool) -> int:
    try:
        drained = run_drain(settings)
    except VetlError as error:
        say(f"vetl: {error}")
        report["error"] = str(error)
        return error.exit_code
    report["drain"] = drained.as_json()
    if not quiet:
        show_drain(drained)
    return drained.exit_code


def build_and_publish(
    settings: Settings, *, full_refresh: bool = False, all_tests: bool = True, quiet: bool
) -> dict[str, Any]:
    """Build; publish only where every node was built, so that analysts never see half a build."""
    with showing_nodes() as advance:
        result = build_marts(settings, full_refresh=full_refresh, all_tests=all_tests, advance=advance)
    if not quiet:
        show_build(result)
    published = None if result.failures else publish_marts(settings)
    if published and not quiet:
        show_published(published)
    return {
        "build": asdict(result),
        "published": asdict(published) if published else None,
        "exit_code": result.exit_code,
    }


def _sync(
    settings: Settings,
    practices: Sequence[str] | None = None,
    endpoints: Sequence[str] | None = None,
    since: date | None = None,
) -> SyncResult:
    with showing_lists(len(practices or settings.practices)) as report:
        return run_sync(settings, practices=practices, endpoints=endpoints, since=since, progress=report)
