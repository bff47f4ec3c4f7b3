"""The permissions of the files that vetl writes."""

import ctypes
import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.request import urlopen

import duckdb
import pytest
import vetl_sandbox
from support.deliveries import message
from support.receiver_process import ReceiverProcess
from vetl.settings import load_settings
from vetl.settings.section import exposed


def vetl(folder: Path, *arguments: str, **more: Any) -> subprocess.CompletedProcess[str]:
    """Run the command with the umask of most operators."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("VETL_")}
    environment |= more.pop("environment", {})
    return subprocess.run(
        [sys.executable, "-m", "vetl", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        umask=0o022,
        **more,
    )


def others_can_reach(folder: Path) -> list[str]:
    return [path.name for path in [folder, *folder.rglob("*")] if stat.S_IMODE(path.stat().st_mode) & 0o077]


def test_files_with_personal_data_are_readable_by_their_owner_only(tmp_path: Path) -> None:
    """Warehouse, inbox, status and their folders are private; dbt inherits the same umask."""
    with vetl_sandbox.running(practices=1, days=1, calls=1, frozen=True) as platform:
        with urlopen(f"{platform.base_url}/vetl.toml") as settings:
            (tmp_path / "vetl.toml").write_bytes(settings.read())
        keys = ("username", "password", "role")
        secrets = "".join(f"VETL_PARTNER__{key.upper()}={getattr(platform, key)}\n" for key in keys)
        (tmp_path / ".env").write_text(secrets, "utf-8")
        synced = vetl(tmp_path, "sync")
    assert synced.returncode == 0, synced.stderr
    with ReceiverProcess(tmp_path) as receiver:
        assert receiver.send(message()) == 200
    assert vetl(tmp_path, "webhooks", "drain", "--no-catch-up").returncode == 0

    made = {path.name for path in (tmp_path / "warehouse" / "data").iterdir()}
    assert {"vetl.duckdb", "vetl.duckdb.notes.sqlite", "inbox.sqlite"} <= made
    assert others_can_reach(tmp_path / "warehouse") == []


def test_init_writes_settings_and_a_key_that_is_accepted_for_their_owner_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert vetl(tmp_path, "init").returncode == 0

    secrets = tmp_path / ".env"
    assert stat.S_IMODE(secrets.stat().st_mode) == 0o600
    key = secrets.read_text().split("VETL_WAREHOUSE__PII_KEY=")[1].strip()
    assert len(bytes.fromhex(key)) == 32
    monkeypatch.chdir(tmp_path)
    assert load_settings().warehouse.pii_key is None
    secrets.write_text(f"VETL_WAREHOUSE__PII_KEY={key}")
    assert load_settings().warehouse.pii_key is not None


def test_doctor_warns_of_files_that_everybody_may_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    settings = load_settings()
    data = settings.warehouse.path.parent
    data.mkdir(parents=True)
    data.chmod(0o711)  # analysts may enter the folder
    (state := data / "vetl.duckdb.dbt").mkdir(0o700)
    beside = [data / name for name in ("vetl.duckdb.notes.sqlite", "inbox.sqlite", "inbox.sqlite-wal")]
    files = [tmp_path / ".env", settings.warehouse.path, *beside, data / "contacts.duckdb"]
    for file in (*files, settings.warehouse.published):
        file.touch(0o600)
    settings.warehouse.published.chmod(0o644)
    files[1].chmod(0o640)  # access for a group is intended
    assert exposed(settings) == []

    for file in files:
        file.chmod(0o644)
    state.chmod(0o755)
    data.chmod(0o755)
    warnings = exposed(settings)
    assert [line.split(":")[0] for line in warnings] == list(map(str, (*files[:2], state, *files[2:], data)))
    assert warnings[0].endswith(f"chmod o-rwx {files[0]}")
    assert warnings[-1].endswith(f"may list it or write to it; chmod o-rw {data}")


SETTINGS = """\
[warehouse]
path = "private/vetl.duckdb"
published = "analytics.duckdb"

[[practices]]
id = "loc-1"
name = "Żółw"
time_zone = "Europe/Warsaw"
history_start = 2026-01-01
"""


def _as_any_account() -> None:
    """Let the permissions of files hold, also for root: without `DAC_OVERRIDE` and `DAC_READ_SEARCH`."""
    if os.geteuid() == 0:
        drop_from_bounding_set = 24
        for capability in (1, 2):
            ctypes.CDLL(None).prctl(drop_from_bounding_set, capability, 0, 0, 0)


def set_up(folder: Path) -> None:
    """Write settings, and a published file with one table."""
    (folder / "vetl.toml").write_text(SETTINGS, "utf-8")
    with duckdb.connect(str(folder / "analytics.duckdb")) as connection:
        connection.execute("create table calls as select 'Żółw 🐢' as practice")


def test_an_account_that_may_not_read_the_secrets_asks_the_published_file() -> None:
    """The analyst's account: `.env` and the folder of the private file are the operator's alone."""
    with TemporaryDirectory() as place:
        folder = Path(place)
        folder.chmod(0o755)
        set_up(folder)
        (folder / "private").mkdir(mode=0)
        (folder / ".env").write_text("VETL_PARTNER__PASSWORD=hush\n", "utf-8")
        (folder / ".env").chmod(0)

        asked = vetl(folder, "query", "from calls", "--format", "csv", preexec_fn=_as_any_account)
        metric = vetl(folder, "metric", preexec_fn=_as_any_account)
        synced = vetl(folder, "sync", preexec_fn=_as_any_account)

    assert (asked.returncode, asked.stdout) == (0, "practice\nŻółw 🐢\n"), asked.stderr
    assert "analytics.duckdb" in metric.stderr, "it was opened, and has no metrics"
    assert ".env: cannot be read: Permission denied" in synced.stderr


def test_a_terminal_that_lacks_the_letters_of_a_name_shows_each_command(tmp_path: Path) -> None:
    set_up(tmp_path)
    ascii_only = {"PYTHONIOENCODING": "ascii"}

    table = vetl(tmp_path, "query", "from calls", environment=ascii_only)
    asked = vetl(
        tmp_path,
        *("query", "--json", "--file", "-"),
        environment=ascii_only,
        input="select practice, 'ł' as typed from calls",
    )

    assert (table.returncode, asked.returncode) == (0, 0), table.stderr + asked.stderr
    assert r"\u017b" in table.stdout
    assert "Żółw 🐢" in json.dumps(json.loads(asked.stdout), ensure_ascii=False)
    assert "ł" in json.dumps(json.loads(asked.stdout), ensure_ascii=False)
