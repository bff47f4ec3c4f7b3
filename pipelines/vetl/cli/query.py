"""`vetl query`: run a statement on the published file and stream its rows in any format."""

import os
import shutil
import sys
import textwrap
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass
from itertools import chain, groupby, islice
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Literal

import typer

from vetl.cli import signals
from vetl.cli.commands import AsJson, Commands, Question
from vetl.cli.progress import waiting
from vetl.cli.terminal import count, json_of, mention, print_csv, print_json, print_table, say, short
from vetl.core.errors import VetlError, WrongUse
from vetl.core.text import markdown, nearest, printable, text
from vetl.figures.catalogue import statement_of, tables_by_subject, worked_questions
from vetl.publishing.statements import RowStream, columns_of, previewed, query_to_parquet, reading, streamed
from vetl.settings import load_settings, require_settings
from vetl.store.notes import refuse_newer

Format = Literal["table", "vertical", "csv", "json", "parquet", "markdown"]


MOST_ROWS = 40
"""Rows of a table and of the vertical form. Every other format has all rows."""

_NARROW = 40
"""The least number of characters in a line."""
_LEAST = 20
"""The least number of characters of a value in a line, even on a narrower terminal."""


app = Commands()


@app.command(
    examples="""
        vetl query
        vetl query "from marts.practices"
        vetl query "select day, calls from marts.practice_daily" --format csv
        vetl query --question missed-hours --sql
        vetl query --file question.sql""",
    needs_settings=False,
)
def query(
    sql: Annotated[str | None, typer.Argument(metavar="SQL", help="SQL to run; omit for a prompt.")] = None,
    file: Annotated[
        str | None, typer.Option("--file", metavar="FILE", help="Read the SQL from FILE; - is standard input.")
    ] = None,
    list_all: Annotated[bool, typer.Option("--list", help="List the worked questions.")] = False,
    question: Question = None,
    show_sql: Annotated[bool, typer.Option("--sql", help="Show the SQL of --question instead.")] = False,
    style: Annotated[
        Format, typer.Option("--format", help="Output format; table and vertical show 40 rows.")
    ] = "table",
    private: Annotated[bool, typer.Option("--private", help="Query the private file instead.")] = False,
    as_json: AsJson = False,
) -> int:
    """Query the published file."""
    if list_all:
        if as_json:
            print_json({"exit_code": 0, "questions": [asdict(one) for one in worked_questions()]})
        else:
            _list_questions()
        return 0
    if sum(source is not None for source in (sql, file, question)) > 1:
        raise WrongUse("give either a statement, --file or --question")
    if show_sql and question is None:
        raise WrongUse("--sql shows the SQL of a worked question: give --question NAME")
    if question is not None:
        sql = statement_of(question)
        if show_sql:
            sys.stdout.write(f"{sql}\n")
            return 0
    elif file is not None or (sql is None and not sys.stdin.isatty()):
        sql = _read_statement(file or "-")
    require_settings(needs_secrets=False)
    warehouse = load_settings(needs_secrets=False).warehouse
    if private:
        refuse_newer(warehouse.path)
    database = warehouse.path if private else warehouse.published
    if sql is None:
        prompt(database, style, as_json=as_json)
    else:
        answer(database, sql, style, as_json=as_json)
    return 0


def _list_questions() -> None:
    print_table("", ("name", "question"), [(question.name, question.title) for question in worked_questions()])


def answer(file: Path, sql: str, style: Format, *, as_json: bool) -> None:
    """Run one statement and write its rows."""
    if style == "parquet" and not as_json:
        _write_parquet(file, sql)
    elif style == "table" and not as_json:
        _show_rows(file, sql)
    else:
        with ExitStack() as stack:
            with waiting("running"):
                stream = stack.enter_context(streamed(file, sql))
            if as_json:
                start = f'{{"exit_code":0,"columns":{json_of(stream.columns)},"rows":['
                sys.stdout.writelines(_json(start, chain.from_iterable(stream.batches), "]}"))
            else:
                _write_rows(stream, style)


def _read_statement(file: str) -> str:
    try:
        return sys.stdin.read() if file == "-" else Path(file).read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise WrongUse(f"--file {file}: cannot be read: {getattr(error, 'strerror', 'it is not UTF-8')}") from None


def _show_rows(file: Path, sql: str) -> None:
    """Write the first rows at once, then count all rows, which may take as long as the statement."""
    width = max(_NARROW, shutil.get_terminal_size().columns) if sys.stdout.isatty() else None
    with ExitStack() as stack:
        with waiting("running"):
            preview = stack.enter_context(previewed(file, sql, width=width, most=MOST_ROWS))
        sys.stdout.write(printable(preview.drawn))
        sys.stdout.flush()
        with waiting("counting the rows"):
            rows = preview.count() if preview.rows is None else preview.rows
    shown = f" ({preview.shown} shown; --format csv writes all)" if rows > preview.shown else ""
    sys.stdout.write(", ".join(filter(None, (count(rows, "row") + shown, preview.columns))) + "\n")


def _write_rows(stream: RowStream, style: Format) -> None:
    match style:
        case "vertical":
            _write_vertical(stream)
        case "json":
            if twice := [name for name, times in Counter(stream.columns).items() if times > 1]:
                raise WrongUse(f"two columns are called {twice[0]}; an object has one: name the other by `as`")
            objects = (dict(zip(stream.columns, row, strict=True)) for row in chain.from_iterable(stream.batches))
            sys.stdout.writelines(_json("[", objects, "]"))
        case "csv":
            print_csv(stream.columns, chain.from_iterable(stream.batches))
        case _:
            sys.stdout.write(markdown(stream.columns, []))
            for batch in stream.batches:
                sys.stdout.write(markdown((), batch))


def _write_vertical(stream: RowStream) -> None:
    rows = list(islice(chain.from_iterable(stream.batches), MOST_ROWS + 1))
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    sys.stdout.writelines(_vertical(stream.columns, rows[:MOST_ROWS], width))
    more = (
        f"the first {MOST_ROWS} rows; --format csv writes all"
        if len(rows) > MOST_ROWS
        else count(len(rows), "row")
    )
    sys.stdout.write(f"{more}\n")


def _json(before: str, values: Iterable[object], after: str) -> Iterator[str]:
    """Yield the text of one JSON value, its parts as they come."""
    yield before
    for index, value in enumerate(values):
        yield f",{json_of(value)}" if index else json_of(value)
    yield f"{after}\n"


def _write_parquet(file: Path, sql: str) -> None:
    """Write Parquet to standard output, through a file because DuckDB cannot write Parquet to a pipe."""
    if sys.stdout.isatty():
        raise WrongUse(
            "Parquet cannot be shown on a terminal; write it to a file: --format parquet > rows.parquet"
        )
    with TemporaryDirectory() as folder:
        target = Path(folder) / "rows.parquet"
        with waiting("running"):
            query_to_parquet(file, sql, target)
        with target.open("rb") as rows:
            shutil.copyfileobj(rows, sys.stdout.buffer)
        sys.stdout.buffer.flush()


def _vertical(columns: Sequence[str], rows: Iterable[Sequence[object]], width: int | None) -> Iterator[str]:
    """Yield the text of each row. Without `width`, no value is wrapped."""
    names = [text(column) for column in columns]
    longest = max((len(name) for name in names), default=0)
    for number, row in enumerate(rows, 1):
        lines = [f"row {number}"]
        for name, value in zip(names, row, strict=True):
            lines += _wrapped(f"  {name:{longest}}  ", text(value), width)
        yield "\n".join(line.rstrip() for line in lines) + "\n"


def _wrapped(label: str, value: str, width: int | None) -> list[str]:
    """Return the lines of one value: the first begins with the label, the others with as many spaces."""
    lines = value.splitlines() or [""]
    if width:
        room = max(_LEAST, width - len(label))
        lines = [part for line in lines for part in textwrap.wrap(line, room) or [""]]
    return [f"{label if index == 0 else ' ' * len(label)}{line}" for index, line in enumerate(lines)]


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


def prompt(file: Path, style: Format, *, as_json: bool) -> None:
    """Run statements until the end of input. If a statement fails, print its error and continue."""
    import readline  # noqa: PLC0415 - not needed for one statement

    with reading(file) as read:
        marts = columns_of(read)
    mention(f"{short(file)}, read-only; end a statement with ; type .help for help, exit to leave")
    history = _history()
    questions = [question.name for question in worked_questions()]
    columns = {column for names in marts.values() for column in names}
    _complete([*_WORDS, *COMMANDS, *questions, *marts, *columns])
    conversation = Conversation(file, marts, style, as_json)
    try:
        while (typed := _statement()) is not None:
            signals.forget()
            try:
                conversation.answer(typed)
            except VetlError as error:
                say(str(error), "error")
            except (KeyboardInterrupt, RuntimeError):  # the latter is DuckDB's at the beginning of a statement
                if not signals.is_interrupted():
                    raise
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

    file: Path
    marts: Mapping[str, Collection[str]]
    style: Format
    as_json: bool
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
                _list_questions()
            case ".question":
                self._ask(statement_of(name.strip()))
            case ".help":
                sys.stdout.write(f"{HELP}\n")
            case _ if command.startswith((".", "\\")):
                raise WrongUse(f"{command}: there is no such command{nearest(command, COMMANDS)}")
            case _:
                self._ask(typed)

    def _ask(self, statement: str) -> None:
        answer(self.file, statement, "vertical" if self.as_lines else self.style, as_json=self.as_json)

    def _list_tables(self) -> None:
        """Show the tables of the file by subject, those to start with first, each with what a row is."""
        known = [one for one in tables_by_subject() if one[1] in self.marts]
        known += [("Others", name, "") for name in self.marts if name not in {table for _, table, _ in known}]
        for subject, tables in groupby(known, key=itemgetter(0)):
            print_table(subject, ("table", "one row for each"), [(name, words) for _, name, words in tables])

    def _columns(self, mart: str) -> Collection[str]:
        columns = self.marts.get(mart.rpartition(".")[2])
        if columns is None:
            raise WrongUse(f".columns {mart}: there is no such mart{nearest(mart, self.marts)}")
        return columns


def _history() -> Path:
    """Load the history and return its file. Only its owner may read it, because a statement may name a person."""
    import readline  # noqa: PLC0415 - not needed for one statement

    state = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    history = Path(state) / "vetl" / "query_history"
    readline.set_history_length(_HISTORY_LENGTH)
    with suppress(OSError):
        readline.read_history_file(history)
    return history


def _complete(words: Sequence[str]) -> None:
    import readline  # noqa: PLC0415 - not needed for one statement

    def completion(typed: str, index: int) -> str | None:
        schema, dot, name = typed.lower().rpartition(".")
        prefix = f"{schema}{dot}" if schema else ""
        begin = name if schema else typed.lower()
        matches = sorted(word for word in words if word.startswith(begin))
        return f"{prefix}{matches[index]}" if index < len(matches) else None

    readline.set_completer(completion)
    readline.set_completer_delims(" \t\n,()=<>;")
    readline.parse_and_bind("tab: complete")
