"""`vetl reconcile`: history is read again, compared, and repaired."""

from collections.abc import Sequence

from vetl.cli.output import configure_logs
from vetl.cli.progress import showing_lists
from vetl.cli.terminal import count, mention, print_json
from vetl.cli.views import show_sync
from vetl.jobs.build import existing
from vetl.jobs.sync import run_sync
from vetl.settings import load_settings


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
