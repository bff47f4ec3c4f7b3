"""`vetl forget`: no file mentions the person any more, and every mart has as many rows as before."""

import json
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pytest
from support.mart_builds import build_marts_untested
from support.sandbox_settings import settings_for

import sandbox
from pipelines.cli import app, forget
from pipelines.jobs.act_plan import plan_file
from pipelines.jobs.build import publish_marts
from pipelines.jobs.sync import run_sync
from pipelines.loading.published.retention import kept
from pipelines.partner.webhooks import Channel
from pipelines.receiving.inbox import Entry, Inbox
from pipelines.settings import Settings, WebhooksSettings
from pipelines.settings.privacy import PrivacySettings

DAYS = 12


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Provide a synced platform of one practice; all optional files are published too."""
    folder = tmp_path_factory.mktemp("forget")
    world: Any = {"practices": 1, "calls": 150, "seed": 3}
    with sandbox.running(frozen=True, days=DAYS, **world) as platform:
        settings = settings_for(platform, folder, DAYS)
        beside = settings.warehouse.model_copy(update={"contacts": True, "parquet": True})
        settings = settings.model_copy(
            update={"warehouse": beside, "webhooks": WebhooksSettings(inbox=folder / "inbox.sqlite")}
        )
        run_sync(settings, practices=None, endpoints=None, since=None, progress=lambda _progress: None)
    return settings


def ask(file: Path, sql: str, *parameters: object) -> list[tuple[Any, ...]]:
    with duckdb.connect(str(file), read_only=True) as connection:
        return connection.execute(sql, list(parameters)).fetchall()


def client_to_forget(settings: Settings) -> tuple[str, str, dict[str, str]]:
    """Return a client with many calls whose name, number and address no other client has."""
    practice, client, name, email, phone = ask(
        settings.warehouse.path,
        """
        select practice_id, id, name, email, phone from raw.clients as one
        where email <> '' and phone like '+%' and name like '% %'
            and not exists (
                select 1 from raw.clients as other
                where other.id <> one.id and (other.name = one.name or other.phone = one.phone)
            )
            and not exists (
                select 1 from raw.phone_calls
                where client_id <> one.id and (client_name = one.name or phone_number = one.phone)
            )
        order by (select count(*) from raw.phone_calls where client_id = one.id) desc limit 1
        """,
    )[0]
    return practice, client, {"id": client, "name": name, "email": email, "phone": phone}


def holding(folder: Path, values: dict[str, str]) -> dict[str, list[str]]:
    """Return the files that contain a value, as plain text or in JSON's escapes."""
    keys_by_file: dict[str, list[str]] = {}
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        content = file.read_bytes()
        if keys := [key for key, text in values.items() if text.encode() in content]:
            keys_by_file[str(file.relative_to(folder))] = keys
    return keys_by_file


@contextmanager
def answering(*typed: bytes) -> Generator[None]:
    """Make standard input a terminal into which somebody types these lines."""
    keyboard, tty = os.openpty()
    with pytest.MonkeyPatch.context() as patch, os.fdopen(tty, encoding="utf-8") as terminal:
        patch.setattr("sys.stdin", terminal)
        os.write(keyboard, b"".join(typed))
        yield
    os.close(keyboard)


def counts(file: Path) -> dict[str, int]:
    marts = [name for (name,) in ask(file, "select table_name from duckdb_tables() where schema_name = 'marts'")]
    return {name: ask(file, f"select count(*) from marts.{name}")[0][0] for name in marts}


@pytest.fixture
def person(settings: Settings) -> tuple[str, str, dict[str, str]]:
    """Also in history, quarantine, a delivery, another client's text, and in a spelling other than E.164."""
    practice, client, values = client_to_forget(settings)
    path = settings.warehouse.path
    message = {"message_id": "m-1", "client_id": client, "said": f"this is {values['name']}"}
    with duckdb.connect(str(path)) as connection:
        for table in ("clients", "phone_calls"):
            key = "id" if table == "clients" else "client_id"
            connection.execute(
                f"insert into history.{table} by name select *, _loaded_at as _valid_from, _loaded_at as _valid_to"
                f" from raw.{table} where {key} = ? limit 1",
                [client],
            )
        connection.execute(
            "update raw.phone_calls set summary = 'has seen ' || ? || ' (' || ? || ') there' where call_key ="
            " (select min(call_key) from raw.phone_calls where client_id <> ?)",
            [values["name"], values["phone"], client],
        )
        connection.execute(
            "insert into control.quarantine by name select ? as practice_id, 'clients' as endpoint, ? as row_key,"
            " 'bad' as reason, ? as payload, 'run' as run_id, now() as first_seen, now() as last_seen",
            [practice, client, json.dumps({**values, "extra": "Zoë"})],
        )
    with Inbox.open(settings.webhooks.inbox) as inbox:
        body = json.dumps(message).encode()
        clock = ask(path, "select now()")[0][0]
        inbox.keep(
            [Entry(Channel.MESSAGES, practice, body, clock), Entry(Channel.MESSAGES, practice, b"{}", clock)]
        )
    build_marts_untested(settings)
    plan_file(settings.warehouse.published).write_text(json.dumps({"acts": [values]}), "utf-8")
    publish_marts(settings.model_copy(update={"privacy": PrivacySettings(contact="clear")}))
    publish_marts(settings)  # keeps the earlier file
    return practice, client, values


def configured(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run `vetl forget` with these settings, in a folder that has a settings file."""
    folder = settings.warehouse.path.parent.parent
    (folder / "vetl.toml").touch()
    monkeypatch.chdir(folder)
    monkeypatch.setattr(forget, "load_settings", lambda: settings)


def test_nothing_of_a_person_is_left_and_every_mart_counts_as_before(
    settings: Settings,
    person: tuple[str, str, dict[str, str]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    practice, client, values = person
    folder = settings.warehouse.path.parent
    before, older = counts(settings.warehouse.published), kept(settings.warehouse.published)
    held = holding(folder, values)
    assert {"vetl.duckdb", "analytics.duckdb", "contacts.duckdb", "inbox.sqlite", "act-plan.json"} <= held.keys()
    assert older
    configured(settings, monkeypatch)

    with answering(b"y\n"):
        assert app.execute(["forget", "--practice", practice, "--client", client, "--json"]) == 0

    report = json.loads(capsys.readouterr().out)
    assert holding(folder, values) == {}
    assert counts(settings.warehouse.published) == before
    assert {str(file) for file in older} <= set(report["removed"])
    assert not kept(settings.warehouse.published)
    kept_rows = ask(settings.warehouse.path, "select practice_id, pseudonym, rows from control.forgotten")
    assert kept_rows == [(practice, report["pseudonym"], sum(report["rows"].values()))]
    assert (
        report["rows"]["raw.phone_calls"]
        == ask(
            settings.warehouse.path,
            "select count(*) from raw.phone_calls where client_id = ?",
            report["pseudonym"],
        )[0][0]
        > 0
    )


def test_a_dry_run_counts_and_changes_nothing(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    configured(settings, monkeypatch)
    practice, client, _ = client_to_forget(settings)
    calls = "select count(*) from raw.phone_calls where client_id = ?"
    [(before,)] = ask(settings.warehouse.path, calls, client)

    assert app.execute(["forget", "--practice", practice, "--client", client, "--dry-run", "--json"]) == 0

    counted = json.loads(capsys.readouterr().out)
    assert counted["rows"]["raw.phone_calls"] == before > 0
    assert ask(settings.warehouse.path, calls, client) == [(before,)]
    assert ask(
        settings.warehouse.path, "select count(*) from control.forgotten_values where practice_id = ?", "p"
    ) == [(0,)]


def test_without_a_terminal_yes_is_required(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    configured(settings, monkeypatch)
    practice, client, _ = client_to_forget(settings)

    assert app.execute(["forget", "--practice", practice, "--client", client]) == 2

    assert "add --yes" in capsys.readouterr().err


def test_on_a_terminal_it_asks_and_only_a_yes_goes_on(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    configured(settings, monkeypatch)
    practice, client, _ = client_to_forget(settings)
    with answering(b"\n", b"n\n"):
        for _ in range(2):
            assert app.execute(["forget", "--practice", practice, "--client", client]) == 0

    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.count(f"Client {client} of practice {practice}: ") == 2
    assert shown.err.count("This cannot be undone. Forget this client? [y/N]") == 2
    assert shown.err.count("nothing was changed") == 2
    assert client_to_forget(settings)[1] == client


def test_an_unknown_client_is_refused(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    configured(settings, monkeypatch)
    before = settings.warehouse.path.read_bytes()

    assert app.execute(["forget", "--practice", "loc-001", "--client", "nobody", "--yes"]) == 2

    assert "names this client" in capsys.readouterr().err
    assert ask(settings.warehouse.path, "select count(*) from raw.phone_calls")[0][0] > 0
    assert len(before) > 0
