"""Ask the questions of `vetl init`, and put the answers into the settings."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass

from vetl.core.zones import known_zone
from vetl.settings.values import http_address

Read = Callable[[str], str]
"""A function that shows a question and returns the typed line; on a terminal, `input`."""

_ADDRESS = re.compile(r'^base_url = ".*"', re.MULTILINE)
_PRACTICE = re.compile(r"^\[\[practices\]\]\n(?:.+\n?)*", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class FirstAnswers:
    """The address of the platform, empty if it was skipped, and the TOML table of each practice."""

    address: str
    practices: tuple[str, ...]


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
