"""The commands without substitutes: a platform over a socket, a warehouse, dbt, a published file."""

import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import redirect_stdout
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import vetl_sandbox
from support.mart_builds import untested
from support.practice_site import write_settings
from support.processes import answers
from support.sandbox_settings import enter
from support.small_project import small_project
from vetl import bundled
from vetl.cli import app
from vetl.partner.webhooks import Channel
from vetl.receiving.inbox import Entry, Inbox
from vetl.store.writer_lock import read_activity

DAYS = 6
DATA = Path("warehouse/data")


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    """Return the only object that a command prints with `--json`."""
    capsys.readouterr()
    assert app.execute([*arguments, "--json"]) == 0
    out = capsys.readouterr().out
    assert out.count("\n") == 1
    return json.loads(out)


@pytest.fixture(scope="module", autouse=True)
def _project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Build few of the models: those that the demo and these tests ask; `tests/transform` builds all of them."""
    marts = ("booking_funnel_daily", "booking_intent_daily", "clients", "outreach_outcomes_daily")
    few = small_project(tmp_path_factory.mktemp("few-models"), *marts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bundled, "dbt_project", lambda: few)
        patch.setenv("PROJECT_OF_TESTS", str(few))
        yield


@pytest.fixture(scope="module")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[vetl_sandbox.Handle]:
    """Provide a platform, and in the working directory a `vetl.toml` that points to it."""
    folder = tmp_path_factory.mktemp("vetl")
    with (
        vetl_sandbox.running(practices=2, days=DAYS, calls=100, frozen=True) as platform,
        pytest.MonkeyPatch.context() as patch,
    ):
        write_settings(folder, platform, practices=2, days=DAYS)
        enter(folder, platform, patch)
        yield platform


@pytest.mark.usefixtures("platform")
@pytest.mark.parametrize(
    ("arguments", "valid_name"),
    [
        ("sync --practice nope", "loc-001"),
        ("sync --endpoint nope", "staff_tasks"),
        ("run --practice nope", "loc-001"),
    ],
)
def test_an_unknown_name_is_exit_2_names_the_known_ones_and_does_nothing(
    arguments: str, valid_name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The inbox is not drained, and no mart is built or published."""
    inbox = DATA / "inbox.sqlite"
    with Inbox.open(inbox) as opened:
        opened.keep([Entry(Channel.SERVICE_REMINDERS, "loc-001", b"{}", datetime.now(UTC))])
    capsys.readouterr()

    assert app.execute(arguments.split()) == 2

    err = capsys.readouterr().err
    assert "nope" in err
    assert valid_name in err
    assert err.count("\n") == 1
    with Inbox.open(inbox) as opened:
        assert len(opened.waiting(10)) == 1
    assert [path.name for path in inbox.parent.iterdir() if path.name.endswith(".duckdb")] == []
    inbox.unlink()


@pytest.fixture(scope="module")
def refused_run(platform: vetl_sandbox.Handle) -> dict[str, Any]:
    """Return the report of `vetl run` after `vetl sync`, while the platform refuses every sign-in."""
    assert platform
    assert app.execute(["sync"]) == 0
    out = StringIO()
    with untested(), pytest.MonkeyPatch.context() as patch, redirect_stdout(out):
        patch.setenv("VETL_PARTNER__PASSWORD", "changed")
        assert app.execute(["run", "--json"]) == 2
    assert (DATA / "analytics.duckdb").exists()
    return json.loads(out.getvalue())


def test_run_publishes_committed_rows_although_the_platform_is_gone(refused_run: dict[str, Any]) -> None:
    assert refused_run["sync"] is None
    assert refused_run["error"]
    assert refused_run["build"]["failures"] == []
    assert refused_run["build"]["succeeded"] > 10
    assert refused_run["published"]


@pytest.mark.usefixtures("refused_run")
def test_refused_credentials_are_exit_2_in_one_line_without_them_and_change_no_file(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {path: path.read_bytes() for path in DATA.glob("*.duckdb")}
    monkeypatch.setenv("VETL_PARTNER__PASSWORD", "wrong-and-secret")

    assert app.execute(["sync"]) == 2

    assert files == {path: path.read_bytes() for path in files}
    out, err = capsys.readouterr()
    assert err.count("\n") == 1
    assert "wrong-and-secret" not in out + err


@pytest.mark.usefixtures("refused_run")
def test_publish_reports_the_rows_of_every_mart(capsys: pytest.CaptureFixture[str]) -> None:
    answer(capsys, "sync")  # the last attempt may be that of another test, with a wrong password
    published = answer(capsys, "publish")["published"]

    assert published["path"] == str(Path.cwd() / DATA / "analytics.duckdb")
    assert published["tables"]["practices"] == 2
    assert "clients.phone" in published["masked"]
    assert answer(capsys, "status")["published"]["masked_words"] == published["masked_words"]


@pytest.mark.usefixtures("refused_run")
def test_a_run_without_news_builds_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    published = DATA / "analytics.duckdb"
    before = published.read_bytes()
    at_first = read_activity(published.with_name("vetl.duckdb"), "publication")

    capsys.readouterr()
    assert app.execute(["run", "--json"]) == 0
    out, err = capsys.readouterr()

    report = json.loads(out)
    assert report["build"] is None
    assert report["published"]["tables"]["practices"] == 2
    assert "No new data" in err
    assert published.read_bytes() == before
    at_last = read_activity(published.with_name("vetl.duckdb"), "publication")
    assert at_first
    assert at_last
    assert at_last.started_at >= at_first.started_at
    assert at_last.outcome == "done", "a file without news is as fresh as the run"


BROWSER = """#!{python}
import os, signal, sys, urllib.request
from pathlib import Path
with urllib.request.urlopen(sys.argv[1]) as answer:
    Path({opened!r}).write_text(str(answer.status))
os.kill(os.getppid(), signal.SIGTERM)
"""
"""A program that writes the server's answer into a file and ends the server."""


DEMO = ("demo", "--days", "20")


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Path, dict[str, Any]]]:
    """Provide the folder of `vetl demo --open`, the answer to the browser, and the report.

    The demo must not write into a warehouse of the environment.
    """
    folder, programs, out = tmp_path_factory.mktemp("demo"), tmp_path_factory.mktemp("browser"), StringIO()
    browser, opened = programs / "xdg-open", programs / "opened"
    browser.write_text(BROWSER.format(python=sys.executable, opened=str(opened)))
    browser.chmod(0o755)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("VETL_WAREHOUSE__PATH", str(folder / "real.duckdb"))
        patch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
        with untested(), redirect_stdout(out):
            assert app.execute([*DEMO, "--open", "--json"]) == 0, out.getvalue()[-600:]
        yield folder, opened, json.loads(out.getvalue())


def test_the_demo_keeps_to_its_folder_and_can_be_repeated(
    demo: tuple[Path, Path, dict[str, Any]], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """While the second demo keeps its platform, `vetl run` reads the platform's next day."""
    folder, opened, first = demo
    command = [sys.executable, "-m", "support.untested_vetl", *DEMO, "--keep", "--json"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    kept = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert kept.stdout
        assert kept.stderr
        second = json.loads(kept.stdout.readline())
        assert any(line.endswith("demo run\n") for line in kept.stderr), "the next command is not shown"
        platform = tomllib.loads(Path("demo/vetl.toml").read_text("utf-8"))["partner"]["base_url"]
        monkeypatch.delenv("VETL_WAREHOUSE__PATH")
        with untested():
            next_day = answer(capsys, "-C", "demo", "run")
        assert sum(item["changes"]["inserted"] for item in next_day["sync"]["results"]) > 0
        assert next_day["published"]
        assert answers(platform)
    finally:
        kept.terminate()
        kept.communicate(timeout=60)
    assert kept.returncode == 0
    assert not answers(platform)
    capsys.readouterr()
    for name in ("USERNAME", "PASSWORD", "ROLE"):
        monkeypatch.delenv(f"VETL_PARTNER__{name}", raising=False)  # those of another test's platform
    assert app.execute(["run"]) == 2, "in the demo's folder"
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith("`vetl demo --keep` keeps it running")

    assert opened.read_text() == "200"
    for report in (first, second):
        assert {item["state"] for item in report["sync"]["results"]} == {"certified"}
        assert all(report["answers"].values())
    assert [path.name for path in folder.iterdir()] == ["demo"]
