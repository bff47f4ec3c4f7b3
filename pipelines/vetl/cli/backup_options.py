"""The arguments of `vetl backup` and `vetl restore`."""

from pathlib import Path
from typing import Annotated

import typer

from vetl.cli.options import AsJson


def backup(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="A new folder, made for its owner alone.")],
    as_json: AsJson = False,
) -> int:
    """Copy all that vetl keeps into a folder, and verify the copy."""
    from vetl.cli.backup import backup

    return backup(folder, as_json=as_json)


def restore(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder of a backup.")],
    as_json: AsJson = False,
) -> int:
    """Verify a backup, and put it in the place of what vetl keeps."""
    from vetl.cli.backup import restore

    return restore(folder, as_json=as_json)
