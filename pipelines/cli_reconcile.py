"""`vetl reconcile`: history is read again, compared, and repaired."""

from collections.abc import Sequence

from pipelines.cli_views import show_sync
from pipelines.settings import load_settings
from pipelines.sync_job import run_sync
from pipelines.terminal import configure_logs, print_json, say
from pipelines.terminal_progress import showing_lists


def reconcile(practices: Sequence[str] | None, *, full: bool, as_json: bool, verbosity: int) -> int:
    """Read the last 35 days again, or all of history; show what differed and what it cost."""
    configure_logs(verbosity)
    with showing_lists() as report:
        result = run_sync(
            load_settings(),
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
        show_sync(result)
        say(f"reconciled in {requests} requests: {restated} rows of certified windows differed and are repaired")
    return result.exit_code
