"""The worked questions, read from the page that shows them to analysts."""

import re
from dataclasses import dataclass

from vetl import bundled
from vetl.core.errors import WrongUse
from vetl.core.text import nearest

WORKED = re.compile(r"(### \d+\. ([^\n]+)\n\n`([\w-]+)`[^#]*?```sql\n([^`]+)```\n\n)((?:\|[^\n]*\n)+)")
"""A heading with the question, its name, its statement, and the output as a Markdown table."""

_SUBJECT = re.compile(r"### ([^\n]+)\n\n\| table \|[^\n]+\n\|---\|---\|\n((?:\|[^\n]+\n)+)")
_TABLES = re.compile(r"\| (`[^|]+`) \| ([^\n]+) \|\n")


def tables_by_subject() -> list[tuple[str, str, str]]:
    """Return the tables of `warehouse/README.md` in its order: the subject, the table, and what a row is."""
    page = bundled.analysts_page().read_text("utf-8")
    return [
        (subject, name, words.replace("`", ""))
        for subject, lines in _SUBJECT.findall(page)
        for names, words in _TABLES.findall(lines)
        for name in re.findall(r"`\w+\.(\w+)`", names)
    ]


@dataclass(frozen=True, slots=True)
class Question:
    """The question of a manager (`title`), its SQL statement, and the output on the page."""

    name: str
    title: str
    statement: str
    output: str


def worked_questions(page: str | None = None) -> list[Question]:
    """Return the questions of `warehouse/README.md`, in its order."""
    text = bundled.analysts_page().read_text("utf-8") if page is None else page
    return [Question(name, title, statement, output) for _, title, name, statement, output in WORKED.findall(text)]


def statement_of(name: str) -> str:
    """Return the statement of the question with this name."""
    statements = {question.name: question.statement for question in worked_questions()}
    if name not in statements:
        hint = nearest(name, statements, "`vetl query --list` names them")
        raise WrongUse(f"--question {name}: there is no such question{hint}")
    return statements[name]
