"""The arguments of the commands that look ahead or send notices: `vetl forecast`, `vetl report`, `vetl watch`."""

from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from vetl.cli.options import AsJson


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
    from vetl.cli.report import send_letters

    return send_letters(to or (), again=again, folder=folder, as_json=as_json)


def watch(
    since: Annotated[
        datetime | None,
        typer.Option("--since", formats=["%Y-%m-%d"], metavar="DATE", help="How often each would have rung."),
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Show the thresholds of [watch] and who is outside of them."""
    from vetl.cli.watch import watch

    return watch(since and since.date(), as_json=as_json)


def forecast(as_json: AsJson = False) -> int:
    """Predict the calls of the next 14 days, by practice and hour."""
    from vetl.cli.forecast import predict

    return predict(as_json=as_json)
