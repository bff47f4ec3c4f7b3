"""Rows of the greatest length: the memory of a commit does not grow with the rows that the table has already."""

import multiprocessing
from pathlib import Path

from pipelines.loading.connection import MEMORY_FOR_ROWS, attach, limit_memory
from pipelines.loading.frames import LONG_ROW

processes = multiprocessing.get_context("forkserver")
processes.set_forkserver_preload(["support.quiet_end", "pipelines.loading.connection"])

COMMITS, ROWS = 9, 500
"""The rows of these commits are more than DuckDB reads at once, which is 2,048."""
MOST = 330
"""MiB of the process."""


def write_and_measure(path: Path, report: Path) -> None:
    """Commit pages of 16 MiB; write the most memory of the process in MiB."""
    connection = attach(path, lock_wait_seconds=0)
    limit_memory(connection, MEMORY_FOR_ROWS)
    connection.execute("create table texts (page integer, row integer, text varchar)")
    for page in range(COMMITS):
        connection.begin()
        text = f"repeat(range || 'x', {LONG_ROW // 4})"
        connection.execute(f"insert into texts select {page}, range, {text} from range({ROWS}, {2 * ROWS})")
        connection.commit()
    connection.close()
    lines = Path("/proc/self/status").read_text("utf-8").splitlines()
    report.write_text(
        str(int(next(line.split()[1] for line in lines if line.startswith("VmHWM"))) // 1024), "utf-8"
    )


def test_a_commit_of_long_texts_takes_bounded_memory(tmp_path: Path) -> None:
    report = tmp_path / "report"

    process = processes.Process(target=write_and_measure, args=(tmp_path / "vetl.duckdb", report))
    process.start()
    process.join(120)
    process.kill()

    assert int(report.read_text("utf-8")) < MOST
