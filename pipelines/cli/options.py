"""The options that several commands share."""

from collections.abc import Sequence
from datetime import datetime
from itertools import islice
from typing import Annotated, Literal

import typer

PASS_THROUGH = {"ignore_unknown_options": True, "allow_extra_args": True, "allow_interspersed_args": False}
"""Whatever follows belongs to the other program."""

AsJson = Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")]
Verbose = Annotated[int, typer.Option("-v", "--verbose", count=True, help="Say more; -vv every request.")]
Rollback = Annotated[bool, typer.Option("--rollback", help="Publish the file of before again.")]
FullRefresh = Annotated[bool, typer.Option("--full-refresh", help="Build incremental models anew.")]
Engine = Annotated[
    Literal["duckdb", "spark"], typer.Option(help="Who builds: DuckDB the private file, Spark the lake.")
]


def _practices(incomplete: str) -> list[str]:
    """Ids of the configured practices, for completion; none where vetl.toml cannot be read."""
    from pipelines.core.errors import ConfigurationError  # noqa: PLC0415 - not needed for `--help`
    from pipelines.settings.sources import Sources  # noqa: PLC0415

    try:
        written = Sources.find(None).read_toml().get("practices", [])
        return [name for item in written if (name := str(item["id"])).startswith(incomplete)]
    except (ConfigurationError, LookupError, TypeError):
        return []


def _lists(incomplete: str) -> list[str]:
    from pipelines.endpoints import REGISTRY  # noqa: PLC0415 - not needed for `--help`

    return [item.name for item in REGISTRY if item.name.startswith(incomplete)]


Practice = Annotated[
    str, typer.Option("--practice", metavar="ID", help="Whose client it is.", autocompletion=_practices)
]
Practices = Annotated[
    list[str] | None,
    typer.Option("--practice", metavar="ID", help="Only this; repeatable.", autocompletion=_practices),
]
Lists = Annotated[
    list[str] | None,
    typer.Option("--endpoint", metavar="NAME", help="Only this; repeatable.", autocompletion=_lists),
]
Since = Annotated[
    datetime | None,
    typer.Option("--since", formats=["%Y-%m-%d"], metavar="DATE", help="Read what changed since this day again."),
]

Browse = Annotated[bool, typer.Option("--open", help="Open it in the browser.")]
Format = Annotated[
    Literal["table", "csv", "json", "parquet", "markdown"],
    typer.Option("--format", help="How to write the rows; a table shows 40 of them."),
]


def options_first(arguments: Sequence[str]) -> list[str]:
    """The options of every command stand before its name for Typer; people write them behind it, too."""
    first: list[str] = []
    rest: list[str] = []
    given = iter(arguments)
    for argument in given:
        if argument in {"dagster", "dbt"} and not rest:
            return [*first, argument, *given]
        if argument in {"--quiet", "-q"} or argument.startswith(("--log-file=", "--log-format=")):
            first.append(argument)
        elif argument in {"--log-file", "--log-format"}:
            first += [argument, *islice(given, 1)]
        else:
            rest.append(argument)
    return first + rest
