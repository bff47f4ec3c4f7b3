"""A reader's view of a lake: the files of its manifest, and nothing else."""

import os
import signal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from support.killed_sync import processes
from vetl.store.lake.export import export_private, read_manifest
from vetl.store.lake.manifest import Manifest
from vetl.store.lake.storage import S3Access, Storage


def storage(lake: Path) -> Storage:
    return Storage(str(lake), S3Access())


def manifest(lake: Path) -> Manifest:
    stored = read_manifest(storage(lake))
    assert stored is not None
    return stored


def rows(lake: Path, listed: Manifest, table: str) -> list[dict[str, Any]]:
    """Return the rows of a table in a manifest's files, checked for their length, in a fixed order."""
    parts: list[pa.Table] = []
    for file in listed.files:
        if file.table == table:
            assert (lake / file.path).stat().st_size == file.bytes
            part = pq.ParquetFile(lake / file.path).read()
            assert part.num_rows == file.rows
            parts.append(part)
    return sorted(pa.concat_tables(parts).to_pylist(), key=str)


class Dying(Storage):
    """A lake whose writer is killed (SIGKILL) after so many steps."""

    steps = 0

    def put(self, draft: Path, path: str) -> None:
        self._step()
        super().put(draft, path)

    def remove(self, path: str) -> None:
        self._step()
        super().remove(path)

    def _step(self) -> None:
        if self.steps == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        self.steps -= 1


def export_until_killed(warehouse: Path, lake: Path, steps: int) -> bool:
    """Export in a process of its own. Return whether it was killed."""
    process = processes.Process(target=_export, args=(warehouse, lake, steps))
    process.start()
    process.join()
    assert process.exitcode in (0, -signal.SIGKILL)
    return process.exitcode != 0


def _export(warehouse: Path, lake: Path, steps: int) -> None:
    dying = Dying(str(lake), S3Access())
    dying.steps = steps
    export_private(warehouse, dying, lock_wait_seconds=0)
