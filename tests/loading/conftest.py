from collections.abc import Iterator
from pathlib import Path

import pytest
from support.warehouse_with_rows import Filled


@pytest.fixture
def filled(tmp_path: Path) -> Iterator[Filled]:
    """A new warehouse with one practice."""
    opened = Filled(tmp_path / "vetl.duckdb")
    yield opened
    opened.warehouse.close()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Filled]:
    """Provide one warehouse for all examples of a property; each example takes `another_practice`."""
    opened = Filled(tmp_path_factory.mktemp("shared") / "vetl.duckdb")
    yield opened
    opened.warehouse.close()
