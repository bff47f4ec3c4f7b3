"""CONTRIBUTING's promise: a new list is one file, its lines in the registry and one staging model."""

import os
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest
from support.new_list import DAGSTER, checkout_with_estimates, last_line, serve_estimates
from support.practice_site import site

ROWS = 700


def test_it_is_followed_from_the_platform_to_the_published_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By Dagster: asset, raw table, certificate, and a row of `proof` with the platform's own total."""
    code, place = checkout_with_estimates(tmp_path / "code"), tmp_path / "site"
    place.mkdir()
    with site(place, monkeypatch) as (platform, config):
        serve_estimates(platform, ROWS)
        done = subprocess.run(
            [sys.executable, "-c", DAGSTER, str(config)],
            env={**os.environ, "PYTHONPATH": str(code)},
            cwd=code,
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    result = last_line(done.stdout)
    assert result["success"], done.stderr
    assert "partner/estimates" in result["assets"]
    with duckdb.connect(str(place / "warehouse/data/analytics.duckdb"), read_only=True) as connection:
        proof = "select source_count, warehouse_count, evidence from marts.proof where endpoint = 'estimates'"
        assert connection.execute(proof).fetchall() == [(ROWS, ROWS, "distinct ids equal an unmoved total")]
