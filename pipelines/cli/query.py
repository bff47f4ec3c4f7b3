"""`vetl query`: one statement on the published file, its rows in any format, written as they come."""

import csv
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from pydantic_core import to_json

from pipelines.cli.terminal import print_table
from pipelines.core.errors import WrongUse
from pipelines.core.text import cell, markdown
from pipelines.loading.published.query import Stream, query_to_parquet, streamed
from pipelines.settings import load_settings

Format = Literal["table", "csv", "json", "parquet", "markdown"]


def query(sql: str, style: Format, *, private: bool, as_json: bool) -> int:
    """`vetl query`: one statement on the published file, or on the private one."""
    warehouse = load_settings().warehouse
    file = warehouse.path if private else warehouse.published
    if style == "parquet" and not as_json:
        _write_parquet(file, sql)
        return 0
    with streamed(file, sql) as stream:
        if as_json:
            sys.stdout.writelines(_one_object(stream))
        else:
            _write(stream, style)
    return 0


def _write(stream: Stream, style: Format) -> None:
    match style:
        case "json":
            sys.stdout.writelines(_array(stream))
        case "csv":
            writer = csv.writer(sys.stdout, lineterminator="\n")
            writer.writerow([cell(column) for column in stream.columns])
            for batch in stream.batches:
                writer.writerows([cell(value) for value in row] for row in batch)
        case "markdown":
            sys.stdout.write(markdown(stream.columns, []))
            for batch in stream.batches:
                sys.stdout.write(markdown((), batch))
        case _:
            print_table("", stream.columns, [row for batch in stream.batches for row in batch])


def _array(stream: Stream) -> Iterator[str]:
    """One array of objects, by column name."""
    objects = (dict(zip(stream.columns, row, strict=True)) for batch in stream.batches for row in batch)
    yield "["
    yield from _with_commas(objects)
    yield "]\n"


def _one_object(stream: Stream) -> Iterator[str]:
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
        query_to_parquet(file, sql, target)
        with target.open("rb") as rows:
            shutil.copyfileobj(rows, sys.stdout.buffer)
        sys.stdout.buffer.flush()
