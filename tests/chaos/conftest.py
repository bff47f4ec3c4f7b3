"""Options of the chaos tests.

They wait more than they compute, so `pytest -n auto tests/chaos` runs more than one per core.
"""

import os

import pytest


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Return two workers for each core. pytest calls this only if the command line names this folder."""
    del config
    return 2 * (os.cpu_count() or 1)
