"""`vetl report`: send the letter about the last closed week, once to each reader."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from vetl.addons.letters.job import preview, report as send_letters
from vetl.cli.commands import AsJson, Commands
from vetl.cli.terminal import TableColumn, print_aside, print_json, print_line, print_table, say, short
from vetl.settings import load_settings

COLUMNS = ("reader", "by", "week", "state", TableColumn("note", 1))

app = Commands()


@app.command(
    examples="""
        vetl report
        vetl report --preview letters
        vetl report --to East --again"""
)
def report(
    to: Annotated[
        list[str] | None, typer.Option("--to", metavar="NAME", help="Only this reader; repeatable.")
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Send letters that were sent before.")] = False,
    folder: Annotated[
        Path | None, typer.Option("--preview", metavar="FOLDER", help="Only write the letters into FOLDER.")
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Send each reader the letter about the last closed week, once."""
    settings = load_settings()
    if folder:
        files = preview(settings, folder, to or ())
        if as_json:
            print_json({"exit_code": 0, "files": files})
        for file in () if as_json else files:
            print_line(short(file))
        return 0
    done = send_letters(settings, to or (), again=again)
    if as_json:
        print_json({"exit_code": done.exit_code, **asdict(done)})
        return done.exit_code
    rows = [(item.reader, item.way, item.week, item.state, item.note) for item in done.deliveries]
    print_table("", COLUMNS, rows)
    for name in done.without:
        say(f"{name}: no week of these practices is closed yet, so there is no letter")
    if any(item.state == "unknown" for item in done.deliveries):
        say("unknown: vetl was killed while the letter left; it is sent again only with --again")
    if any(item.state == "sent before" for item in done.deliveries):
        print_aside("sent before: vetl report --again sends a letter again")
    return done.exit_code
