"""The dashboard over a real published file, driven by Streamlit's own test client."""

import shutil
import sys
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pytest
from streamlit.testing.v1 import AppTest
from support.dashboard_pages import Ask, Copied, Open, page_of_dashboard
from support.published import published_once, published_stale_once


@pytest.fixture(scope="session")
def published() -> Path:
    return published_once()


@pytest.fixture(scope="session")
def stale() -> Path:
    return published_stale_once()


@pytest.fixture(scope="session")
def file(published: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Provide a copy, because DuckDB opens one file only once with one configuration in a process."""
    return Path(shutil.copy(published, tmp_path_factory.mktemp("file")))


@pytest.fixture
def opened(published: Path, monkeypatch: pytest.MonkeyPatch) -> Open:
    """Provide a function that opens a page by its path and the other parts of its address."""

    def open_page(path: str = "", file: Path | None = None, *, locale: str = "en-US", **address: Any) -> AppTest:
        monkeypatch.setenv("VETL_WAREHOUSE__PUBLISHED", str(file or published))
        # Streamlit puts the dashboard there, and processes that later tests fork would run it.
        monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
        test = page_of_dashboard(path)
        test.context["locale"] = locale
        test.query_params.update(address)
        return test.run()

    return open_page


@pytest.fixture
def ask(published: Path) -> Iterator[Ask]:
    """Return rows of the published file, queried as an analyst would."""
    with duckdb.connect(published, read_only=True) as connection:

        def rows(sql: str, *values: Any) -> list[tuple[Any, ...]]:
            return connection.execute(sql, values).fetchall()

        yield rows


@pytest.fixture
def days(ask: Ask) -> tuple[date, date]:
    """Return the usual period: 28 days up to yesterday."""
    ((today,),) = ask("select min(today) from marts.practices")
    return today - timedelta(days=28), today - timedelta(days=1)


@pytest.fixture
def copied(published: Path, tmp_path: Path) -> Copied:
    """Provide a function that puts a changed copy of the published file in place of the copy before."""

    def copy(*statements: str) -> Path:
        draft, place = tmp_path / "draft.duckdb", tmp_path / "analytics.duckdb"
        shutil.copy(published, draft)
        with duckdb.connect(draft) as connection:
            for statement in statements:
                connection.execute(statement)
        return draft.replace(place)

    return copy
