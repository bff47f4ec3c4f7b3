"""`vetl dagster` and `vetl dbt`: run these installed programs on vetl's warehouse."""

import os
import signal
import subprocess
import sys
from argparse import ArgumentError, ArgumentParser
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

import typer
import yaml

from vetl import bundled
from vetl.cli.commands import Commands
from vetl.cli.signals import is_terminated
from vetl.core.errors import ConfigurationError, WarehouseError, WrongUse, cannot_write
from vetl.jobs.build import dbt_variables, doubt_build
from vetl.jobs.dbt_process import COMMAND as DBT, as_options, environment, state_folder
from vetl.settings import load_settings
from vetl.store.notes import refuse_newer

DAGSTER = (sys.executable, "-m", "dagster")
DG = (sys.executable, "-c", "from dagster_dg_cli.cli import main; main()")
_WITH_DEFINITIONS = frozenset(("dev", "asset", "job", "schedule", "sensor", "definitions"))
"""The commands of Dagster with an option `-m` for the module of the definitions."""
_BUILDING = frozenset(("build", "retry", "run", "run-operation"))
_WITH_VARIABLES = _BUILDING | {"compile", "docs", "list", "ls", "parse", "show", "source", "test"}
"""The commands of dbt with an option `--vars`."""


PASS_THROUGH = {"ignore_unknown_options": True, "allow_extra_args": True, "allow_interspersed_args": False}

app = Commands()


@app.command(examples="vetl dagster dev", context_settings=PASS_THROUGH, add_help_option=False)
def dagster(context: typer.Context) -> int:
    """Run Dagster on vetl's definitions: vetl dagster dev."""
    if find_spec("dagster_dg_cli") is None:
        raise ConfigurationError("Dagster is not installed here: pip install 'vetl-warehouse[dagster]'")
    passed_on = list(context.args)
    if "--help" in passed_on:
        return _run([*DAGSTER, *passed_on], dict(os.environ))
    if passed_on and passed_on[0] in _WITH_DEFINITIONS and not {"-m", "-w", "-f"}.intersection(passed_on):
        passed_on += ["-m", "vetl.definitions"]
    home = Path(os.environ.get("DAGSTER_HOME") or _warehouse().with_name("dagster"))
    _write_settings(home)
    # Dagster has superseded `dagster dev` by `dg dev`; `dg` lacks the other commands.
    command = DG if passed_on[:1] == ["dev"] else DAGSTER
    return _run([*command, *passed_on], {**os.environ, "DAGSTER_HOME": str(home)})


def _write_settings(home: Path) -> None:
    """Write vetl's `dagster.yaml` if there is none.

    Without this file Dagster sends telemetry and may run two steps that write at the same time.
    """
    try:
        home.mkdir(parents=True, exist_ok=True)
        with (home / "dagster.yaml").open("x", encoding="utf-8") as file:
            file.write(bundled.dagster_settings().read_text("utf-8"))
    except FileExistsError:
        return
    except OSError as error:
        raise WarehouseError(cannot_write(home / "dagster.yaml", error)) from None


@app.command(
    examples="""
        vetl dbt ls
        vetl dbt test --select phone_calls""",
    context_settings=PASS_THROUGH,
    add_help_option=False,
)
def dbt(context: typer.Context) -> int:
    """Run dbt on vetl's models and warehouse: vetl dbt ls."""
    arguments = context.args
    if "--help" in arguments:
        return _run([*DBT, *arguments], dict(os.environ))
    settings, warehouse = load_settings(), _warehouse()
    state, project = state_folder(warehouse), str(bundled.dbt_project())
    # The value of an option may stand before the command: `--log-level debug run`.
    command = next((name for name in arguments if name in _WITH_VARIABLES), "")
    others, own = _without_variables(arguments)
    variables = as_options({**dbt_variables(settings.practices, settings.definitions), **own}) if command else []
    if command in _BUILDING:
        doubt_build(settings)
    places = {
        "DBT_PROJECT_DIR": project,
        "DBT_PROFILES_DIR": project,
        "DBT_TARGET_PATH": str(state / "target"),
        "DBT_LOG_PATH": str(state / "logs"),
    }
    state.mkdir(parents=True, exist_ok=True)
    return _run([*DBT, *others, *variables], {**environment(warehouse), **places}, folder=state)


def _without_variables(arguments: Sequence[str]) -> tuple[list[str], dict[str, Any]]:
    """Return the arguments without `--vars`, and its variables: dbt takes the last `--vars` alone."""
    parser = ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument("--vars", default="{}")
    try:
        known, others = parser.parse_known_args(list(arguments))
        variables = yaml.safe_load(known.vars)
    except (ArgumentError, yaml.YAMLError):
        variables, others = None, []
    if not isinstance(variables, dict):
        raise WrongUse("--vars: must be a mapping, such as '{name: value}'")
    return others, cast("dict[str, Any]", variables)


def _warehouse() -> Path:
    path = load_settings().warehouse.path
    refuse_newer(path)
    return path


def _run(command: Sequence[str], environ: dict[str, str], *, folder: Path | None = None) -> int:
    """Run a program to its end. If SIGTERM ends vetl, the program gets SIGINT.

    A program that is killed cannot end its own processes: Dagster's web server and daemon ran on.
    """
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # in the background of a shell; the program inherits it
        signal.signal(signal.SIGINT, signal.default_int_handler)
    process = subprocess.Popen(command, env=environ, cwd=folder)  # noqa: S603 - the command of the user
    try:
        return process.wait()
    except KeyboardInterrupt:
        if is_terminated():  # Ctrl-C reaches all programs of a terminal
            process.send_signal(signal.SIGINT)
        process.wait()
        raise
