"""The first hour of a newcomer: the wrong folder, `-C` and `--config`, broken files, busy ports, `vetl init`."""

import json
import os
import secrets
import shlex
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.every_command import every_command
from typer.main import get_command
from vetl import bundled
from vetl.cli import app
from vetl.cli.commands import WithSettings, lines
from vetl.cli.init import ask, filled, shortened
from vetl.settings import load_settings

PRACTICE = '[[practices]]\nid = "loc-1"\nname = "Harbor"\ntime_zone = "UTC"\nhistory_start = 2026-01-01\n'
ARGUMENTS = {
    "query": ["select 1"],
    "forget": ["--practice", "loc-1", "--client", "1"],
    "quarantine acknowledge": ["--reason", "known"],
    "act apply": ["0123456789abcdef"],
    "backup": ["there"],
    "restore": ["there"],
}


@pytest.fixture(autouse=True)
def _here(empty_folder: None, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ARG001 - its effect
    monkeypatch.setenv("VETL_PARTNER__PASSWORD", "a secret alone is no settings")


@pytest.fixture
def busy() -> Iterator[int]:
    """Provide a port that another program uses."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


def fails(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 2) -> str:
    """Return the only line of a command that fails."""
    assert app.execute(arguments) == code
    error = capsys.readouterr().err
    assert error.count("\n") == 1, error
    return error


NEEDS_SETTINGS = sorted(name for name, command in every_command().items() if isinstance(command, WithSettings))


@pytest.mark.parametrize("command", [*NEEDS_SETTINGS, "query"])
def test_without_settings_a_command_makes_nothing_and_says_so_in_one_line(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    error = fails(capsys, *command.split(), *ARGUMENTS.get(command, []))

    assert f"{tmp_path}: there is no vetl.toml here" in error
    assert "-C DIR" in error
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "command",
    ["webhooks drain", "lake export", "reconcile", "quarantine list", "build", "publish", "status", "query 1"],
)
def test_no_command_but_sync_and_run_makes_a_warehouse(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("vetl.toml").write_text(PRACTICE, "utf-8")

    error = fails(capsys, *command.split(), code=1)

    assert "vetl sync" in error or "vetl run" in error
    assert [path.name for path in tmp_path.iterdir()] == ["vetl.toml"]


def test_every_command_has_examples_and_its_line_is_its_help() -> None:
    assert [name for name, command in every_command().items() if f"  vetl {name}" not in command.epilog] == []
    root: Any = get_command(app.app)
    assert {name: command.help for name, command in root.commands.items()} == lines()


@pytest.mark.parametrize(
    "arguments",
    [
        ["-C", "there", "status"],
        ["status", "-C", "there"],
        ["--config", "there/vetl.toml", "status"],
        ["status", "--config=there/vetl.toml"],
        ["-C", "there", "status", "--config", "vetl.toml"],
    ],
)
def test_a_folder_or_a_file_is_chosen_before_or_after_the_command(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("there").mkdir()
    Path("there/vetl.toml").write_text(PRACTICE, "utf-8")

    assert f"{tmp_path}/there/warehouse/data/vetl.duckdb" in fails(capsys, *arguments, code=1)


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ("-C nowhere status", "-C nowhere: No such file or directory"),
        ("--config nowhere.toml status", "nowhere.toml: cannot be read"),
        ("status --log-file nowhere/said", "--log-file nowhere/said: cannot be written"),
        ("doctor", "add them to vetl.toml, which `vetl init` writes"),
    ],
)
def test_a_missing_place_is_one_line(arguments: str, line: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("vetl.toml").touch()
    assert line in fails(capsys, *arguments.split())


def test_a_broken_dotenv_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    Path("vetl.toml").write_text(PRACTICE, "utf-8")
    dotenv = Path(".env")
    dotenv.write_bytes(b"VETL_PARTNER__USERNAME=\xff\xfe\x00")
    assert ".env: is not UTF-8 text" in fails(capsys, "status")

    dotenv.unlink()
    dotenv.symlink_to(dotenv)  # root may read every file, but a folder cannot be read as a file
    assert ".env: cannot be read: Too many levels of symbolic links" in fails(capsys, "status")


def test_a_password_with_a_dollar_sign_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VETL_PARTNER__PASSWORD")
    monkeypatch.setenv("X", "expanded")
    Path(".env").write_text("VETL_PARTNER__PASSWORD=a${X}b$X\n", "utf-8")

    password = load_settings().partner.password
    assert password is not None
    assert password.get_secret_value() == "a${X}b$X"


@pytest.mark.parametrize("command", ["sandbox serve", "webhooks serve", "dashboard", "notebook"])
def test_a_busy_port_is_one_line(
    command: str, busy: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("vetl.toml").write_text(PRACTICE, "utf-8")
    Path("warehouse/data").mkdir(parents=True)
    Path("warehouse/data/analytics.duckdb").touch()
    monkeypatch.setenv("VETL_WEBHOOKS__SECRETS", secrets.token_hex(32))
    host = ["--host", "127.0.0.1"] if command == "dashboard" else []

    error = fails(capsys, *command.split(), *host, "--port", str(busy))

    assert error == (
        f"vetl: 127.0.0.1:{busy}: another program uses this port;"
        " end that program, or choose another port with --port\n"
    )


@pytest.mark.parametrize("quote", ['"', "'"])
def test_a_password_that_begins_with_a_quote_is_the_password(quote: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without its counterpart on the line a quote would reach to the next quote of the file."""
    for name in ("USERNAME", "PASSWORD", "ROLE"):
        monkeypatch.delenv(f"VETL_PARTNER__{name}", raising=False)
    lines = (
        f"VETL_PARTNER__PASSWORD={quote}pa ss  # ours",
        f"export VETL_PARTNER__USERNAME={quote}ada{quote}",
        f"OTHER={quote}-----BEGIN KEY",
        f"end-----{quote}",
        f"VETL_PARTNER__ROLE = {quote}a{quote}b",
    )
    Path(".env").write_text("\n".join(lines) + "\n", "utf-8")

    partner = load_settings().partner

    read = [item.get_secret_value() if item else None for item in (partner.password, partner.username)]
    assert [*read, partner.role] == [f"{quote}pa ss", "ada", f"{quote}a{quote}b"]


def test_init_fills_in_the_answers_of_a_terminal(tmp_path: Path) -> None:
    zones = ("America/NewYork", "", "localtime", "America/New_York")
    typed = iter(["ftp://x", "https://api.vets.example", "loc-7", 'Élan "Vet"', *zones, ""])
    said: list[str] = []
    example = bundled.example_settings().read_text("utf-8")

    file = tmp_path / "vetl.toml"
    file.write_text(filled(shortened(example), ask(lambda _: next(typed), said.append)), "utf-8")

    settings = load_settings(file)
    assert settings.partner.base_url == "https://api.vets.example"
    assert [(item.id, item.name, item.time_zone) for item in settings.practices] == [
        ("loc-7", 'Élan "Vet"', "America/New_York")
    ]
    assert "did you mean America/New_York?" in said[1]
    assert "a time zone is needed" in said[2]
    assert "must be an IANA time zone" in said[3]


def test_init_writes_what_is_missing_and_changes_nothing_that_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert app.execute(["init"]) == 0
    err = capsys.readouterr().err
    assert "wrote vetl.toml;" in err
    assert err.endswith(" doctor\n")
    short = Path("vetl.toml").read_text("utf-8")
    example = bundled.example_settings().read_text("utf-8")
    assert len(short.splitlines()) <= 30
    assert set(short.splitlines()[2:]) <= {*example.splitlines()}, "each line as in the whole file"
    assert [item.id for item in load_settings(Path("vetl.toml")).practices] == ["loc-001"]
    assert Path(".gitignore").read_text("utf-8").split() == [".env", "warehouse/", "*.log"]

    mine = {"vetl.toml": "# mine", ".gitignore": "mine", ".env": "VETL_PARTNER__PASSWORD=hush"}
    for name, text in mine.items():
        Path(name).write_text(text, "utf-8")
    assert app.execute(["init"]) == 2
    assert Path("vetl.toml").read_text("utf-8") == "# mine"

    Path("vetl.toml").unlink()
    capsys.readouterr()
    assert app.execute(["init", "--quiet", "--json"]) == 0
    out, err = capsys.readouterr()
    assert (json.loads(out)["secrets"], err) == (None, "")
    assert {name: Path(name).read_text("utf-8") for name in (".gitignore", ".env")}.items() <= mine.items()


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("vetl sync --endpoint sta", "staff_tasks"),
        ("vetl sync --practice loc", "loc-1"),
        ("vetl query --question missed-", "missed-hours"),
    ],
)
def test_the_shell_completes_the_values_of_an_option(
    typed: str, completed: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("vetl.toml").write_text(PRACTICE, "utf-8")
    monkeypatch.setenv("_VETL_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", typed)
    monkeypatch.setenv("COMP_CWORD", "3")

    with pytest.raises(SystemExit):
        get_command(app.app).main([], prog_name="vetl")

    assert capsys.readouterr().out.split() == [completed]


@pytest.mark.parametrize("on_path", ["vetl", ""])
def test_the_next_step_of_init_runs_in_the_shell_that_prints_it(on_path: str, tmp_path: Path) -> None:
    """A reader who starts `.venv/bin/vetl` without activating the environment reads that path, not `vetl`."""
    scripts = Path(sys.executable).parent
    command = on_path or shlex.quote(str(scripts / "vetl"))
    clean = {name: value for name, value in os.environ.items() if not name.startswith("VETL_")}
    environment = {**clean, "PATH": f"{scripts}:/usr/bin:/bin" if on_path else "/usr/bin:/bin"}

    def typed(line: str) -> str:
        done = subprocess.run(
            ["sh", "-c", line], cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True, check=False
        )
        return done.stderr

    *_, last = typed(f"{command} init </dev/null").splitlines()

    assert last == f"Next: {command} doctor"
    assert "VETL_PARTNER__USERNAME" in typed(last.removeprefix("Next: "))
