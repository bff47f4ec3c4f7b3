"""The prompt of `vetl query`, with history and completion. Each statement reads the newest published file."""

import os
import readline
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Protocol

from vetl.cli.terminal import mention, print_table, say, short
from vetl.core.errors import VetlError, WrongUse
from vetl.core.text import nearest
from vetl.figures.catalogue import statement_of, tables_by_subject, worked_questions
from vetl.publishing.statements import tables_and_columns

HELP = """\
A statement ends with ; and may have several lines.
  .tables          list the tables by subject, eight to start with first
  .columns TABLE   list the columns of a table
  .vertical        show one line for each column; repeat it for tables
  .list            list the worked questions
  .question NAME   answer a worked question
  .help            show this help
  exit             leave, as do quit and Ctrl-D
help, \\d, \\d TABLE and \\q are known, too.
Tab completes names. The arrow keys bring back earlier statements.
Ctrl-C stops a running statement, or drops the one being typed."""

COMMANDS = (".tables", ".columns", ".vertical", ".list", ".question", ".help", ".quit")

_LEAVING = frozenset(("exit", "quit", ".exit", ".quit", "\\q"))

_ALIASES = {"help": ".help", "?": ".help", "\\?": ".help", "\\h": ".help", "\\dt": ".tables", "\\d": ".tables"}
"""Words of other shells; `\\d TABLE` is `.columns TABLE`."""

_HISTORY_LENGTH = 1_000
"""The number of statements that the history holds."""

_WORDS = ("select", "from", "where", "group by", "order by", "limit", "join", "using", "count(*)", "summarize")


class Ask(Protocol):
    """A function that runs one statement and writes its rows, in the vertical form if `as_lines` is true."""

    def __call__(self, statement: str, *, as_lines: bool) -> None:
        """Run the statement."""


def prompt(file: Path, ask: Ask) -> None:
    """Run statements until the end of input. If a statement fails, print its error and continue."""
    marts = tables_and_columns(file)
    mention(f"{short(file)}, read-only; end a statement with ; type .help for help, exit to leave")
    history = _history()
    questions = [question.name for question in worked_questions()]
    columns = {column for names in marts.values() for column in names}
    _complete([*_WORDS, *COMMANDS, *questions, *marts, *columns])
    conversation = Conversation(marts, ask)
    try:
        while (typed := _statement()) is not None:
            try:
                conversation.answer(typed)
            except VetlError as error:
                say(str(error), "error")
            except KeyboardInterrupt:
                say("stopped")
    finally:
        with suppress(OSError):  # a prompt works without a history
            history.parent.mkdir(parents=True, exist_ok=True)
            readline.write_history_file(history)


def _statement() -> str | None:
    """Return the input up to a `;`, or a line that begins with a dot. `None` at the end of input."""
    lines: list[str] = []
    while True:
        try:
            lines.append(input("   ... " if lines else "vetl> "))
        except KeyboardInterrupt:
            sys.stdout.write("\n")
            lines = []
            continue
        except EOFError:
            sys.stdout.write("\n")
            return None
        typed = "\n".join(lines).strip()
        if typed.rstrip("; ").lower() in _LEAVING:
            return None
        if not typed:
            lines = []
        elif typed.startswith((".", "\\")) or typed.rstrip("; ").lower() in _ALIASES or typed.endswith(";"):
            return typed


@dataclass
class Conversation:
    """The state of a prompt.

    `marts` has the columns of each mart. `as_lines` is the form of the answers, which `.vertical` changes.
    """

    marts: dict[str, list[str]]
    ask: Ask
    as_lines: bool = False

    def answer(self, typed: str) -> None:
        """Run a statement or a command."""
        command, _, name = typed.rstrip("; ").partition(" ")
        command = ".columns" if command == "\\d" and name.strip() else _ALIASES.get(command.lower(), command)
        match command:
            case ".tables":
                self._list_tables()
            case ".columns":
                print_table("", ("column",), [(column,) for column in self._columns(name.strip())])
            case ".vertical":
                self.as_lines = not self.as_lines
                mention("one line for each column" if self.as_lines else "tables")
            case ".list":
                print_table("", ("name", "question"), [(item.name, item.title) for item in worked_questions()])
            case ".question":
                self.ask(statement_of(name.strip()), as_lines=self.as_lines)
            case ".help":
                sys.stdout.write(f"{HELP}\n")
            case _ if command.startswith((".", "\\")):
                raise WrongUse(f"{command}: there is no such command{nearest(command, COMMANDS)}")
            case _:
                self.ask(typed, as_lines=self.as_lines)

    def _list_tables(self) -> None:
        """Show the tables of the file by subject, those to start with first, each with what a row is."""
        known = [one for one in tables_by_subject() if one[1] in self.marts]
        known += [("Others", name, "") for name in self.marts if name not in {table for _, table, _ in known}]
        for subject, tables in groupby(known, key=itemgetter(0)):
            print_table(subject, ("table", "one row for each"), [(name, words) for _, name, words in tables])

    def _columns(self, mart: str) -> list[str]:
        columns = self.marts.get(mart.rpartition(".")[2])
        if columns is None:
            raise WrongUse(f".columns {mart}: there is no such mart{nearest(mart, self.marts)}")
        return columns


def _history() -> Path:
    """Load the history and return its file. Only its owner may read it, because a statement may name a person."""
    state = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    history = Path(state) / "vetl" / "query_history"
    readline.set_history_length(_HISTORY_LENGTH)
    with suppress(OSError):
        readline.read_history_file(history)
    return history


def _complete(words: Sequence[str]) -> None:
    def completion(typed: str, index: int) -> str | None:
        schema, dot, name = typed.lower().rpartition(".")
        prefix = f"{schema}{dot}" if schema else ""
        begin = name if schema else typed.lower()
        matches = sorted(word for word in words if word.startswith(begin))
        return f"{prefix}{matches[index]}" if index < len(matches) else None

    readline.set_completer(completion)
    readline.set_completer_delims(" \t\n,()=<>;")
    readline.parse_and_bind("tab: complete")
