"""`vetl quarantine`: list rejected rows, acknowledge them, or retry them."""

from collections.abc import Sequence
from dataclasses import asdict
from operator import attrgetter
from typing import Annotated

import typer

from vetl.cli.commands import AsJson, Commands, Lists, Practices, local, zone
from vetl.cli.progress import showing_lists
from vetl.cli.terminal import Columns, TableColumn, count, mention, print_aside, print_items, print_json, say
from vetl.core.errors import WrongUse
from vetl.jobs.quarantined_rows import acknowledge as mark_as_known, quarantined_rows, retry as take_in_again
from vetl.settings import load_settings
from vetl.store.control.bad_rows import QuarantinedRow

COLUMNS: Columns[QuarantinedRow] = {
    "practice": attrgetter("practice_id"),
    "list": attrgetter("endpoint"),
    "row": attrgetter("row_key"),
    "reason": attrgetter("reason"),
    TableColumn("since", 2): lambda row: local(row.first_seen),
    TableColumn("acknowledged", 1): lambda row: (
        f"{local(row.acknowledged_at)}: {row.acknowledged_reason}" if row.acknowledged_at else ""
    ),
    TableColumn("payload", 3): attrgetter("payload"),
}

app = Commands()


@app.command(
    "list",
    examples="""
        vetl quarantine list
        vetl quarantine list --json""",
)
def list_rows(as_json: AsJson = False) -> int:
    """List rejected rows with the reason and the payload."""
    rows = quarantined_rows(load_settings().warehouse)
    if as_json:
        print_json({"exit_code": 0, "held": [asdict(row) for row in rows]})
    else:
        _show_rows(rows)
    return 0


@app.command(
    examples="""
        vetl quarantine acknowledge --reason "test rows of the platform"
        vetl quarantine acknowledge --endpoint staff_tasks --reason known"""
)
def acknowledge(
    reason: Annotated[
        str, typer.Option("--reason", metavar="TEXT", help="Why the rows may stay; shown with them.")
    ],
    practice: Practices = None,
    endpoint: Lists = None,
    row: Annotated[
        list[str] | None, typer.Option("--row", metavar="ID", help="Only this row; repeatable.")
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Mark bad rows as known, so that exit codes ignore them."""
    if not reason.strip():
        raise WrongUse("--reason: give the reason why the rows may stay in quarantine")
    chosen, left = mark_as_known(
        load_settings().warehouse, reason.strip(), practices=practice, endpoints=endpoint, row_keys=row
    )
    code = 3 if left else 0
    if as_json:
        print_json({"exit_code": code, "acknowledged": len(chosen), "left": len(left)})
    else:
        mention(f"{count(len(chosen), 'row')} acknowledged; a row counts again if it comes with another payload")
        if left:
            say(f"{count(len(left), 'row')} in quarantine not acknowledged")
    return code


@app.command(examples="vetl quarantine retry")
def retry(as_json: AsJson = False) -> int:
    """Retry rejected rows."""
    with showing_lists() as report:
        retried = take_in_again(load_settings(), report)
    if as_json:
        print_json({"exit_code": retried.exit_code, **asdict(retried)})
    else:
        say(f"{retried.before - len(retried.held)} of {count(retried.before, 'row')} were accepted")
        _show_rows(retried.held)
    return retried.exit_code


def _show_rows(rows: Sequence[QuarantinedRow]) -> None:
    print_items(f"{count(len(rows), 'row')} in quarantine", COLUMNS, rows)
    if rows:
        print_aside(f"times in {zone()}")
