"""The options of `vetl forget`."""

from typing import Annotated

import typer

from vetl.cli.options import AsJson, Practice, Verbose

Client = Annotated[str, typer.Option("--client", metavar="ID", help="The client's id on the platform.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Count the rows to change; change nothing.")]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask; needed if there is no terminal.")]


def forget(
    practice: Practice,
    client: Client,
    dry_run: DryRun = False,
    yes: Yes = False,
    as_json: AsJson = False,
    verbose: Verbose = 0,
) -> int:
    """Remove a person from everything that vetl keeps."""
    from vetl.cli.forget import forget  # noqa: PLC0415 - not needed for `--help`

    return forget(practice, client, dry_run=dry_run, yes=yes, as_json=as_json, verbosity=verbose)
