"""A published file of two practices, and copies of it in which something happens."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from support.mail_server import Mailbox, mail_server
from support.published import published_once

from pipelines.core.practice import Practice
from pipelines.settings import Settings, load_settings
from pipelines.settings.schedule import AlertSettings


@pytest.fixture(scope="session")
def published(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    return published_once(tmp_path_factory, request.config)


@pytest.fixture
def mailbox() -> Iterator[Mailbox]:
    with mail_server() as running:
        yield running


@pytest.fixture
def settings(published: Path, tmp_path: Path, mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Provide settings for a copy of the file, with a mail server."""
    monkeypatch.chdir(tmp_path)
    file = Path(shutil.copy(published, tmp_path / "analytics.duckdb"))
    with duckdb.connect(file) as connection:
        rows = connection.execute(
            "select practice_id, name, time_zone, history_start, group_name from marts.practices order by 1"
        ).fetchall()
    usual = load_settings()
    alerts = AlertSettings(email_to=("ops@example.com",), smtp_host="127.0.0.1", smtp_port=mailbox.port)
    return usual.model_copy(
        update={
            "warehouse": usual.warehouse.model_copy(update={"published": file}),
            "watch": usual.watch.model_copy(update={"ledger": tmp_path / "watch.sqlite"}),
            "alerts": alerts,
            "practices": tuple(Practice(*row) for row in rows),
        }
    )
