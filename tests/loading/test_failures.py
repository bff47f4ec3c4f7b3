"""The translation of DuckDB's errors into vetl's."""

import re
from pathlib import Path

import duckdb
import pytest

from pipelines.core.errors import WarehouseBusy
from pipelines.loading.failures import as_vetl_errors, as_warehouse_error

FILE = Path("vetl.duckdb")


def test_a_held_file_is_busy_and_names_file_and_holder() -> None:
    error = duckdb.IOException(
        'IO Error: Could not set lock on file "/srv/a.duckdb": Conflicting lock is held in python (PID 4711)'
    )
    busy = as_warehouse_error(error, FILE, "cannot be published")
    assert isinstance(busy, WarehouseBusy)
    assert busy.holder == "process 4711"
    assert str(busy) == "/srv/a.duckdb: process 4711 holds it; try again when it is done"


FULL = ".*; make room and run it again"
OF_A_THREAD = (
    'Async write failed for range [offset=7]: {"exception_type":"IO","exception_message":"Could not write file'
    ' \\"/srv/a.parquet\\": No space left on device","errno":"28"}'
)


@pytest.mark.parametrize(
    ("message", "line"),
    [
        ("IO Error: Could not write all bytes", FULL),
        ("TransactionContext Error: CHECKPOINT during DETACH failed", FULL),
        (OF_A_THREAD, f'Could not write file "/srv/a.parquet": No space left on device{FULL[2:]}'),
    ],
)
def test_a_full_disk_is_reported_with_its_remedy(message: str, line: str) -> None:
    reported = as_warehouse_error(duckdb.IOException(message), FILE, "cannot be written")
    assert re.fullmatch(f"vetl.duckdb: cannot be written: {line}", str(reported))


def test_a_refused_value_is_not_quoted() -> None:
    error = duckdb.ConversionException("Conversion Error: Could not convert string 'Jane Doe' to INT32")
    assert str(as_warehouse_error(error, FILE)) == "vetl.duckdb: DuckDB refuses a value (ConversionException)"


def test_a_fault_in_our_own_sql_is_not_the_warehouse_s() -> None:
    with pytest.raises(duckdb.CatalogException), as_vetl_errors(FILE), duckdb.connect() as connection:
        connection.execute("from nowhere")
