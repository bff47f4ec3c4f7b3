"""The arguments of the commands about figures and their proof: `explain`, `mcp`, `metric` and `verify`."""

from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

import typer

from vetl.cli.options import AsJson

By = Annotated[
    list[str] | None, typer.Option("--by", metavar="NAMES", help="Split by these dimensions: practice,week.")
]
Where = Annotated[
    list[str] | None,
    typer.Option(
        "--where", metavar="DIMENSION=VALUE", help="Count only such rows; also != < <= > >=; repeatable."
    ),
]
Since = Annotated[
    datetime | None, typer.Option("--since", formats=["%Y-%m-%d"], metavar="DATE", help="The first day.")
]
Until = Annotated[
    datetime | None, typer.Option("--until", formats=["%Y-%m-%d"], metavar="DATE", help="The last day.")
]
Style = Annotated[Literal["table", "csv"], typer.Option("--format", help="Output format.")]
OtherFile = Annotated[
    Path | None, typer.Option("--file", metavar="FILE", help="Read this published file; needs no settings.")
]


def metric(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="The metric; omit to list all.")] = None,
    by: By = None,
    where: Where = None,
    since: Since = None,
    until: Until = None,
    file: OtherFile = None,
    style: Style = "table",
    as_json: AsJson = False,
) -> int:
    """Answer by metric; a rate comes with its counts."""
    from vetl.cli import metric as command
    from vetl.loading.published.figures.ask import MetricQuestion

    if name is None:
        return command.list_metrics(file, as_json=as_json)
    split = [part.strip() for text in by or () for part in text.split(",") if part.strip()]
    question = MetricQuestion(name, split, where or (), since and since.date(), until and until.date())
    return command.metric(file, question, as_csv=style == "csv", as_json=as_json)


def mcp(
    practice: Annotated[
        list[str] | None,
        typer.Option("--practice", metavar="ID", help="Only the data of this practice; repeatable."),
    ] = None,
    user: Annotated[
        str | None, typer.Option("--user", metavar="NAME", help="Only the data of this user of [dashboard].")
    ] = None,
    rows: Annotated[int, typer.Option("--rows", min=1, max=10_000, help="The most rows in an answer.")] = 200,
    http: Annotated[bool, typer.Option("--http", help="Over HTTP on this machine, not stdio.")] = False,
    port: Annotated[int | None, typer.Option(min=1, max=65535, help="Instead of assistant.port.")] = None,
    file: OtherFile = None,
) -> int:
    """Serve the metrics to an assistant (MCP)."""
    from vetl.cli import assistant

    return assistant.serve(file, practice, user, most=rows, http=http, port=port)


def verify(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", help="A published file; that of the settings if none is given."),
    ] = None,
    practice: Annotated[str | None, typer.Option("--practice", metavar="ID", help="Only this practice.")] = None,
    day: Annotated[
        datetime | None, typer.Option("--day", formats=["%Y-%m-%d"], metavar="DATE", help="Only this day.")
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Check that no value of a published file was changed."""
    from vetl.cli import verify as command

    return command.verify(file, practice, day and day.date(), as_json=as_json)


def explain(
    figure: Annotated[
        str | None, typer.Argument(metavar="MART.COLUMN", help="The figure; omit to list what can be explained.")
    ] = None,
    practice: Annotated[str | None, typer.Option("--practice", metavar="ID", help="Of this practice.")] = None,
    day: Annotated[
        datetime | None,
        typer.Option("--day", formats=["%Y-%m-%d"], metavar="DATE", help="Of this day, or its week."),
    ] = None,
    where: Where = None,
    file: OtherFile = None,
    style: Style = "table",
    as_json: AsJson = False,
) -> int:
    """Show the rows that a figure counts, and what proves them."""
    from dataclasses import replace

    from vetl.cli import explain as command

    if figure is None:
        return command.list_columns(file, as_json=as_json)
    question = replace(command.question_about(figure, practice), day=day and day.date(), where=where or ())
    return command.explain_cell(file, question, as_csv=style == "csv", as_json=as_json)
