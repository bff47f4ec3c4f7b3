"""The command line: a fast start, one line for each mistake, exact exit codes.

dbt, Dagster and DuckDB's shell, which vetl starts with its settings.
"""

import json
import re
import signal
import subprocess
import sys
from collections.abc import Generator
from datetime import datetime
from pathlib import Path

import duckdb
import pytest
from vetl import bundled
from vetl.cli import app, signals
from vetl.cli.commands import lines
from vetl.core.errors import ConfigurationError, Unreachable
from vetl.endpoints import REGISTRY

pytestmark = pytest.mark.usefixtures("empty_folder")


@pytest.mark.parametrize(
    ("module", "heavy"),
    [
        ("app", ("dagster", "duckdb", "polars", "httpx", "dbt", "pydantic_settings", "structlog", "sandbox")),
        ("status", ("dagster", "duckdb", "polars", "httpx")),
    ],
)
def test_the_start_of_a_command_imports_nothing_heavy(module: str, heavy: tuple[str, ...]) -> None:
    """Monitors run `vetl status` every few minutes; importing DuckDB takes three times as long as the rest."""
    script = f"import sys; import vetl.cli.{module}; print([name for name in {heavy} if name in sys.modules])"

    assert subprocess.check_output([sys.executable, "-c", script], text=True).strip() == "[]"


@pytest.mark.parametrize("arguments", [[], ["--help"]])
def test_the_help_has_fifteen_lines_for_every_day_and_names_the_rest(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert app.execute(arguments) == 0
    usage, _, _, *groups, rest = capsys.readouterr().out.strip().split("\n\n")
    others = [name.strip(",") for line in rest.splitlines()[1:] for name in line.split()[1:]]

    assert "Usage: vetl" in usage
    assert [group.partition(":")[0] for group in groups] == ["Start", "Look", "Check", "Act"]
    shown = dict(line.split(maxsplit=1) for group in groups for line in group.splitlines()[1:])
    assert len(shown) <= 15
    assert shown.items() < lines().items()
    assert sorted(others) == sorted(lines().keys() - shown)


def test_vetl_help_has_a_line_for_each_command_and_shows_the_help_of_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert app.execute(["help"]) == 0
    shown = [line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines() if line.startswith("  ")]
    assert dict(shown) == lines()

    for arguments in (["help", "sync"], ["sync", "--help"]):
        assert app.execute(arguments) == 0
    of_help, own = capsys.readouterr().out.split("Usage: ")[1:]
    assert of_help.strip() == own.strip()
    assert app.execute(["help", "snc"]) == 2
    assert "did you mean 'sync'" in capsys.readouterr().err.lower()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["nope"], "No such command 'nope'"),
        (["sync", "--nope"], "No such option: --nope"),
        (["sync", "--since", "2025-13-01"], "'2025-13-01' does not match"),
        (["query", "select 1", "--format", "xml"], "'--format'"),
        (["quarantine"], "quarantine: which command? `vetl quarantine --help` lists the commands"),
        (["demo", "--days", "0"], "'--days'"),
        (["--config", "~nobody-here/vetl.toml", "status"], "must not begin with ~ and the name of no account"),
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


@pytest.mark.usefixtures("configured")
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["publish", "--to", "east.duckdb"], "give --for GROUP, too"),
        (["publish", "--for", "East", "--rollback"], "--for cannot be combined with --rollback"),
        (["publish", "--for", ""], "no practice has this group"),
        (["dashboard", "--set-password", ""], "there is no user"),
        (["status", "--json", "--format", "prometheus"], "--json cannot be combined with --format"),
        (
            ["build", "--engine", "spark", "--full-refresh"],
            "--full-refresh cannot be combined with --engine spark",
        ),
    ],
)
def test_an_option_that_would_have_no_effect_is_refused(
    arguments: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert app.execute(arguments) == 2
    assert expected in capsys.readouterr().err


def test_a_demo_does_not_go_on_in_the_folder_of_another(capsys: pytest.CaptureFixture[str]) -> None:
    Path("demo").mkdir()
    Path("demo/vetl.toml").write_text("[[practices]]\nid = 'another'", "utf-8")

    assert app.execute(["demo", "--days", "1", "--practices", "1", "--quiet"]) == 2

    assert "demo: holds other practices or days" in capsys.readouterr().err


def test_a_wrong_setting_is_one_line_and_with_json_one_object_too(capsys: pytest.CaptureFixture[str]) -> None:
    Path("vetl.toml").write_text("[partner]\nmax_in_flight = 0", "utf-8")

    assert app.execute(["status", "--json"]) == 2

    out, err = capsys.readouterr()
    assert "vetl.toml: partner.max_in_flight must be" in err
    assert err.count("\n") == 1
    assert json.loads(out) == {"exit_code": 2, "error": err.removeprefix("vetl: ").strip()}


@pytest.mark.usefixtures("configured")
@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (Unreachable("no connection"), 1, "vetl: no connection\n"),
        (ConfigurationError("a\nb"), 2, "vetl: a b\n"),
        (KeyError("Jane Doe"), 1, "vetl: internal error: KeyError in test_cli_usage.py, line .*"),
    ],
)
def test_an_error_is_its_line_and_its_exit_code(
    error: BaseException, code: int, line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An unforeseen one shows its place and not its text, which may quote a row."""

    def fails(*_: object, **__: object) -> int:
        raise error

    monkeypatch.setattr("vetl.cli.status.read_status", fails)

    assert app.execute(["status"]) == code
    err = capsys.readouterr().err
    assert re.fullmatch(line, err, re.DOTALL)
    assert "Jane" not in err


@pytest.fixture
def _heeds_signals() -> Generator[None]:
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a suite in the background ignores Ctrl-C
    signals.heed()
    yield
    signals.forget()
    signal.set_wakeup_fd(-1)
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("configured", "_heeds_signals")
@pytest.mark.parametrize(
    "raised",
    [
        None,
        duckdb.InterruptException("INTERRUPT Error: Interrupted!"),
        RuntimeError("Query interrupted"),
        ValueError("the connection is closed"),
    ],
)
def test_an_interrupt_is_one_whatever_a_library_raises_then(
    raised: Exception | None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(*_: object, **__: object) -> int:
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt as interrupt:
            raise raised or interrupt from None
        return 0

    monkeypatch.setattr("vetl.addons.lake.command.run_export", fails)

    assert app.execute(["lake", "export"]) == 130
    assert capsys.readouterr().err == "vetl: interrupted. Progress saved; run again to continue\n"


@pytest.mark.parametrize(
    ("command", "saves"),
    [
        *((command, True) for command in ("sync", "lake export", "webhooks drain", "quarantine retry")),
        *((command, False) for command in ("webhooks serve", "quarantine list", "query")),
    ],
)
def test_a_command_that_keeps_no_progress_names_none(command: str, *, saves: bool) -> None:
    message, code = app.of_interrupt([*command.split(), "--quiet"])

    assert ("Progress saved" in message, code) == (saves, 130)


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


@pytest.mark.usefixtures("configured")
def test_dbt_gets_the_variables_of_vetl_beside_those_of_the_user(capfd: pytest.CaptureFixture[str]) -> None:
    """The command need not be the first word, and dbt itself takes the last `--vars` alone."""
    text = "{{ var('mine') }} {{ var('lists') | length }}"
    before = ["dbt", "--quiet", "--log-level-file", "debug"]

    assert app.execute([*before, "compile", "--vars", "{mine: x}", "--no-introspect", "--inline", text]) == 0

    assert capfd.readouterr().out.split() == ["x", str(len(REGISTRY))]
    # dbt has made the file, which has none of vetl's tables.
    assert app.execute(["dbt", "run", "--select", "practices"]) == 1
    assert "internal error" not in capfd.readouterr().err
    assert app.execute(["dbt", "run", "--vars", "mine"]) == 2
    assert "--vars: must be a mapping" in capfd.readouterr().err


@pytest.mark.usefixtures("configured")
def test_dagster_gets_the_settings_of_the_deployment_unless_it_has_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Without these settings Dagster sends telemetry, and two runs write at the same time."""
    home = tmp_path / "home"
    monkeypatch.setenv("DAGSTER_HOME", str(home))

    assert app.execute(["dagster", "--version"]) == 0
    assert "dagster, version 1." in capfd.readouterr().out
    assert (home / "dagster.yaml").read_text("utf-8") == bundled.dagster_settings().read_text("utf-8")

    (home / "dagster.yaml").write_text("telemetry: {enabled: true}\n", "utf-8")
    assert app.execute(["dagster", "--version"]) == 0
    assert (home / "dagster.yaml").read_text("utf-8") == "telemetry: {enabled: true}\n"
