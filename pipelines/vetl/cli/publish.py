"""`vetl publish`: publish the marts, the previous file again, or a file for a group of practices."""

import re
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from vetl import hooks
from vetl.cli.commands import AsJson, Commands, local, zone
from vetl.cli.status import masked_words_in_words
from vetl.cli.terminal import count, mention, print_aside, print_json, print_line, say, short
from vetl.core.errors import WrongUse
from vetl.jobs.build import publish_marts, roll_back_published
from vetl.publishing.copies import extract
from vetl.publishing.last_publication import release as release_hold
from vetl.publishing.publication import Published
from vetl.settings import load_settings
from vetl.settings.core_sections import WEAK_KEY

app = Commands()


@app.command(
    examples="""
        vetl publish
        vetl publish --rollback
        vetl publish --for East"""
)
def publish(
    rollback: Annotated[
        bool | None,
        typer.Option(
            "--rollback/--release", help="Publish the previous file and keep it; publish new files again."
        ),
    ] = None,
    group: Annotated[
        str | None, typer.Option("--for", metavar="GROUP", help="Write a file with the practices of GROUP alone.")
    ] = None,
    target: Annotated[
        Path | None, typer.Option("--to", metavar="FILE", help="With --for: instead of beside the published file.")
    ] = None,
    accept_loss: Annotated[
        bool, typer.Option("--accept-loss", help="Publish also if a mart has lost most of its rows.")
    ] = False,
    as_json: AsJson = False,
) -> int:
    """Replace the published file by the current marts."""
    if group is None and target:
        raise WrongUse("--to is the file of a group: give --for GROUP, too")
    if group is not None:
        if rollback is not None or accept_loss:
            raise WrongUse("--for cannot be combined with --rollback, --release or --accept-loss")
        return _publish_for(group, target, as_json=as_json)
    settings = load_settings()
    if rollback:
        hold = roll_back_published(settings.warehouse)
        if as_json:
            print_json({"exit_code": 0, "path": settings.warehouse.published, **asdict(hold)})
        else:
            mention(f"Rolled back to the file of {local(hold.published_at)} ({zone()}). It stays until")
            mention("`vetl publish --release`; runs until then build the marts, but do not publish them.")
        return 0
    if rollback is False and not release_hold(settings.warehouse.path):
        mention("nothing was rolled back")
    published = publish_marts(settings.warehouse, settings.privacy, accept_loss=accept_loss)
    if as_json:
        print_json({"exit_code": 0, "published": asdict(published)})
    else:
        show_published(published)
    for line in hooks.after_publication(settings):  # it fails no publication
        say(line)
    return 0


def _publish_for(group: str, target: Path | None, *, as_json: bool) -> int:
    settings = load_settings()
    groups = sorted({practice.group for practice in settings.practices if practice.group})
    if group not in groups:
        raise WrongUse(f"--for {group}: no practice has this group; known are {', '.join(groups) or 'none'}")
    published = settings.warehouse.published
    name = re.sub(r"[^a-z0-9]+", "-", group.lower()).strip("-") or "group"
    file = target or published.with_name(f"{published.stem}.{name}{published.suffix}")
    practices = [practice.id for practice in settings.practices if practice.group == group]
    rows = extract(published, file.absolute(), practices)
    if as_json:
        print_json({"exit_code": 0, "path": file, "practices": practices, "tables": rows})
    else:
        mention(f"Wrote {count(len(practices), 'practice')}, {count(sum(rows.values()), 'row')}: {short(file)}")
    return 0


def show_published(published: Published) -> None:
    """Print the number of published marts and rows, and the treatment of personal data."""
    rows = sum(published.tables.values())
    print_line(f"Published {count(len(published.tables), 'mart')}, {count(rows, 'row')}: {short(published.path)}")
    if published.masked:
        print_aside(f"masked: {count(len(published.masked), 'column')} with personal data")
    if published.clear:
        say(f"warning: published in clear, by [privacy] of vetl.toml: {', '.join(published.clear)}")
    if published.weak_key:
        say(f"warning: {WEAK_KEY}")
    if published.masked_words:
        print_aside(masked_words_in_words(published.masked_words))
    for mart in published.left_out:
        say(f"warning: {mart} was left out: no model of vetl builds it")
