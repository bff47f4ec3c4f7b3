"""A backup has all that vetl keeps or is none; a restore puts a verified one back, also if either is killed."""

import json
import os
import shutil
import stat
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pytest
from support.killed_at import killed_at
from support.sandbox_settings import changed
from support.warehouse_with_rows import Filled, ask, call_line
from vetl.addons.act.settings import ActSettings
from vetl.cli.app import execute
from vetl.core.errors import BackupError, WarehouseError, WrongUse
from vetl.jobs.backups import MANIFEST, back_up, kept_files, place_of, read_backup, restore
from vetl.jobs.status_report import read_status
from vetl.partner.webhooks import Channel
from vetl.publishing.contacts import contacts_file
from vetl.receiving.inbox import Entry, Inbox
from vetl.settings import Settings, load_settings, settings_class
from vetl.store.notes import read_note, write_note
from vetl.store.warehouse import writing
from vetl.store.writer_lock import restore_mark, unfinished_restore

PUBLISHED_AT = datetime(2026, 1, 2, tzinfo=UTC)
DELIVERY = Entry(Channel.MESSAGES, "p1", b"{}", datetime(2026, 1, 1, tzinfo=UTC))


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings with a warehouse of one call, and one of each other file that vetl keeps."""
    place = tmp_path / "data"
    settings = changed(
        settings_class()(),
        warehouse={"path": place / "vetl.duckdb", "published": place / "analytics.duckdb", "lock_wait_seconds": 0},
        webhooks={"inbox": place / "inbox.sqlite"},
        act={"ledger": place / "acts.sqlite", "stop_file": place / "stop"},
        watch={"ledger": place / "watch.sqlite"},
        report={"ledger": place / "report.sqlite"},
        dashboard={"audit": place / "audit.log", "passwords": place / "passwords"},
    )
    place.mkdir()
    filled = Filled(settings.warehouse.path)
    filled.replace_days(call_line())
    filled.warehouse.close()
    published = settings.warehouse.published
    earlier = published.with_name("analytics.20260101T000000000000Z.duckdb")
    for file in (published, earlier, contacts_file(published)):
        duckdb.connect(file).close()
    published.chmod(0o640)
    with Inbox.open(settings.webhooks.inbox) as inbox:
        inbox.keep([DELIVERY])
        inbox.settle([1])
    for file in (
        place / "audit.log",
        ActSettings.of(settings).stop_file,
        place / "passwords",
    ):
        file.write_text("{}\n", "utf-8")
    write_note(settings.warehouse.path, "rollback", {"of": "before"})
    return settings


def change(settings: Settings) -> None:
    """Let the warehouse go on: a second call, a new state, a new earlier file."""
    filled = Filled(settings.warehouse.path)
    filled.replace_days(call_line(), call_line("2025-05-01 11:00"))
    filled.warehouse.close()
    path, published = settings.warehouse.path, settings.warehouse.published
    write_note(path, "rollback", None)
    duckdb.connect(published.with_name("analytics.20260201T000000000000Z.duckdb")).close()
    ActSettings.of(settings).stop_file.unlink()


def content(settings: Settings) -> dict[str, bytes]:
    """The bytes of each file that a restore replaces."""
    return {name: file.read_bytes() for name, file in kept_files(settings).items() if file.suffix != ".sqlite"}


def calls(settings: Settings) -> int:
    return len(ask(settings.warehouse.path, "from raw.phone_calls"))


def test_a_backup_has_every_file_for_its_owner_alone_and_no_secret(settings: Settings, tmp_path: Path) -> None:
    folder = tmp_path / "backup"

    made = back_up(settings, folder)

    names = {file.name for file in made.files}
    assert names >= {"private", "private.notes.sqlite", "published", "published.20260101T000000000000Z"}
    assert names >= {"contacts", "inbox", "act-stopped", "dashboard-audit"}
    assert names == set(kept_files(settings))
    assert all(place_of(settings, name) == file for name, file in kept_files(settings).items())
    assert "passwords" not in str(list(folder.iterdir()))
    modes = {stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()}
    assert (modes, stat.S_IMODE(folder.stat().st_mode)) == ({0o600}, 0o700)
    assert ask(folder / "private", "from raw.phone_calls")
    with Inbox.read_only(folder / "inbox") as inbox:
        assert inbox.execute("select count(*) from deliveries").fetchone() == (1,)


def test_a_restore_puts_everything_back_and_drains_later_deliveries_again(
    settings: Settings, tmp_path: Path
) -> None:
    folder, published = tmp_path / "backup", settings.warehouse.published
    os.utime(published, (PUBLISHED_AT.timestamp(), PUBLISHED_AT.timestamp()))
    back_up(settings, folder)
    before = content(settings)
    change(settings)
    with Inbox.open(settings.webhooks.inbox) as inbox:
        inbox.keep([Entry(Channel.MESSAGES, "p1", b"{ }", DELIVERY.received_at)])

    restored = restore(settings, folder)

    assert content(settings) == before
    assert read_note(settings.warehouse.path, "rollback") == {"of": "before"}
    assert calls(settings) == 1
    assert stat.S_IMODE(published.stat().st_mode) == 0o640
    shown = read_status(settings).published
    assert shown is not None
    assert shown.made_at == PUBLISHED_AT
    assert settings.webhooks.inbox in restored.stayed
    with Inbox.open(settings.webhooks.inbox) as inbox:
        assert len(inbox.waiting(10)) == 2

    for file in kept_files(settings).values():
        file.unlink()
    assert restore(settings, folder).stayed == ()
    assert content(settings) == before


def test_a_half_or_a_changed_backup_is_refused_and_nothing_is_touched(settings: Settings, tmp_path: Path) -> None:
    folder = tmp_path / "backup"
    back_up(settings, folder)
    change(settings)
    now = content(settings)
    whole = {file.name: file.read_bytes() for file in folder.iterdir()}
    manifest = json.loads(whole[MANIFEST])
    other = json.dumps({**manifest, "files": [{**manifest["files"][0], "name": "../../evil"}]}).encode()

    for name, damage in (
        ("private", whole["private"][:-1] + b"x"),
        ("published", whole["published"][:100]),
        ("inbox", None),
        (MANIFEST, None),
        (MANIFEST, b"{}"),
        (MANIFEST, other),
    ):
        (folder / name).write_bytes(damage) if damage is not None else (folder / name).unlink()
        with pytest.raises(BackupError):
            restore(settings, folder)
        assert content(settings) == now
        (folder / name).write_bytes(whole[name])
    restore(settings, folder)


def test_a_folder_with_other_files_or_with_a_whole_backup_is_refused(settings: Settings, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "photo").touch()

    with pytest.raises(WrongUse, match="has other files"):
        back_up(settings, mine)
    back_up(settings, tmp_path / "backup")
    with pytest.raises(WrongUse, match="has a backup already"):
        back_up(settings, tmp_path / "backup")


def test_a_backup_that_is_killed_counts_as_none_and_the_next_one_takes_its_folder(
    settings: Settings, tmp_path: Path
) -> None:
    folder, kills = tmp_path / "backup", 0
    for step in range(0, 400, 3):
        if not killed_at(step, tmp_path / "ended", back_up, settings, folder):
            break
        kills += 1
        if (folder / MANIFEST).exists():
            read_backup(folder)
            shutil.rmtree(folder)
        else:
            with pytest.raises(BackupError, match="no whole backup"):
                read_backup(folder)
    assert kills > 5
    assert read_backup(folder).files


def test_a_restore_that_is_killed_leaves_one_state_or_keeps_other_commands_away_until_it_is_repeated(
    settings: Settings, tmp_path: Path
) -> None:
    folder, kills, kept_away = tmp_path / "backup", 0, 0
    back_up(settings, folder)
    before = content(settings)
    change(settings)
    later = tmp_path / "later"
    back_up(settings, later)
    after = content(settings)
    for step in range(0, 600, 4):
        if not killed_at(step, tmp_path / "ended", restore, settings, folder):
            break
        kills += 1
        if unfinished_restore(settings.warehouse.path):
            with pytest.raises(WarehouseError, match="`vetl restore` did not end"), writing(settings.warehouse):
                pass
            kept_away += 1
        else:
            assert content(settings) in (before, after)
        restore(settings, later)
        assert content(settings) == after
    assert kills > 5
    assert kept_away > 0
    assert content(settings) == before


def test_status_names_a_restore_into_an_empty_folder_that_did_not_end(settings: Settings) -> None:
    settings.warehouse.path.parent.mkdir(parents=True, exist_ok=True)
    for file in settings.warehouse.path.parent.glob("vetl.duckdb*"):
        file.unlink() if file.is_file() else shutil.rmtree(file)
    restore_mark(settings.warehouse.path).write_text("the folder of the backup")

    with pytest.raises(WarehouseError, match="`vetl restore` did not end"):
        read_status(settings)


def test_the_commands_say_what_they_did(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(settings.warehouse.path.parent, "warehouse/data")
    Path("vetl.toml").write_text("[warehouse]\nlock_wait_seconds = 0\n", "utf-8")
    assert load_settings().warehouse.path.exists()

    assert execute(["backup", "saved"]) == 0
    out, err = capsys.readouterr()
    assert "Backed up and verified: saved" in out
    assert "not in it: the settings and secrets" in err

    assert execute(["restore", "saved"]) == 0
    out, err = capsys.readouterr()
    assert "Verified and restored: saved" in out
    assert "forget them again" in err
    assert execute(["restore", "nothing"]) == 1
    assert "nothing: has no whole backup" in capsys.readouterr().err
