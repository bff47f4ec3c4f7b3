"""`vetl explain`: the rows behind a cell of a mart, and the evidence for them."""

import os
from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import datetime
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Any

import typer

from vetl.cli import terminal
from vetl.cli.commands import AsJson, Commands, OtherFile, Style, Where, day_option
from vetl.cli.metric import AllEvidence, in_one_line, published_file, show_evidence
from vetl.cli.terminal import Columns, TableColumn, count, say
from vetl.core.errors import WarehouseBusy, WrongUse
from vetl.core.published_file import schema_of
from vetl.core.text import text
from vetl.figures.evidence import MovedRow, WindowRead, moved_rows, reads_of
from vetl.figures.explanation import CellQuestion, Explanation, explain as look_up, explainable
from vetl.settings import load_settings

_SHOWN = 40
"""Rows of the table; `--format csv` and `--json` have all."""

WINDOWS: Columns[WindowRead] = {
    "list": attrgetter("endpoint"),
    TableColumn("kind", 3): attrgetter("kind"),
    TableColumn("from", 1): lambda read: _bound(read.window_start),
    TableColumn("to", 1): lambda read: _bound(read.window_end),
    "total": attrgetter("total"),
    "rows": attrgetter("rows"),
    "state": lambda read: "certified" if read.is_certified else "uncertified",
    TableColumn("evidence", 2): attrgetter("reason"),
    TableColumn("read at", 4): attrgetter("finished_at"),
}

app = Commands()


@app.command(
    examples="""
        vetl explain
        vetl explain practice_daily.calls --practice loc-001 --day 2026-01-12
        vetl explain practice_daily.calls --day 2026-01-12 --format csv""",
    needs_settings=False,
)
def explain(
    figure: Annotated[
        str | None, typer.Argument(metavar="MART.COLUMN", help="The figure; omit to list what can be explained.")
    ] = None,
    practice: Annotated[
        str | None, typer.Option("--practice", metavar="ID", help="Of this practice alone.")
    ] = None,
    day: Annotated[datetime | None, day_option("--day", "Of this day, or of the week or month with it.")] = None,
    where: Where = None,
    file: OtherFile = None,
    evidence: AllEvidence = False,
    style: Style = "table",
    as_json: AsJson = False,
) -> int:
    """Show the rows that a figure counts, and what proves them."""
    if figure is None:
        return _list_columns(file, as_json=as_json)
    published = published_file(file)
    question = replace(question_about(published, figure, practice), day=day and day.date(), where=where or ())
    found = look_up(published, question)
    reads, moved = ([], []) if file else _of_the_private_file(question, found)
    code = 0 if found.agrees else 1
    if as_json:
        rows = [dict(zip(found.columns, row, strict=True)) for row in found.rows]
        private = {"reads": [asdict(read) for read in reads], "moved": [asdict(row) for row in moved]}
        terminal.print_json({"exit_code": code, **asdict(found), "rows": rows, **private})
    elif style == "csv":
        terminal.print_csv(found.columns, found.rows)
    else:
        _show_explanation(found)
        if evidence:
            _show_evidence(found, reads, moved)
        else:
            terminal.print_aside(in_one_line(found.certificates, found.may_change))
    if code:
        say(f"the rows give {text(found.recounted)}, the mart has {text(found.value)}: the file was changed")
    return code


def _list_columns(file: Path | None, *, as_json: bool) -> int:
    columns = explainable(published_file(file))
    if as_json:
        terminal.print_json(
            {"exit_code": 0, "columns": [{"mart": mart, "column": name} for mart, name in columns]}
        )
    else:
        terminal.print_table("", ("mart", "column"), columns)
    return 0


def question_about(file: Path, figure: str, practice: str | None) -> CellQuestion:
    """Return the question about a figure such as `booking_intent_daily.calls`."""
    mart, dot, column = figure.removeprefix("marts.").removeprefix("meta.").partition(".")
    if not (mart and dot and column):
        named = ", ".join(f"{mart}.{column}" for mart, column in explainable(file, figure))
        example = f"a mart and a column, such as {named or 'booking_intent_daily.calls'}"
        raise WrongUse(f"{figure}: must be {example}; `vetl explain` lists them")
    return CellQuestion(mart, column, practice)


def _of_the_private_file(
    question: CellQuestion, found: Explanation
) -> tuple[Sequence[WindowRead], Sequence[MovedRow]]:
    """Return the reads behind a figure of a day and the rows that moved it.

    Both are empty if the private file is not here, is in use or is not for this account.
    """
    private = load_settings(needs_secrets=False).warehouse.path
    practices = {item.practice_id for item in found.certificates}
    if len(practices) != 1 or question.day is None or not os.access(private, os.R_OK):
        return [], []
    (practice_id,) = practices
    try:
        reads = reads_of(private, found.metric.lists, practice_id, question.day)
        has_moved = any(item.reported != item.now for item in found.revisions)
        moved = moved_rows(private, question.mart, practice_id, question.day) if has_moved else []
    except WarehouseBusy as busy:
        say(f"the reads are not shown: {busy}")
        return [], []
    return reads, moved


def _rounded(value: Any) -> Any:  # noqa: ANN401 - the value of any column
    """Return a value as precise as somebody reads it; `--format csv` and `--json` have all digits."""
    if isinstance(value, datetime):
        return value.replace(microsecond=0)
    return round(value, 4) if isinstance(value, float) else value


def _bound(bound: str | None) -> str:
    return f"{bound[:10]} {bound[11:16]}Z" if bound and len(bound) > len("2026-01-12") else bound or ""


def _titled(found: Explanation) -> str:
    """Return how many rows give which value; of a rate how many are in each of its counts."""
    source, value = f"{schema_of(found.metric.mart)}.{found.metric.mart}", text(_rounded(found.recounted))
    if found.metric.aggregation != "ratio":
        keys = " different keys" if found.metric.aggregation == "distinct" else ""
        gives = "gives" if len(found.rows) == 1 else "give"
        return f"{count(len(found.rows), 'row')} of {source} {gives} {value}{keys}"
    top = sum(row[0] == "numerator" for row in found.rows)
    counts = f"{count(top, 'row')} in the numerator and {len(found.rows) - top:,} in the denominator"
    return f"{counts} give {value}: {source}"


def _distinguishing(found: Explanation) -> list[str]:
    """Return the columns that distinguish rows or are counted, without columns that are empty or 1 in each row."""
    rate, distinct = found.metric.aggregation == "ratio", found.metric.aggregation == "distinct"
    values = {name: {row[place] for row in found.rows} for place, name in enumerate(found.columns)}
    # Many counts count ids that are not null, and the row has its id already.
    is_number = all(isinstance(value, int | float) for value in values["counts"]) and not values["counts"] <= {1}
    shown = {"count": rate, "counts": distinct or is_number}
    return [name for name in found.columns if shown.get(name, True) and values[name] - {None}]


def _ranked(found: Explanation, names: Sequence[str]) -> list[TableColumn]:
    """Return the columns in the order in which a narrow terminal hides them: equal values first.

    The id of the row and what is counted are never hidden; the hours of the practice's clock come next.
    """
    values = {name: [row[place] for row in found.rows] for place, name in enumerate(found.columns)}
    ids = [name for name in names if name.endswith("_id") and name != "practice_id"]
    ids += [name for name in names if name.endswith("_key")]
    own_id = next(iter((*(name for name in ids if all(values[name])), *ids)), "")  # the platform's if all have one
    local = next((name for name in names if name.endswith("_at_local")), None)

    def rank(name: str) -> int:
        if name in {own_id, "count", "counts"}:
            return 0
        if len(found.rows) > 1 and len(set(values[name])) == 1:
            return 4
        is_other = name.endswith(("_id", "_key", "created_at")) or f"{name}_local" in names
        return 1 if name == local else 3 if is_other else 2

    title = "key" if found.metric.aggregation == "distinct" else "counts"
    return [
        TableColumn(
            title if name == "counts" else name,
            rank(name),
            max((len(text(_rounded(value))) for value in values[name]), default=0),
        )
        for name in names
    ]


def _show_explanation(found: Explanation) -> None:
    terminal.print_line(f"{found.mart}.{found.column}: {text(_rounded(found.value))} ({found.unit})")
    terminal.print_aside(found.definition)
    is_median = found.metric.aggregation == "median"
    first = max(len(found.rows) - _SHOWN, 0) // 2 if is_median else 0
    which = f"{_SHOWN} around the middle" if is_median else f"{_SHOWN}"
    hidden = f" ({which} shown; --format csv writes all)" if len(found.rows) > _SHOWN else ""
    names = _distinguishing(found)
    places = [found.columns.index(name) for name in names]
    rows = [[_rounded(row[place]) for place in places] for row in found.rows[first : first + _SHOWN]]
    terminal.print_table(_titled(found) + hidden, _ranked(found, names), rows)


def _show_evidence(found: Explanation, reads: Sequence[WindowRead], moved: Sequence[MovedRow]) -> None:
    show_evidence(found.certificates)
    if reads:
        terminal.print_items("The windows that were read for this day", WINDOWS, reads)
    for item in found.revisions:
        said = (
            "no report was possible"
            if item.reported is None
            else f"a report the day after could show {item.reported:,}"
        )
        terminal.print_aside(f"{item.day}: {said}, now {item.now:,}")
    if moved:
        cells = [(row.id, row.reported, row.now) for row in moved[:_SHOWN]]
        terminal.print_table(f"{count(len(moved), 'row')} changed since", ("id", "in the report", "now"), cells)
    for line in found.may_change or ("nothing that vetl knows of will change it",):
        terminal.print_aside(line)
