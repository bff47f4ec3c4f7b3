"""The options that several commands share."""

from datetime import datetime
from typing import Annotated

import typer

PASS_THROUGH = {"ignore_unknown_options": True, "allow_extra_args": True, "allow_interspersed_args": False}
"""Whatever follows belongs to the other program."""

AsJson = Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")]
Verbose = Annotated[int, typer.Option("-v", "--verbose", count=True, help="Say more; -vv every request.")]
FullRefresh = Annotated[bool, typer.Option("--full-refresh", help="Build incremental models anew.")]
Practices = Annotated[list[str] | None, typer.Option("--practice", metavar="ID", help="Only this; repeatable.")]
Lists = Annotated[list[str] | None, typer.Option("--endpoint", metavar="NAME", help="Only this; repeatable.")]
Since = Annotated[
    datetime | None,
    typer.Option("--since", formats=["%Y-%m-%d"], metavar="DATE", help="Read what changed since this day again."),
]
