"""Read the demo's file with the oldest DuckDB and with today's clients: `make clients` (docs/bi.md)."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

VETL = Path(sys.executable).with_name("vetl")
READ = Path(__file__).with_name("read.py")
FAILS = {
    "SQLAlchemy, reflection": "pg_collation",
    "ibis, list_tables": "fetch_arrow_table",
    "ibis, sql": "fetch_arrow_table",
}
"""What fails with DuckDB 2.0, by a word of its error; once it works again, the table of docs/bi.md must follow."""


def main() -> None:
    """Make a demo, then read its file in each environment; end at the first way that reads something else."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([VETL, "--quiet", "demo"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        demo = Path(folder) / "demo"
        data, parquet = demo / "warehouse" / "data", Path(folder) / "daily.parquet"
        with parquet.open("wb") as file:
            command = [VETL, "-C", demo, "query", "from marts.practice_daily", "--format", "parquet"]
            subprocess.run(command, check=True, stdout=file)
        for name, fails in (("oldest", {}), ("today", FAILS)):
            python = Path("build/env") / f"clients-{name}" / "bin" / "python"
            files = [data / "analytics.duckdb", data / "contacts.duckdb", parquet]
            done = subprocess.run([python, READ, *files], check=True, stdout=subprocess.PIPE, text=True)
            _compare(name, json.loads(done.stdout), fails)


def _compare(name: str, found: dict[str, str], fails: dict[str, str]) -> None:
    expected = found["DuckDB"]
    for way, read in found.items():
        sys.stdout.write(f"{name}: {way}: {read}\n")
        if not (fails[way] in read if way in fails else read == expected):
            sys.exit(f"{name}: {way} should {'fail' if way in fails else f'read {expected}'}")


if __name__ == "__main__":
    main()
