"""A build that does not fit into memory spills to the configured folder."""

from pathlib import Path

from benchmarks.marts_world import make
from pipelines.jobs.dbt_process import DATA_ONLY, dbt_build


def test_a_build_that_spills_ends(tmp_path: Path) -> None:
    """Several threads continue after one of them has spilled; 200 MB are twice what DuckDB needs to continue."""
    warehouse, spilled = tmp_path / "vetl.duckdb", tmp_path / "spilled"
    make(warehouse, 400_000)
    has_spilled: list[bool] = []

    result = dbt_build(
        warehouse,
        full_refresh=False,
        advance=lambda _done, _total: has_spilled.append(spilled.is_dir()),
        extra=(*DATA_ONLY, "--exclude", "resource_type:test"),
        limits={"memory_limit": "200MB", "temp_directory": str(spilled)},
    )

    assert result.failures == ()
    assert any(has_spilled), "DuckDB takes the folder away when it is done"
