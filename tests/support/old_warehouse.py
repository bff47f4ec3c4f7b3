"""A warehouse of vetl 0.1.0: a practice of two days, synced, reconciled, built (migrations 0001, 0002).

`warehouse-0.1.0/` has the output of that version from its own sandbox, as SQL. There is a row in quarantine, an
undeclared field, a superseded version, a restatement, received webhooks, and a mart that no longer exists.
"""

import gzip
import shutil
from pathlib import Path

import duckdb

from pipelines.loading.control.snapshot import snapshot_path

LEFT = Path(__file__).parent / "warehouse-0.1.0"


def put_back(path: Path) -> None:
    """Create the file and the status beside it. Its views need the name `vetl.duckdb`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with duckdb.connect(path) as connection:
        connection.execute("set TimeZone = 'UTC'")
        connection.execute(gzip.decompress((LEFT / "warehouse.sql.gz").read_bytes()).decode())
    shutil.copy(LEFT / "status.json", snapshot_path(path))


def rows(path: Path, relation: str, columns: str = "*") -> list[tuple[object, ...]]:
    """Return the rows of a relation, in order."""
    with duckdb.connect(path, read_only=True) as connection:
        return connection.execute(f"select {columns} from {relation} order by all").fetchall()
