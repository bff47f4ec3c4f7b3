"""`vetl reconcile`: history is read again, compared, and repaired."""

from collections.abc import Sequence

from pipelines.cli.output import configure_logs
from pipelines.cli.progress import showing_lists
from pipelines.cli.terminal import count, mention, print_json
from pipelines.cli.views import show_sync
from pipelines.jobs.build import existing
from pipelines.jobs.sync import run_sync
from pipelines.settings import load_settings


def reconcile(practices: Sequence[str] | None, *, full: bool, as_json: bool, verbosity: int) -> int:
    """Read the last 35 days or all of history again; show the changed rows and the number of requests."""
    configure_logs(verbosity)
    settings = load_settings()
    existing(settings)
    with showing_lists(len(practices or settings.practices)) as report:
        result = run_sync(
            settings,
            practices=practices,
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
