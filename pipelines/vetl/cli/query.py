"""`vetl query`: run a statement on the published file and stream its rows in any format."""

import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Literal

import typer

from vetl import bundled
from vetl.cli.commands import AsJson, Commands, Question
from vetl.cli.progress import waiting
from vetl.cli.terminal import count, json_of, print_csv, print_json, print_table
from vetl.core.errors import WrongUse
from vetl.core.text import markdown, printable, text
from vetl.figures.catalogue import statement_of, worked_questions
from vetl.publishing.statements import RowStream, previewed, query_to_parquet, streamed
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
        return _list_questions(as_json=as_json)
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
        refuse_newer(warehouse.path, bundled.migrations())
    database = warehouse.path if private else warehouse.published
    if sql is None:
        from vetl.cli.query_prompt import prompt  # noqa: PLC0415 - readline is not needed for one statement

        def ask(statement: str, *, as_lines: bool) -> None:
            answer(database, statement, "vertical" if as_lines else style, as_json=as_json)

        prompt(database, ask)
    else:
        answer(database, sql, style, as_json=as_json)
    return 0


def _list_questions(*, as_json: bool) -> int:
    questions = worked_questions()
    if as_json:
        print_json({"exit_code": 0, "questions": [asdict(question) for question in questions]})
    else:
        print_table("", ("name", "question"), [(question.name, question.title) for question in questions])
    return 0


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
                sys.stdout.writelines(_one_object(stream))
            else:
                _write_rows(stream, style)


def _read_statement(file: str) -> str:
    """Return the statement in a file; `-` is standard input."""
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
            sys.stdout.writelines(_array(stream))
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


def _array(stream: RowStream) -> Iterator[str]:
    """Yield the text of a JSON array with one object for each row."""
    objects = (dict(zip(stream.columns, row, strict=True)) for row in chain.from_iterable(stream.batches))
    yield "["
    yield from _with_commas(objects)
    yield "]\n"


def _one_object(stream: RowStream) -> Iterator[str]:
    """Yield the text of one JSON object, the form of `--json` for every command."""
    yield f'{{"exit_code":0,"columns":{json_of(stream.columns)},"rows":['
    yield from _with_commas(chain.from_iterable(stream.batches))
    yield "]}\n"


def _with_commas(values: Iterator[Any]) -> Iterator[str]:
    for index, value in enumerate(values):
        yield f",{json_of(value)}" if index else json_of(value)


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
