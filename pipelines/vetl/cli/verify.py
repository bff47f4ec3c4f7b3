"""`vetl verify`: recompute the digests of a published file."""

import os
from collections import Counter
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from vetl.cli.commands import AsJson, Commands, day_option
from vetl.cli.metric import published_file
from vetl.cli.progress import waiting
from vetl.cli.terminal import count, print_aside, print_json, print_line, print_table, say, short
from vetl.core.errors import WarehouseBusy
from vetl.publishing.digests import Inputs, verify as recompute, verify_inputs
from vetl.settings import load_settings

_SHOWN = 40
"""Rows of the table of differences; `--json` has all."""

app = Commands()


@app.command(
    examples="""
        vetl verify
        vetl verify analytics.duckdb --practice loc-001 --day 2026-01-12""",
    needs_settings=False,
)
def verify(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", help="A published file; that of the settings if none is given."),
    ] = None,
    practice: Annotated[str | None, typer.Option("--practice", metavar="ID", help="Only this practice.")] = None,
    day: Annotated[datetime | None, day_option("--day", "Only this day.")] = None,
    as_json: AsJson = False,
) -> int:
    """Check that no value of a published file was changed."""
    published = published_file(file)
    with waiting("recomputing"):
        found = recompute(published, practice, day and day.date())
        inputs = _inputs(published, practice) if file is None and day is None else None
    code = 1 if found.different or (inputs and (inputs.changed or inputs.different)) else 0
    if as_json:
        document = {**asdict(found), "inputs": asdict(inputs) if inputs else None}
        print_json({"exit_code": code, "file": str(published), **document})
        return code
    checked = f"{count(found.marts, 'mart')}, {count(found.leaves, 'digest')}"
    if not found.different:
        print_line(f"Whole: {short(published)}: {checked}")
    else:
        rows = [(leaf.mart, leaf.practice_id, leaf.day) for leaf in found.different[:_SHOWN]]
        print_table(f"Not as published: {short(published)}: {checked}", ("mart", "practice", "day"), rows)
        by_mart = Counter(leaf.mart for leaf in found.different)
        say("different from its digests: " + ", ".join(f"{mart} ({number:,})" for mart, number in by_mart.items()))
    if found.root:
        print_aside(f"root {found.root}")
    if inputs:
        _show_inputs(inputs)
    return code


def _inputs(published: Path, practice: str | None) -> Inputs | None:
    """Return what the private file says; `None` if it is not here, is in use or is not for this account."""
    private = load_settings(needs_secrets=False).warehouse.path
    if not os.access(private, os.R_OK):
        return None
    try:
        return verify_inputs(private, published, practice)
    except WarehouseBusy as busy:
        say(f"the private file is not compared: {busy}")
        return None


def _show_inputs(inputs: Inputs) -> None:
    if inputs.changed or inputs.different:
        rows = [
            (table, practice, f"{number:,} rows are not as they were read")
            for table, practice, number in inputs.changed
        ]
        rows += [(table, practice, "not the rows that were published") for table, practice in inputs.different]
        print_table(
            "The private file has other rows than those that were read", ("table", "practice", "what"), rows
        )
    elif inputs.is_older:
        print_line(f"Its {count(inputs.rows, 'row')} in the private file are as they were read")
        print_aside(
            "the private file was synced after the publication: `vetl build`, then `vetl verify` compares all"
        )
    else:
        print_line(
            f"Built from the {count(inputs.rows, 'row')} of the private file, each as it was read and certified"
        )
