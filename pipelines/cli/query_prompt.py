"""`vetl query` alone: a prompt with history and completion, on the file as it is at each statement."""

import os
import readline
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from pipelines.cli.questions import statement_of, worked_questions
from pipelines.cli.terminal import mention, print_table, say, short
from pipelines.core.errors import VetlError
from pipelines.loading.published.query import tables_and_columns

HELP = """\
A statement ends with ; and may have more lines. Tab completes names, the arrows bring back a statement.
.tables  the marts          .columns MART  its columns        .quit  leaves, as Ctrl-D does
.list  worked questions     .question NAME  answers one       Ctrl-C  ends a statement, or drops what is typed"""

_KEPT = 1_000
"""Statements of the history."""

_WORDS = ("select", "from", "where", "group by", "order by", "limit", "join", "using", "count(*)", "summarize")


def prompt(file: Path, ask: Callable[[str], None]) -> None:
    """Ask statements until the end of input. What is wrong with one is told, and the next is waited for."""
    marts = tables_and_columns(file)
    mention(f"{short(file)}, read-only; end a statement with ; and leave with .quit; .help tells more")
    history = _history()
    _complete([*_WORDS, *marts, *{column for columns in marts.values() for column in columns}])
    try:
        while (typed := _statement()) is not None:
            try:
                _answer(typed, marts, ask)
            except VetlError as error:
                say(str(error), "error")
            except KeyboardInterrupt:
                say("ended")
    finally:
        with suppress(OSError):  # then the next prompt begins without it
            history.parent.mkdir(parents=True, exist_ok=True)
            readline.write_history_file(history)


def _statement() -> str | None:
    """What was typed up to a `;`, or a line that begins with a dot; none at the end of input."""
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
        if not typed:
            lines = []
        elif typed.startswith(".") or typed.endswith(";"):
            return None if typed in {".quit", ".exit"} else typed


def _answer(typed: str, marts: dict[str, list[str]], ask: Callable[[str], None]) -> None:
    command, _, name = typed.partition(" ")
    match command:
        case ".tables":
            print_table("", ("mart", "columns"), [(mart, len(columns)) for mart, columns in marts.items()])
        case ".columns":
            print_table("", ("column",), [(column,) for column in marts.get(name.strip(), ())])
        case ".list":
            print_table("", ("name", "question"), [(item.name, item.title) for item in worked_questions()])
        case ".question":
            ask(statement_of(name.strip()))
        case _ if command.startswith("."):
            sys.stdout.write(f"{HELP}\n")
        case _:
            ask(typed)


def _history() -> Path:
    """What was asked before, for its owner alone: a statement may quote a person."""
    state = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    history = Path(state) / "vetl" / "query_history"
    readline.set_history_length(_KEPT)
    with suppress(OSError):
        readline.read_history_file(history)
    return history


def _complete(words: Sequence[str]) -> None:
    def completed(begun: str, index: int) -> str | None:
        matches = sorted(word for word in words if word.startswith(begun.lower()))
        return matches[index] if index < len(matches) else None

    readline.set_completer(completed)
    readline.set_completer_delims(" \t\n,()=<>;.")
    readline.parse_and_bind("tab: complete")
