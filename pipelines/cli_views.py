"""What each command shows when it is done."""

import csv
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from pipelines.dbt_process import BuildResult
from pipelines.drain_job import DrainResult
from pipelines.errors import WrongUse
from pipelines.loading.publish import Published
from pipelines.loading.query import Answer, query, query_to_parquet
from pipelines.results import EndpointResult, SyncResult
from pipelines.terminal import print_json, print_table, say, text

Format = Literal["table", "csv", "json", "parquet", "markdown"]


def show_sync(result: SyncResult) -> None:
    """One line for each list of each practice; what is not as it should be, below it."""
    print_table(
        f"Synced, source clock {text(result.source_clock)}",
        ("practice", "list", "state", "rows", "new", "changed", "deleted", "requests", "certified through"),
        [_sync_row(item) for item in result.results],
    )
    for item in result.results:
        where = f"{item.practice_id} {item.endpoint}"
        if item.state != "certified":
            say(f"{where}: {item.state}: {item.reason}")
        if item.changes.quarantined:
            say(f"{where}: {item.changes.quarantined} rows quarantined")
        for note in item.notes:
            say(f"{where}: {note}")


def _sync_row(item: EndpointResult) -> tuple[object, ...]:
    changes = item.changes
    return (
        *(item.practice_id, item.endpoint, item.state, item.rows),
        *(changes.inserted, changes.updated, changes.deleted),
        *(item.requests, item.certified_through),
    )


def show_drain(result: DrainResult) -> None:
    """What the inbox brought, and what could not be caught up."""
    changes = result.changes
    print_table(
        "Drained",
        ("deliveries", "asked by id", "new", "changed", "unchanged", "quarantined"),
        [
            (
                *(result.deliveries, result.asked, changes.inserted, changes.updated),
                *(changes.unchanged, changes.quarantined),
            )
        ],
    )
    for note in (*result.notes, *changes.drift):
        say(note)


def show_build(result: BuildResult) -> None:
    """What dbt did; failing nodes and warnings in one line each."""
    for warning in result.warnings:
        say(f"warning: {warning}")
    for failure in result.failures:
        say(f"failed: {failure}")
    print_table(
        "Built",
        ("succeeded", "warnings", "failed", "skipped", "seconds"),
        [(result.succeeded, len(result.warnings), len(result.failures), result.skipped, result.seconds)],
    )


def show_published(published: Published) -> None:
    """The rows of each mart, and how personal data was treated."""
    print_table(f"Published {published.path}", ("mart", "rows"), list(published.tables.items()))
    if published.masked:
        say(f"{len(published.masked)} columns with personal data are masked")
    for mart in published.left_out:
        say(f"warning: {mart} was left out: nobody has said which of its columns are personal")


def show_status(warehouse: Path, lists: Sequence[Mapping[str, Any]]) -> None:
    """One line for each list of each practice."""
    columns = (
        *("practice", "list", "rows", "open", "certified through", "last read", "last window", "evidence"),
        *("quarantined", "restated", "drift"),
    )
    print_table(str(warehouse), columns, [_status_row(item) for item in lists])


def _status_row(item: Mapping[str, Any]) -> tuple[object, ...]:
    certificate = item["certificate"] or {}
    verdict = {True: "certified", False: "uncertified", None: None}[certificate.get("certified")]
    return (
        *(item["practice_id"], item["endpoint"], item["rows"], item["open"], item["certified_through"]),
        *(item["last_read"], verdict, certificate.get("reason")),
        *(item["quarantined"], item["restated"], "; ".join(item["drift"])),
    )


def show_inbox(inbox: Mapping[str, Any] | None) -> None:
    """What the receiver keeps, where there is one."""
    if inbox:
        columns = ("waiting", "oldest", "last_received", "quarantined")
        shown = [tuple(inbox[name] for name in columns)]
        print_table(f"Webhooks in {inbox['path']}", ("waiting", "oldest", "last received", "quarantined"), shown)
        if inbox["error"]:
            say(inbox["error"])


def show_answer(title: str, answer: Answer) -> None:
    """The rows of a statement as a table."""
    print_table(title, answer.columns, answer.rows)


def show_query(file: Path, sql: str, style: Format) -> None:
    """The rows of a statement, in the asked format, on standard output."""
    if style == "parquet":
        _write_parquet(file, sql)
        return
    answer = query(file, sql)
    match style:
        case "table":
            show_answer("", answer)
        case "json":
            print_json(as_records(answer))
        case "csv":
            writer = csv.writer(sys.stdout, lineterminator="\n")
            writer.writerow(answer.columns)
            writer.writerows([text(value) for value in row] for row in answer.rows)
        case "markdown":
            sys.stdout.write(markdown(answer))


def as_records(answer: Answer) -> list[dict[str, Any]]:
    """The rows as objects, by column name."""
    return [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]


def markdown(answer: Answer) -> str:
    """A table in Markdown; what would end a cell is escaped."""

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |\n"

    body = "".join(line([text(value) for value in row]) for row in answer.rows)
    return line(answer.columns) + line(["---"] * len(answer.columns)) + body


def _write_parquet(file: Path, sql: str) -> None:
    """Parquet is written from its end, so it goes through a file."""
    if sys.stdout.isatty():
        raise WrongUse("Parquet is not for a terminal; send it to a file: --format parquet > rows.parquet")
    with TemporaryDirectory() as folder:
        target = Path(folder) / "rows.parquet"
        query_to_parquet(file, sql, target)
        sys.stdout.buffer.write(target.read_bytes())
        sys.stdout.buffer.flush()
