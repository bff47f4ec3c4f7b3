"""Stories wait more than they work: `pytest -n auto tests/chaos` tells more at once than there are cores."""

import os

import pytest


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Asked only where this folder is named on the command line: among all tests its stories are few."""
    del config
    return 2 * (os.cpu_count() or 1)
