"""`vetl forget`: remove a person from all files that vetl keeps; counts stay the same."""

import sys
from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated, Any

import typer

from vetl.cli.commands import AsJson, Commands, Practice
from vetl.cli.run import shown
from vetl.cli.terminal import count, mention, print_json, print_line, say
from vetl.core.errors import WrongUse
from vetl.forgetting.job import UNFINISHED, Forgetting, Rehearsal, forget_person, rehearse
from vetl.run import built_and_published
from vetl.settings import Settings, load_settings
from vetl.store.person import COPIES
from vetl.store.warehouse import writing

app = Commands()


@app.command(examples="vetl forget --practice loc-001 --client 10000001")
def forget(
    practice: Practice,
    client: Annotated[str, typer.Option("--client", metavar="ID", help="The client's id on the platform.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Count the rows to change; change nothing.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask; needed if there is no terminal.")] = False,
    as_json: AsJson = False,
) -> int:
    """Remove a person from everything that vetl keeps."""
    settings = load_settings()
    if dry_run:
        return _show_rehearsal(settings, practice, client, as_json=as_json)
    if not yes and not _agreed(settings, practice, client):
        mention("nothing was changed")
        return 0

    def build() -> Mapping[str, Any]:
        return shown(built_and_published(settings, full_refresh=True), settings.practices, quiet=as_json)

    with writing(settings.warehouse):
        forgotten = forget_person(settings, practice, client, build)
    if as_json:
        print_json(_report(forgotten))
    else:
        _show_forgetting(forgotten)
    return forgotten.exit_code


def _agreed(settings: Settings, practice: str, client: str) -> bool:
    """Ask for confirmation on a terminal, on standard error: standard output is for the report."""
    if not sys.stdin.isatty():
        raise WrongUse("forget cannot be undone: add --yes to do it, or --dry-run to see what it would change")
    say(_rehearsal_text(rehearse(settings, practice, client), practice, client))
    sys.stderr.write("This cannot be undone. Forget this client? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _show_rehearsal(settings: Settings, practice: str, client: str, *, as_json: bool) -> int:
    rehearsal = rehearse(settings, practice, client)
    if as_json:
        print_json({"exit_code": 0, **asdict(rehearsal)})
        return 0
    print_line(_rehearsal_text(rehearsal, practice, client))
    for table, rows in rehearsal.rows.items():
        print_line(f"  {table}: {count(rows, 'row')}")
    mention("dry run: nothing was changed")
    return 0


def _rehearsal_text(rehearsal: Rehearsal, practice: str, client: str) -> str:
    rows = count(sum(rehearsal.rows.values()), "row")
    tables = count(len(rehearsal.rows), "table")
    files = count(rehearsal.kept_files, "earlier published file")
    return (
        f"Client {client} of practice {practice}: {rows} in {tables} would get a pseudonym,"
        f" {_deliveries(rehearsal.deliveries)} and {files} would be removed"
    )


def _deliveries(number: int) -> str:
    return "1 delivery" if number == 1 else f"{number:,} deliveries"


def _report(forgotten: Forgetting) -> dict[str, Any]:
    document = asdict(forgotten)
    return {**document.pop("built"), **document, "exit_code": forgotten.exit_code}


def _show_forgetting(forgotten: Forgetting) -> None:
    rows = count(sum(forgotten.rows.values()), "row")
    print_line(f"Forgotten: {rows} stay under {forgotten.pseudonym}, {_deliveries(forgotten.deliveries)} erased")
    for file in forgotten.removed:
        say(f"removed {file}, an earlier published file")
    for lake in forgotten.lakes:
        say(f"{lake}: rewritten; its earlier files are gone")
    for file in forgotten.left:
        say(f"warning: {file} still mentions the person")
    if forgotten.left:
        say(f"{UNFINISHED}; {COPIES}")
        return
    say("no file that vetl keeps mentions the person any more; backups and copies still may")
    say("rows that the platform sends again get the same pseudonym; delete them on the platform, too")
    say("a new phone number, address or name of the client is not recognised; then run this command again")
