"""A real warehouse file for tests, and short ways to fill it."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
from vetl.core.endpoint import Endpoint
from vetl.core.list_read import Practice
from vetl.core.pages import Changes
from vetl.core.steps import AttachDetails, MergeRows, Question, ReplaceDays, Save
from vetl.endpoints import REGISTRY, by_name
from vetl.partner.calls_csv import COLUMNS
from vetl.partner.protocol import CsvAnswer
from vetl.store.phone_calls.csv_frames import CallTexts, parse_calls
from vetl.store.warehouse import Warehouse

START = datetime(2025, 6, 1, tzinfo=UTC)
DAY = date(2025, 5, 1)
HEADER = ",".join(column.header for column in COLUMNS)
HARBOR = Practice("p1", "Harbor", "America/New_York", date(2025, 1, 1))


def csv_answer(body: bytes, total: int, page: int | None = 0, per_page: int | None = 5000) -> CsvAnswer:
    return CsvAnswer(body, total, page, per_page, START)


def csv_page(*lines: str, **more: str) -> CallTexts:
    """Return one whole page of these lines, with more columns, which have the same value in each line."""
    rows = [",".join((HEADER, *more)), *(",".join((line, *more.values())) for line in lines)]
    body = "".join(f"{row}\n" for row in rows).encode()
    frame = parse_calls(csv_answer(body, len(lines))).frame
    assert isinstance(frame, CallTexts)
    return frame


def call_line(minute: str = "2025-05-01 10:00", **cells: str) -> str:
    """Return one line of the CSV, by the names of the raw columns."""
    usual = {
        "called_at_local": minute,
        "practice": "Harbor",
        "direction": "Inbound",
        "state": "Completed",
        "caller_type": "New",
        "client_name": "Jane Doe",
        "patient_name": "Rex",
        "phone_number": "+12125550100",
        "call_classification": "Scheduling",
        "booking_intent": "Yes",
        "summary": "wants to come",
        "customer_sentiment": "Positive",
        "outcome": "Appointment booked",
        "booked": "Yes",
        "duration_seconds": "1:05",
    }
    assert cells.keys() <= usual.keys()
    return ",".join({**usual, **cells}.values())


def call_record(identity: str, created_at: str = "2025-05-01T14:00:10Z", **fields: Any) -> dict[str, Any]:
    """Return the JSON record that the CSV shows as `call_line()`."""
    return {
        "id": identity,
        "created_at": created_at,
        "practice_name": "Harbor",
        "direction": "inbound",
        "state": "completed",
        "caller_type": "new",
        "client_id": f"client of {identity}",
        "client_name": "Jane Doe",
        "patient_name": "Rex",
        "phone_number": "+12125550100",
        "call_classification": "scheduling",
        "booking_intent": True,
        "summary": "wants to come",
        "customer_sentiment": "positive",
        "outcome": "appointment_booked",
        "booked": True,
        "duration_seconds": 65,
        **fields,
    }


def ask(path: Path, sql: str, *parameters: object) -> list[tuple[Any, ...]]:
    """Return the rows of a statement on a file that nobody writes at the moment."""
    with duckdb.connect(path, read_only=True) as connection:
        return connection.execute(sql, parameters).fetchall()


def by_table(path: Path, *schemas: str, value: str = "count(*)") -> dict[str, Any]:
    """Return the value of an aggregation over each table of these schemas, by its name; `t` is a whole row."""
    names = "select schema_name || '.' || table_name from duckdb_tables() where schema_name in (select unnest($1))"
    each = [f"select '{name}', {value} from {name} as t" for (name,) in ask(path, names, schemas)]
    return dict(ask(path, " union all ".join(each)))


@cache
def _empty() -> bytes:
    """Return a new warehouse's file: making it costs more than a copy, and each test begins with one."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "vetl.duckdb"
        Warehouse.open(path, REGISTRY, lock_wait_seconds=0).close()
        return path.read_bytes()


class Filled:
    """An open warehouse with one practice, and a source clock that goes on by an hour with each commit."""

    def __init__(self, path: Path, endpoints: Sequence[Endpoint] = REGISTRY) -> None:
        self.path = path
        if endpoints is REGISTRY and not path.exists():
            path.write_bytes(_empty())
        self.warehouse = Warehouse.open(path, endpoints, lock_wait_seconds=0)
        self.warehouse.set_practices([HARBOR])
        self.practice = HARBOR
        self.now = START

    def another_practice(self, time_zone: str = HARBOR.time_zone) -> None:
        """Continue with a practice without rows: cheaper than another file."""
        self.practice = replace(HARBOR, id=f"p{int(self.practice.id[1:]) + 1}", time_zone=time_zone)
        self.warehouse.set_practices([self.practice])

    def commit(self, endpoint: str | Endpoint, *work: Save) -> Changes:
        declared = by_name(endpoint) if isinstance(endpoint, str) else endpoint
        changes = self.warehouse.commit("run", self.practice.id, declared, work)
        self.now += timedelta(hours=1)
        return changes

    def answer(self, endpoint: str | Endpoint, question: Question) -> Any:
        declared = by_name(endpoint) if isinstance(endpoint, str) else endpoint
        return self.warehouse.answer_all([(self.practice.id, declared, question)])[0]

    def merge(self, endpoint: str | Endpoint, *rows: Any, sealed_before: datetime | None = None) -> Changes:
        return self.commit(endpoint, MergeRows(rows, self.now, sealed_before))

    def replace_days(self, *lines: str, first: date = DAY, last: date = DAY) -> Changes:
        return self.commit("phone_calls", ReplaceDays([csv_page(*lines)], first, last, self.now))

    def attach(self, *records: Any, first: date = DAY, last: date = DAY) -> Changes:
        return self.commit("phone_calls", AttachDetails(records, first, last))

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        return self.connection.execute(sql).fetchall()

    @property
    def connection(self) -> duckdb.DuckDBPyConnection:
        return self.warehouse._connection  # pyright: ignore[reportPrivateUsage] - tests look at private state
