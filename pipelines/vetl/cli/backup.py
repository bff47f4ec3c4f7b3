"""`vetl backup` and `vetl restore`."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from vetl.cli.commands import AsJson, Commands
from vetl.cli.progress import waiting
from vetl.cli.terminal import count, mention, print_json, print_line, say, short, this_command
from vetl.jobs.backups import MADE_AGAIN, Backup, back_up, restore as put_back
from vetl.settings import load_settings

_MEGABYTE = 1_000_000

app = Commands()


@app.command(examples="vetl backup /backups/2026-01-15")
def backup(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="A new folder, made for its owner alone.")],
    as_json: AsJson = False,
) -> int:
    """Copy all that vetl keeps into a folder, and verify the copy."""
    with waiting("copying"):
        made = back_up(load_settings(), folder)
    if as_json:
        print_json({"exit_code": 0, "backup": asdict(made)})
        return 0
    print_line(f"Backed up and verified: {_summary(made)}")
    mention(f"not in it: {'; '.join(MADE_AGAIN)}")
    return 0


@app.command(examples="vetl restore /backups/2026-01-15")
def restore(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder of a backup.")],
    as_json: AsJson = False,
) -> int:
    """Verify a backup, and put it in the place of what vetl keeps."""
    with waiting("verifying and copying"):
        restored = put_back(load_settings(), folder)
    if as_json:
        print_json({"exit_code": 0, **asdict(restored)})
        return 0
    print_line(f"Verified and restored: {_summary(restored.backup)}")
    for file in restored.stayed:
        mention(f"{short(file)} stays: it knows what came since the backup; move it away to restore it, too")
    if restored.waiting:
        mention(f"{restored.waiting:,} deliveries of webhooks will be drained again")
    say("people that were forgotten since the backup are back: forget them again")
    mention(f"Next: {this_command()} run, then {this_command()} reconcile --full")
    return 0


def _summary(made: Backup) -> str:
    size = sum(file.bytes for file in made.files) / _MEGABYTE
    files = f"{count(len(made.files), 'file')}, {size:,.1f} MB"
    return f"{short(made.folder)}: {files}, of {made.made_at:%Y-%m-%d %H:%M} UTC"
