"""The command line: a fast start, one line for each mistake, exact exit codes."""

import json
import os
import re
import subprocess
import sys
from datetime import datetime
from importlib.metadata import version
from pathlib import Path

import pytest
import typer

from pipelines.cli import app
from pipelines.core.errors import ConfigurationError, Unreachable

ROOT = Path(app.__file__).resolve().parents[2]
COMMANDS = {
    "forecast",
    "dashboard",
    "demo",
    "doctor",
    "init",
    "lake",
    "sync",
    "act",
    "explain",
    "mcp",
    "metric",
    "verify",
    "watch",
    "report",
    "build",
    "run",
    "publish",
    "status",
    "query",
    "reconcile",
    "quarantine",
    "sandbox",
    "webhooks",
    "open",
    "notebook",
    "forget",
    "dagster",
    "dbt",
}
PASSED_THROUGH = {"dagster", "dbt"}
HEAVY = ("dagster", "duckdb", "polars", "httpx", "dbt", "pydantic_settings", "structlog", "sandbox")


pytestmark = pytest.mark.usefixtures("empty_folder")


def python(*arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run Python outside of the checkout, like an installed vetl; `more` is added to the environment."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **more}
    return subprocess.run(
        [sys.executable, *arguments], env=environment, capture_output=True, text=True, check=False, timeout=60
    )


def test_every_command_of_the_contract_is_there() -> None:
    commands = typer.main.get_command(app.app).commands  # pyright: ignore[reportAttributeAccessIssue]

    assert set(commands) == COMMANDS


def test_the_start_imports_nothing_heavy() -> None:
    script = f"import sys; import pipelines.cli.app; print([name for name in {HEAVY} if name in sys.modules])"

    assert python("-c", script).stdout.strip() == "[]"


def test_no_command_imports_dagster() -> None:
    modules = ", ".join(
        f"pipelines.cli.{path.stem}" for path in sorted((ROOT / "pipelines" / "cli").glob("[a-z]*.py"))
    )

    result = python("-c", f"import sys; import {modules}; print('dagster' in sys.modules)")

    assert result.stdout.strip() == "False", result.stderr


@pytest.mark.parametrize(
    "arguments", [[], ["--help"], *([command, "--help"] for command in sorted(COMMANDS - PASSED_THROUGH))]
)
def test_help_exits_0(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert app.execute(arguments) == 0
    assert "Usage: vetl" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["nope"], "No such command 'nope'"),
        (["sync", "--nope"], "No such option: --nope"),
        (["sync", "--since", "2025-13-01"], "'2025-13-01' does not match"),
        (["query", "select 1", "--format", "xml"], "'--format'"),
        (["quarantine"], "quarantine: which command? `vetl quarantine --help` lists the commands"),
        (["demo", "--days", "0"], "'--days'"),
        (["sandbox", "serve", "--faults", "nope"], "faults must be one of"),
    ],
)
def test_wrong_use_is_one_line_and_exit_2(
    arguments: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert app.execute(arguments) == 2

    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("vetl: ")
    assert expected in err
    assert err.count("\n") == 1


def test_the_help_of_each_command_fits_into_80_columns(capsys: pytest.CaptureFixture[str]) -> None:
    assert app.execute(["--help"]) == 0
    commands = capsys.readouterr().out.partition("Commands:")[2].splitlines()[1:]

    assert len(commands) == len(COMMANDS)
    assert [line for line in commands if line.endswith("...")] == []


def test_quiet_init_prints_nothing_and_plain_init_the_next_step(capsys: pytest.CaptureFixture[str]) -> None:
    assert app.execute(["init"]) == 0
    assert "wrote vetl.toml;" in (message := capsys.readouterr().err)
    assert re.search(r"\nNext: .* doctor\n$", message)
    Path("vetl.toml").unlink()

    assert app.execute(["init", "--quiet"]) == 0
    assert capsys.readouterr().err == ""


def test_a_demo_does_not_go_on_in_the_folder_of_another(capsys: pytest.CaptureFixture[str]) -> None:
    Path("demo").mkdir()
    Path("demo/vetl.toml").write_text("[[practices]]\nid = 'another'", "utf-8")

    assert app.execute(["demo", "--days", "1", "--practices", "1", "--quiet"]) == 2

    assert "demo: holds other practices or days" in capsys.readouterr().err


def test_a_wrong_setting_is_one_line_and_exit_2(capsys: pytest.CaptureFixture[str]) -> None:
    Path("vetl.toml").write_text("[partner]\nmax_in_flight = 0", "utf-8")

    assert app.execute(["status"]) == 2

    err = capsys.readouterr().err
    assert "vetl.toml: partner.max_in_flight must be" in err
    assert err.count("\n") == 1


def test_with_json_a_failure_is_one_object_too(capsys: pytest.CaptureFixture[str]) -> None:
    Path("vetl.toml").write_text("[partnr]", "utf-8")

    assert app.execute(["status", "--json"]) == 2

    out, err = capsys.readouterr()
    assert json.loads(out) == {"exit_code": 2, "error": err.removeprefix("vetl: ").strip()}


@pytest.mark.usefixtures("configured")
@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (Unreachable("no connection"), 1, "vetl: no connection\n"),
        (ConfigurationError("a\nb"), 2, "vetl: a b\n"),
        (KeyboardInterrupt(), 130, "vetl: interrupted\n"),
    ],
)
def test_an_error_is_its_line_and_its_exit_code(
    error: BaseException,
    code: int,
    line: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fails(*_: object, **__: object) -> int:
        raise error

    monkeypatch.setattr("pipelines.cli.status.status", fails)

    assert app.execute(["status"]) == code
    assert capsys.readouterr().err == line


@pytest.mark.usefixtures("configured")
def test_an_unforeseen_error_shows_its_place_and_not_its_text(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its text may quote a row."""

    def fails(*_: object, **__: object) -> int:
        raise KeyError("Jane Doe")

    monkeypatch.setattr("pipelines.cli.status.status", fails)

    assert app.execute(["status"]) == 1

    err = capsys.readouterr().err
    assert err.startswith("vetl: internal error: KeyError in test_cli_usage.py, line ")
    assert "Jane" not in err


def test_init_writes_the_example_and_never_overwrites(capsys: pytest.CaptureFixture[str]) -> None:
    assert app.execute(["init", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["path"].endswith("vetl.toml")
    assert Path("vetl.toml").read_text("utf-8") == (ROOT / "vetl.example.toml").read_text("utf-8")

    Path("vetl.toml").write_text("# mine", "utf-8")
    assert app.execute(["init"]) == 2
    assert Path("vetl.toml").read_text("utf-8") == "# mine"


@pytest.mark.usefixtures("configured")
@pytest.mark.parametrize("command", ["build", "publish", "status", "query 1"])
def test_before_the_first_sync_a_command_names_the_next_step(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert app.execute(command.split()) == 1

    err = capsys.readouterr().err
    assert "vetl sync" in err or "vetl run" in err
    assert err.count("\n") == 1


def test_without_credentials_sync_names_the_variables(capsys: pytest.CaptureFixture[str]) -> None:
    assert app.execute(["init"]) == 0
    assert app.execute(["sync"]) == 2

    err = capsys.readouterr().err
    assert "VETL_PARTNER__USERNAME, VETL_PARTNER__PASSWORD, VETL_PARTNER__ROLE: not set" in err


def test_the_version_is_that_of_the_distribution(capsys: pytest.CaptureFixture[str]) -> None:
    assert app.execute(["--version"]) == 0
    assert capsys.readouterr().out == f"vetl {version('vetl')}\n"


@pytest.mark.usefixtures("configured")
@pytest.mark.parametrize("arguments", [["--log-file", "said", "status"], ["status", "--log-file=said"]])
def test_messages_are_in_the_log_file_too_for_any_place_of_the_option(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert app.execute(arguments) == 1

    said = capsys.readouterr().err
    stamp, line = Path("said").read_text("utf-8").split(" ", 1)
    assert line == said
    assert datetime.fromisoformat(stamp).tzinfo


@pytest.mark.usefixtures("configured")
def test_with_the_json_log_format_each_line_is_an_object(capsys: pytest.CaptureFixture[str]) -> None:
    assert app.execute(["status", "--log-format", "json"]) == 1

    entry = json.loads(capsys.readouterr().err)
    assert entry["level"] == "error"
    assert "nothing has been synced yet" in entry["event"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_gets_its_completion(shell: str) -> None:
    """The shell is named here, because Typer detects the shell that it runs in, and a test may run in none."""
    shown = python("-m", "pipelines", "--show-completion", shell, _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1")

    assert "COMPLETE" in shown.stdout, shown.stderr
