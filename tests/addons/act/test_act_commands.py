"""With acting off no request but GET and sign-in leaves, in any command that talks to the platform."""

import json
from pathlib import Path

import pytest
from support.act_world import PRACTICE, ActWorld, toml_of, unbooked
from support.every_command import every_command
from vetl.cli import app

SIGN_IN = "/services/user/v1/auth/sign-in"
COMMANDS = (
    *("sync", "reconcile --full", "doctor --write", "webhooks drain --message msg-1", "quarantine retry"),
    *("status", "act plan", "act apply 0123456789abcdef", "act status", "publish"),
)
WITHOUT_PLATFORM = {
    *("demo", "init", "sandbox serve", "dagster", "dbt", "dashboard", "notebook", "query", "lake export"),
    *("build", "forget", "quarantine list", "quarantine acknowledge", "webhooks serve", "explain", "metric"),
    *("verify", "forecast", "report", "watch", "mcp", "backup", "restore"),
}
"""Commands that are about other things, need a person, or go on until they are ended."""


def test_no_command_changes_anything_on_the_platform(installed: ActWorld) -> None:
    installed.build(unbooked(3))
    for command in COMMANDS:
        app.execute(command.split())

    log = installed.platform.requests.log
    assert {(seen.method, seen.path) for seen in log if seen.method != "GET"} == {("POST", SIGN_IN)}
    assert not Path("acts.sqlite").exists()


def test_each_command_is_tried_or_needs_no_platform() -> None:
    """`run` is `sync`, `webhooks drain` and `build`."""
    names = every_command().keys()
    tried = {name for name in names if any(f"{command} ".startswith(f"{name} ") for command in COMMANDS)}

    assert names - tried - WITHOUT_PLATFORM == {"run"}


def test_the_commands_plan_apply_and_show(installed: ActWorld, capsys: pytest.CaptureFixture[str]) -> None:
    Path("vetl.toml").write_text(toml_of(installed, enabled=True), "utf-8")
    installed.build(unbooked(3))
    assert app.execute(["act", "plan", "--json"]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert app.execute(["act", "apply", plan["digest"], "--json"]) == 0
    applied = json.loads(capsys.readouterr().out)
    assert app.execute(["act", "status"]) == 0
    summary = capsys.readouterr().out
    assert app.execute(["act", "status", "--all"]) == 0
    every = capsys.readouterr().out

    assert {"practice_id", "episode_id", "kind", "title", "description"} <= plan["acts"][0].keys()
    assert plan["held_back"] == []
    counts = [applied[name] for name in ("sent", "adopted", "unknown", "held_back", "exit_code")]
    assert counts == [3, 0, 0, 0, 0]
    assert summary.split()[:6] == ["3", "acts", "practice", "made", PRACTICE, "3"]
    tasks = [task["id"] for task in installed.tasks()]
    assert len(tasks) == 3
    assert all(task in every and task not in summary for task in tasks)
