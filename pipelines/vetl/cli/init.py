"""`vetl init`: write the first settings of a folder."""

import json
import os
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import Annotated

import typer

from vetl import bundled
from vetl.cli.commands import AsJson, Commands
from vetl.cli.terminal import mention, print_json, short, this_command
from vetl.core.errors import ConfigurationError, cannot_write
from vetl.core.zones import known_zone
from vetl.settings.section import http_address
from vetl.settings.sources import DEFAULT_FILE

_SECRETS = """\
# Secrets of vetl; keep this file to its owner (chmod 600) and out of version control.
# VETL_PARTNER__USERNAME=
# VETL_PARTNER__PASSWORD=
# VETL_PARTNER__ROLE=
# VETL_WEBHOOKS__SECRETS=

# With this key, drawn at random, personal data is published as hashes that still join; without it, as null.
# VETL_WAREHOUSE__PII_KEY={key}
"""


_HEAD = """\
# vetl's settings: the ones that people change. A line that is commented out is the default.
# `vetl init --all` in another folder writes every setting with what it does. Secrets stand in `.env`, never here.
"""

_CHANGED = {
    "partner": ("base_url", "requests_per_minute"),
    "warehouse": ("path", "published", "contacts"),
    "phone_calls": ("details",),
    "definitions": ("visit_value", "opening_hours"),
    "schedule": ("start", "hourly"),
    "practices": ("id", "name", "time_zone", "history_start", "group"),
}
"""The settings that people change, by section."""

_IGNORED = """\
.env
warehouse/
*.log
"""


Read = Callable[[str], str]
"""A function that shows a question and returns the typed line; on a terminal, `input`."""

_ADDRESS = re.compile(r'^base_url = ".*"', re.MULTILINE)
_PRACTICE = re.compile(r"^\[\[practices\]\]\n(?:.+\n?)*", re.MULTILINE)

app = Commands()


@dataclass(frozen=True, slots=True)
class FirstAnswers:
    """The address of the platform, and the TOML table of each practice; empty if they were skipped."""

    address: str = ""
    practices: tuple[str, ...] = ()


@app.command(
    examples="""
        vetl init
        vetl -C practices init""",
    needs_settings=False,
)
def init(
    every: Annotated[
        bool, typer.Option("--all", help="Write every setting into vetl.toml, commented out, with what it does.")
    ] = False,
    as_json: AsJson = False,
) -> int:
    """Write vetl.toml, .env and .gitignore; asks on a terminal."""
    target = Path.cwd() / DEFAULT_FILE
    if target.exists():
        raise ConfigurationError(f"{target}: exists already and was not changed")
    example = bundled.example_settings().read_text("utf-8")
    settings = example if every else shortened(example)
    answers = _answers() if sys.stdin.isatty() and not as_json else FirstAnswers()
    if not _write_new(target, filled(settings, answers)):
        raise ConfigurationError(f"{target}: exists already and was not changed")
    secrets, ignored = target.with_name(".env"), target.with_name(".gitignore")
    has_written = _write_new(secrets, _SECRETS.format(key=token_hex(32)))
    has_ignored = _write_new(ignored, _IGNORED)
    if as_json:
        print_json({"exit_code": 0, "path": target, "secrets": secrets if has_written else None})
        return 0
    asked = {"base_url": answers.address, "practices": answers.practices}
    still_open = " and ".join(key for key, answer in asked.items() if not answer)
    mention(f"wrote {short(target)}" + (f"; set {still_open} there" if still_open else ""))
    mention(f"{'wrote' if has_written else 'kept'} {short(secrets)}; set the credentials there")
    mention(f"{'wrote' if has_ignored else 'kept'} {short(ignored)}; secrets and data stay out of version control")
    mention(f"Next: {this_command()} doctor")
    return 0


def _answers() -> FirstAnswers:
    mention("Press Enter to skip a question; vetl.toml can be edited later.")
    try:
        return ask(input, mention)
    except EOFError:
        return FirstAnswers()


def _write_new(target: Path, content: str) -> bool:
    """Write a file that only its owner can read. Return false if the file exists already."""
    try:
        new = os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(new, "w", encoding="utf-8") as file:
            file.write(content)
    except FileExistsError:
        return False
    except OSError as error:
        raise ConfigurationError(cannot_write(target, error)) from None
    return True


def ask(read: Read, say: Callable[[str], object]) -> FirstAnswers:
    """Ask for the address and the practices. An empty line skips a question, except that of a time zone.

    An invalid answer repeats the question.
    """
    address = _ask_until_valid(
        read, say, "Address of the platform, such as https://api.example.com: ", http_address
    )
    practices: list[str] = []
    while identity := read(f"Id of practice {len(practices) + 1} (its X-Client-Id; empty to end): ").strip():
        name = read("  Its name: ").strip() or identity
        zone_question = "  Its time zone, such as America/New_York: "
        while not (zone := _ask_until_valid(read, say, zone_question, known_zone)):
            say("  a time zone is needed: all local times follow from it")
        start = "history_start = 2025-01-01             # how far back the first sync reads"
        keys = {"id": identity, "name": name, "time_zone": zone}
        # A JSON string is a TOML string.
        lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in keys.items()]
        practices.append("\n".join(("[[practices]]", *lines, start)))
    return FirstAnswers(address, tuple(practices))


def shortened(example: str) -> str:
    """Return the lines of the example settings that people change, with their sections."""
    lines, section = [_HEAD.rstrip()], ""
    for line in example.splitlines():
        if head := re.fullmatch(r"\[+([\w.]+)\]+", line):
            section = head[1]
            lines += ["", line] if section in _CHANGED else []
        elif (key := re.match(r"(?:# )?(\w+) = ", line)) and key[1] in _CHANGED.get(section, ()):
            lines.append(line)
    return "\n".join(lines) + "\n"


def filled(example: str, answers: FirstAnswers) -> str:
    """Return the example settings with the answers instead of its address and its practice."""
    text = example
    if answers.address:
        line = f"base_url = {json.dumps(answers.address)}"
        text = _ADDRESS.sub(lambda _: line, text, count=1)
    if answers.practices:
        tables = "\n\n".join(answers.practices) + "\n"
        text = _PRACTICE.sub(lambda _: tables, text, count=1)
    return text


def _ask_until_valid(read: Read, say: Callable[[str], object], question: str, check: Callable[[str], str]) -> str:
    while answer := read(question).strip():
        try:
            return check(answer)
        except ValueError as error:
            say(f"  {error}")
    return ""
