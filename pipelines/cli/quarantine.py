"""`vetl quarantine`: bad rows, why, and taking them in again."""

from collections.abc import Sequence
from dataclasses import asdict

from pipelines.cli.output import configure_logs
from pipelines.cli.progress import showing_lists
from pipelines.cli.terminal import TableColumn, count, print_json, print_table, say
from pipelines.cli.times import local
from pipelines.jobs.quarantine import held_rows
from pipelines.jobs.quarantine import retry as take_in_again
from pipelines.loading.control.quarantine import Held
from pipelines.settings import load_settings

COLUMNS = (
    "practice",
    "list",
    TableColumn("row", 1),
    "reason",
    TableColumn("since", 2),
    TableColumn("payload", 3),
)


def list_rows(*, as_json: bool) -> int:
    """`vetl quarantine list`: the payloads are shown whole, so this is for the warehouse's owner."""
    configure_logs(0)
    held = held_rows(load_settings())
    if as_json:
        print_json({"exit_code": 0, "held": [asdict(row) for row in held]})
    else:
        _show(held)
    return 0


def retry(*, as_json: bool, verbosity: int) -> int:
    """`vetl quarantine retry`: 0 when nothing is left, 3 otherwise."""
    configure_logs(verbosity)
    with showing_lists() as report:
        retried = take_in_again(load_settings(), report)
    if as_json:
        print_json({"exit_code": retried.exit_code, **asdict(retried)})
    else:
        say(f"{retried.before - len(retried.held)} of {count(retried.before, 'row')} were accepted")
        _show(retried.held)
    return retried.exit_code


def _show(held: Sequence[Held]) -> None:
    rows = [
        (row.practice_id, row.endpoint, row.row_key, row.reason, local(row.first_seen), row.payload)
        for row in held
    ]
    print_table(f"{count(len(rows), 'row')} in quarantine", COLUMNS, rows)
