"""A published file of two practices, and copies of it in which something happens."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.mail_server import Mailbox, mail_server
from support.published import published_once, published_stale_once
from support.sandbox_settings import changed
from support.warehouse_with_rows import ask
from vetl.core.list_read import Practice
from vetl.settings import Settings, load_settings


@pytest.fixture(scope="session")
def published() -> Path:
    return published_once()


@pytest.fixture(scope="session")
def stale() -> Path:
    return published_stale_once()


@pytest.fixture
def mailbox() -> Iterator[Mailbox]:
    with mail_server() as running:
        yield running


@pytest.fixture
def settings(published: Path, tmp_path: Path, mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Provide settings for a copy of the file, with a mail server."""
    monkeypatch.chdir(tmp_path)
    file = Path(shutil.copy(published, tmp_path / "analytics.duckdb"))
    columns = "practice_id, name, time_zone, history_start, group_name"
    practices = tuple(Practice(*row) for row in ask(file, f"select {columns} from marts.practices order by 1"))
    return changed(
        load_settings().model_copy(update={"practices": practices}),
        warehouse={"published": file},
        watch={"ledger": tmp_path / "watch.sqlite"},
        alerts={"email_to": ("ops@example.com",), "smtp_host": "127.0.0.1", "smtp_port": mailbox.port},
    )
