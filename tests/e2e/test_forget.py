"""`vetl forget`: no file mentions the person any more, and every mart has as many rows as before."""

import json
import os
import sqlite3
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from random import Random

import duckdb
import pytest
import vetl_sandbox
from support import forgetting
from support.forgetting import PRACTICE
from support.mart_builds import build_marts_untested, untested
from support.sandbox_settings import changed, synced
from support.warehouse_with_rows import ask, by_table
from vetl.addons.act.act_files import plan_file
from vetl.addons.lake.settings import SparkSettings
from vetl.addons.watch.settings import WatchSettings
from vetl.cli import app, forget
from vetl.jobs.build import publish_marts
from vetl.jobs.drain import run_drain
from vetl.publishing.replacing import kept
from vetl.settings import Settings

DAYS = 6


@dataclass(frozen=True)
class Site:
    """Settings of a synced practice, and a client with calls."""

    settings: Settings
    person: dict[str, str]

    def forget(self, *options: str) -> int:
        return app.execute(["forget", "--practice", PRACTICE, "--client", self.person["id"], *options])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Provide a synced platform of one practice; all optional files are published too."""
    folder = tmp_path_factory.mktemp("forget")
    with vetl_sandbox.running(frozen=True, days=DAYS, practices=1, calls=80, seed=3) as platform:
        settings = forgetting.settings_that_keep_everything(platform, folder / "site", DAYS)
        person = forgetting.client_to_forget(platform, Random(1))
        synced(settings)
    (folder / "vetl.toml").touch()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(forget, "load_settings", lambda: settings)
        yield Site(settings, person)


@contextmanager
def answering(*typed: bytes) -> Generator[None]:
    """Make standard input a terminal into which somebody types these lines."""
    keyboard, tty = os.openpty()
    with pytest.MonkeyPatch.context() as patch, os.fdopen(tty, encoding="utf-8") as terminal:
        patch.setattr("sys.stdin", terminal)
        os.write(keyboard, b"".join(typed))
        yield
    os.close(keyboard)


def test_only_a_yes_on_a_terminal_forgets_and_a_dry_run_counts(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    calls = "select count(*) from raw.phone_calls where client_id = ?"
    [(before,)] = ask(site.settings.warehouse.path, calls, site.person["id"])

    assert site.forget() == 2
    assert "add --yes" in capsys.readouterr().err
    assert app.execute(["forget", "--practice", PRACTICE, "--client", "nobody", "--yes"]) == 2
    assert "names this client" in capsys.readouterr().err
    with answering(b"\n", b"n\n"):
        assert [site.forget(), site.forget()] == [0, 0]
    err = capsys.readouterr().err
    assert err.count("This cannot be undone. Forget this client? [y/N]") == 2
    assert err.count("nothing was changed") == 2
    assert site.forget("--dry-run", "--json") == 0

    assert json.loads(capsys.readouterr().out)["rows"]["raw.phone_calls"] == before > 0
    assert ask(site.settings.warehouse.path, calls, site.person["id"]) == [(before,)]


def leave_remains(settings: Settings, person: dict[str, str]) -> None:
    """Leave the person in files that no step but the rewriting of all files reaches.

    In free pages of a ledger, in the dashboard's log, in a folder of a setting that is off by now, in a build on
    Spark that failed.
    """
    with closing(sqlite3.connect(WatchSettings.of(settings).ledger)) as connection:
        connection.execute("pragma secure_delete = off")
        connection.execute("create table notes as select ? as said", [f"{person['name']} " * 200])
        connection.commit()
        connection.execute("delete from notes")
        connection.commit()
    shown = {"practice_id": PRACTICE, "client_id": person["id"]}
    settings.dashboard.audit.write_text(json.dumps({"user": "ada", "people": [shown]}) + "\n", "utf-8")
    for folder in (
        SparkSettings.of(settings).scratch / "build",
        settings.warehouse.path.with_name("vetl.duckdb.tmp"),
    ):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "part").write_text(person["email"], "utf-8")


def test_nothing_of_a_person_is_left_and_every_mart_counts_as_before(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also in history, in quarantine, in deliveries, in the last plan, and in another client's call."""
    settings, person = site.settings, site.person
    path, published = settings.warehouse.path, settings.warehouse.published
    with duckdb.connect(str(path)) as connection:
        for table, key in (("clients", "id"), ("phone_calls", "client_id")):
            connection.execute(
                f"insert into history.{table} by name select *, _loaded_at as _valid_from, _loaded_at as _valid_to"
                f" from raw.{table} where {key} = ? limit 1",
                [person["id"]],
            )
        connection.execute(
            "update raw.phone_calls set summary = 'has seen ' || ? || ' (' || ? || ') there' where call_key ="
            " (select min(call_key) from raw.phone_calls where client_id <> ?)",
            [person["name"], person["phone"], person["id"]],
        )
        connection.execute(
            "insert into control.quarantine by name select ? as practice_id, 'clients' as endpoint, ? as row_key,"
            " 'bad' as reason, ? as payload, 'run' as run_id, now() as first_seen, now() as last_seen",
            [PRACTICE, person["id"], json.dumps({**person, "extra": "Zoë"})],
        )
    forgetting.send_webhooks_about(settings, person, Random(1))
    run_drain(settings, catch_up=False)
    build_marts_untested(settings)
    publish_marts(settings.warehouse, changed(settings, privacy={"contact": "clear"}).privacy)
    publish_marts(settings.warehouse, settings.privacy)  # keeps the earlier file
    plan_file(published).write_text(json.dumps({"acts": [person]}), "utf-8")
    leave_remains(settings, person)
    before, older = by_table(published, "marts", "meta"), kept(published)
    held = {place.split(":")[0] for place in forgetting.remains_of(path.parent, person)}
    others = ("contacts.duckdb", "inbox.sqlite", "act-plan.json", "watch.sqlite")
    assert {path.name, *others, *(file.name for file in older)} <= held
    assert older

    with untested(), answering(b"y\n"):
        assert site.forget("--json") == 0

    report = json.loads(capsys.readouterr().out)
    assert forgetting.remains_of(path.parent, person) == []
    assert by_table(published, "marts", "meta") == before
    assert {str(file) for file in older} <= set(report["removed"])
    assert not kept(published)
    (noted,) = json.loads(settings.dashboard.audit.read_text("utf-8"))["people"]
    assert noted == {"practice_id": PRACTICE, "client_id": report["pseudonym"]}
    forgotten = ask(path, "select practice_id, pseudonym, rows from control.forgotten")
    assert forgotten == [(PRACTICE, report["pseudonym"], sum(report["rows"].values()))]
    calls = "select count(*) from raw.phone_calls where client_id = ?"
    assert ask(path, calls, report["pseudonym"]) == [(report["rows"]["raw.phone_calls"],)]
