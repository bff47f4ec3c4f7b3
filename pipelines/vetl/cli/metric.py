"""`vetl metric`: answer a question by metric from a published file."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from vetl import settings
from vetl.cli import terminal
from vetl.cli.commands import AsJson, Commands, OtherFile, Style, Where, day_option
from vetl.cli.terminal import TableColumn, count, short
from vetl.core.text import text
from vetl.figures.ask import MetricAnswer, MetricQuestion, ask, dimensions_of, list_of
from vetl.figures.catalogue import Metric
from vetl.figures.evidence import Evidence

_NOTES = 10
"""Notes below the table; `--json` has all."""

AllEvidence = Annotated[
    bool, typer.Option("--evidence", help="Show what proves the answer list by list, and what may change it.")
]

app = Commands()


def published_file(file: Path | None) -> Path:
    """Return the file that was named, or the published file of the settings."""
    return file or settings.published_file()


@app.command(
    examples="""
        vetl metric
        vetl metric intent_rate --by practice,week --where direction=inbound
        vetl metric calls --by day --since 2026-01-01 --format csv""",
    needs_settings=False,
)
def metric(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="The metric; omit to list all.")] = None,
    by: Annotated[
        list[str] | None,
        typer.Option("--by", metavar="NAMES", help="Split by these, with commas: practice,week."),
    ] = None,
    where: Where = None,
    since: Annotated[datetime | None, day_option("--since", "The first day.")] = None,
    until: Annotated[datetime | None, day_option("--until", "The last day.")] = None,
    file: OtherFile = None,
    evidence: AllEvidence = False,
    style: Style = "table",
    as_json: AsJson = False,
) -> int:
    """Ask for a metric by name; a rate comes with its counts."""
    if name is None:
        return _list_metrics(file, as_json=as_json)
    split = [part.strip() for text in by or () for part in text.split(",") if part.strip()]
    question = MetricQuestion(name, split, where or (), since and since.date(), until and until.date())
    published = published_file(file)
    answer = ask(published, question)
    if as_json:
        rows = [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]
        document = {**asdict(answer), "columns": answer.columns, "rows": rows}
        terminal.print_json({"exit_code": 0, "file": str(published), **document})
    elif style == "csv":
        terminal.print_csv(answer.columns, answer.rows)
    else:
        _show_answer(published, question, answer, evidence=evidence)
    return 0


def _list_metrics(file: Path | None, *, as_json: bool) -> int:
    metrics = list_of(published_file(file))
    if as_json:
        terminal.print_json({"exit_code": 0, "metrics": [asdict(metric) for metric in metrics.values()]})
        return 0
    subjects: dict[tuple[str, tuple[str, ...]], list[Metric]] = {}
    for metric in metrics.values():
        subjects.setdefault((metric.mart, tuple(dimensions_of(metrics, metric))), []).append(metric)
    columns = ("metric", "words", TableColumn("unit", 1))
    for (mart, dimensions), some in subjects.items():
        rows = [(metric.name, metric.words, metric.unit) for metric in some]
        terminal.print_table(f"Counted in {mart}, by {', '.join(dimensions)}", columns, rows)
    return 0


def _show_answer(file: Path, question: MetricQuestion, answer: MetricAnswer, *, evidence: bool) -> None:
    metric = answer.metric
    rows = [[round(value, 3) if isinstance(value, float) else value for value in row] for row in answer.rows]
    bounds = (f" {word} {day}" for word, day in (("since", question.since), ("until", question.until)) if day)
    named = {"numerator": metric.numerator, "denominator": metric.denominator}
    columns = [named.get(column) or column for column in answer.columns]
    terminal.print_table(f"{metric.words} ({metric.unit}){''.join(bounds)}", columns, rows)
    terminal.print_line(f"{metric.name}: {metric.definition}")
    for note in answer.notes[:_NOTES]:
        terminal.print_aside(note)
    if not evidence:
        terminal.print_aside(in_one_line(answer.evidence, answer.doubts))
        return
    adding = "" if metric.additive else "; values do not add up"
    terminal.print_aside(f"{short(file)}; {metric.maturity}{adding}")
    show_evidence(answer.evidence)
    for doubt in answer.doubts:
        terminal.print_aside(doubt)


def in_one_line(evidence: Sequence[Evidence], doubts: Sequence[str]) -> str:
    """Return whether rows may be missing, how many lists are certified, and how many doubts are not shown."""
    certified = [item.certified_through for item in evidence if item.certified_through]
    if not evidence:
        proven = "no list is behind it"
    elif len(certified) == len(evidence):
        proven = f"whole through {min(certified):%Y-%m-%d}, {count(len(evidence), 'list')} certified"
    else:
        proven = f"{len(evidence) - len(certified)} of {count(len(evidence), 'list')} not certified"
    held = sum(item.quarantined_rows for item in evidence)
    quarantine = f", {count(held, 'row')} in quarantine" if held else ""
    more = f" and {count(len(doubts), 'doubt')}" if doubts else ""
    return f"{proven}{quarantine} (--evidence shows each list{more})"


def show_evidence(evidence: Sequence[Evidence]) -> None:
    """Print a line for each list: its freshness and its certificate."""
    for item in evidence:
        through = (
            f"nothing is missing through {text(item.certified_through)} (certified)"
            if item.certified_through
            else "not certified"
        )
        held = f", {item.quarantined_rows:,} in quarantine" if item.quarantined_rows else ""
        counts = f"{item.warehouse_count:,} rows in all{held}"
        terminal.print_aside(
            f"{item.practice_id} {item.endpoint}: synced at {text(item.as_of)}, {through}, {counts}"
        )
