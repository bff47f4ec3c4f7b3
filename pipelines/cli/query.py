"""`vetl query`: a statement on the published file, its rows in any format, written as they come."""

import csv
import shutil
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from pydantic_core import to_json

from pipelines import bundled
from pipelines.cli.progress import waiting
from pipelines.cli.questions import statement_of, worked_questions
from pipelines.cli.terminal import count, print_json, print_table
from pipelines.core.errors import WrongUse
from pipelines.core.text import cell, markdown, printable
from pipelines.loading.control.snapshot import refuse_newer
from pipelines.loading.published.query import RowStream, looked_at, query_to_parquet, streamed
from pipelines.settings import load_settings, require_settings

Format = Literal["table", "csv", "json", "parquet", "markdown"]


SHOWN = 40
"""Rows of a table; every other format has all of them."""

_NARROW = 40
"""Characters of a line, at least."""


def query(
    sql: str | None, file: str | None, question: str | None, style: Format, *, private: bool, as_json: bool
) -> int:
    """`vetl query`: the statement, that of a file or of a worked question; without any, a prompt."""
    if sum(given is not None for given in (sql, file, question)) > 1:
        raise WrongUse("give a statement, --file or --question: one of them")
    if question is not None:
        sql = statement_of(question)
    elif file is not None or (sql is None and not sys.stdin.isatty()):
        sql = _read(file or "-")
    require_settings()
    warehouse = load_settings().warehouse
    if private:
        refuse_newer(warehouse.path, bundled.migrations())
    asked = warehouse.path if private else warehouse.published
    if sql is None:
        from pipelines.cli.query_prompt import prompt  # noqa: PLC0415 - readline is not needed for one statement

        prompt(asked, lambda statement: answer(asked, statement, style, as_json=as_json))
    else:
        answer(asked, sql, style, as_json=as_json)
    return 0


def list_questions(*, as_json: bool) -> int:
    """`vetl query --list`: the worked questions by name."""
    questions = worked_questions()
    if as_json:
        print_json({"exit_code": 0, "questions": [asdict(question) for question in questions]})
    else:
        print_table("", ("name", "question"), [(question.name, question.title) for question in questions])
    return 0


def answer(file: Path, sql: str, style: Format, *, as_json: bool) -> None:
    """Ask one statement and write what it answers."""
    if style == "parquet" and not as_json:
        _write_parquet(file, sql)
    elif style == "table" and not as_json:
        _show(file, sql)
    else:
        with ExitStack() as stack:
            with waiting("running"):
                stream = stack.enter_context(streamed(file, sql))
            if as_json:
                sys.stdout.writelines(_one_object(stream))
            else:
                _write(stream, style)


def _read(file: str) -> str:
    """A statement from a file; `-` is standard input."""
    try:
        return sys.stdin.read() if file == "-" else Path(file).read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise WrongUse(f"--file {file}: cannot be read: {getattr(error, 'strerror', 'it is not UTF-8')}") from None


def _show(file: Path, sql: str) -> None:
    """The first rows at once, then how many there are, which may take as long as the statement does."""
    width = max(_NARROW, shutil.get_terminal_size().columns) if sys.stdout.isatty() else None
    with ExitStack() as stack:
        with waiting("running"):
            look = stack.enter_context(looked_at(file, sql, width=width, most=SHOWN))
        sys.stdout.write(printable(look.drawn))
        sys.stdout.flush()
        with waiting("counting the rows"):
            rows = look.count() if look.rows is None else look.rows
    shown = f" ({look.shown} shown; --format csv writes all)" if rows > look.shown else ""
    sys.stdout.write(", ".join(filter(None, (count(rows, "row") + shown, look.columns))) + "\n")


def _write(stream: RowStream, style: Format) -> None:
    match style:
        case "json":
            sys.stdout.writelines(_array(stream))
        case "csv":
            writer = csv.writer(sys.stdout, lineterminator="\n")
            writer.writerow([cell(column) for column in stream.columns])
            for batch in stream.batches:
                writer.writerows([cell(value) for value in row] for row in batch)
        case _:
            sys.stdout.write(markdown(stream.columns, []))
            for batch in stream.batches:
                sys.stdout.write(markdown((), batch))


def _array(stream: RowStream) -> Iterator[str]:
    """One array of objects, by column name."""
    objects = (dict(zip(stream.columns, row, strict=True)) for batch in stream.batches for row in batch)
    yield "["
    yield from _with_commas(objects)
    yield "]\n"


def _one_object(stream: RowStream) -> Iterator[str]:
    """As every command's `--json`: one object."""
    yield f'{{"exit_code":0,"columns":{_json(stream.columns)},"rows":['
    yield from _with_commas(row for batch in stream.batches for row in batch)
    yield "]}\n"


def _with_commas(values: Iterator[Any]) -> Iterator[str]:
    for index, value in enumerate(values):
        yield f",{_json(value)}" if index else _json(value)


def _json(value: object) -> str:
    return to_json(value, inf_nan_mode="null", fallback=str).decode()


def _write_parquet(file: Path, sql: str) -> None:
    """Parquet is written from its end, so it goes through a file."""
    if sys.stdout.isatty():
        raise WrongUse("Parquet is not for a terminal; send it to a file: --format parquet > rows.parquet")
    with TemporaryDirectory() as folder:
        target = Path(folder) / "rows.parquet"
        with waiting("running"):
            query_to_parquet(file, sql, target)
        with target.open("rb") as rows:
            shutil.copyfileobj(rows, sys.stdout.buffer)
        sys.stdout.buffer.flush()
