"""`vetl reconcile`: history is read again, compared, and repaired."""

from typing import Annotated

import typer

from vetl.cli.commands import Commands
from vetl.cli.options import AsJson, Practices
from vetl.cli.output import mention
from vetl.cli.progress import showing_lists
from vetl.cli.terminal import count, print_json
from vetl.cli.views import show_sync
from vetl.jobs.one_writer import existing
from vetl.jobs.sync import run_sync
from vetl.settings import load_settings

app = Commands()


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
    existing(settings)
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
