"""The command line: the arguments of each command. The other modules of this package do the work.

A command imports its modules when it runs, so that `vetl --help` answers at once. No command imports Dagster.
Exit codes: 0 done and certified, 1 failed, 2 wrong use or configuration, 3 uncertified or quarantined.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from vetl.cli import process_exit
from vetl.cli.backup_options import backup, restore
from vetl.cli.commands import Commands
from vetl.cli.figure_options import explain, mcp, metric, verify
from vetl.cli.forget_options import forget
from vetl.cli.groups import act_app, lake_app, quarantine_app, sandbox_app, webhooks_app
from vetl.cli.notice_options import forecast, report, watch
from vetl.cli.options import (
    PASS_THROUGH,
    AsJson,
    Browse,
    Config,
    Engine,
    Folder,
    Format,
    FullRefresh,
    Keep,
    Lists,
    LogFile,
    LogFormat,
    Practices,
    Problems,
    Question,
    Quiet,
    Rollback,
    Since,
    Verbose,
    Version,
    Watch,
)
from vetl.cli.running import fail, run_command

app = Commands(
    "Sync the platform's API into DuckDB, verify completeness, build reporting tables.",
    pretty_exceptions_enable=False,
)
app.add_typer(act_app, name="act")
app.add_typer(lake_app, name="lake")
app.add_typer(quarantine_app, name="quarantine")
app.add_typer(sandbox_app, name="sandbox")
app.add_typer(webhooks_app, name="webhooks")


@app.callback(invoke_without_command=True)
def options(
    context: typer.Context,
    version: Version = False,
    quiet: Quiet = False,
    log_file: LogFile = None,
    log_format: LogFormat = "text",
    folder: Folder = None,
    config: Config = None,
) -> None:
    """Apply the options of every command, which may stand before or after its name."""
    from vetl.cli.output import direct
    from vetl.cli.place import enter

    enter(folder, config)
    direct(quiet=quiet, log_file=log_file, log_format=log_format)
    if version:
        from importlib.metadata import version as installed

        typer.echo(f"vetl {installed('vetl-warehouse')}")
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command()
def demo(
    folder: Annotated[Path, typer.Option(help="The folder for all files.")] = Path("demo"),
    days: Annotated[int, typer.Option(min=1, help="Days of history.")] = 365,
    practices: Annotated[int, typer.Option(min=1, max=500, help="How many practices.")] = 3,
    show: Browse = False,
    keep: Keep = False,
    as_json: AsJson = False,
    verbose: Verbose = 0,
) -> int:
    """Try everything on a made-up platform on this machine."""
    from vetl.cli.demo import demo

    return demo(folder, days=days, practices=practices, show=show, keep=keep, as_json=as_json, verbosity=verbose)


@app.command()
def init(as_json: AsJson = False) -> int:
    """Write vetl.toml, .env and .gitignore; asks on a terminal."""
    from vetl.cli.inspect import init

    return init(as_json=as_json)


@app.command()
def doctor(
    practice: Practices = None,
    endpoint: Lists = None,
    write: Annotated[bool, typer.Option("--write", help="Correct vetl.toml; comments and order stay.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="Also show the checks that passed.")] = False,
    as_json: AsJson = False,
    verbose: Verbose = 0,
) -> int:
    """Compare the settings with the platform; --write corrects them."""
    from vetl.cli.doctor import doctor

    return doctor(practice, endpoint, write=write, everything=everything, as_json=as_json, verbosity=verbose)


@app.command()
def sync(
    practice: Practices = None,
    endpoint: Lists = None,
    since: Since = None,
    as_json: AsJson = False,
    verbose: Verbose = 0,
) -> int:
    """Read new and changed rows into the private warehouse."""
    from vetl.cli.run import sync

    return sync(practice, endpoint, since and since.date(), as_json=as_json, verbosity=verbose)


@app.command()
def reconcile(
    practice: Practices = None,
    full: Annotated[bool, typer.Option("--full", help="All of history, not the last 35 days.")] = False,
    as_json: AsJson = False,
    verbose: Verbose = 0,
) -> int:
    """Read history again, repair late changes and deletions."""
    from vetl.cli.reconcile import reconcile

    return reconcile(practice, full=full, as_json=as_json, verbosity=verbose)


@app.command()
def build(
    full_refresh: FullRefresh = False, engine: Engine = "duckdb", as_json: AsJson = False, verbose: Verbose = 0
) -> int:
    """Build the marts with dbt, then publish."""
    from vetl.cli.run import build

    return build(full_refresh=full_refresh, engine=engine, as_json=as_json, verbosity=verbose)


@app.command()
def run(practice: Practices = None, as_json: AsJson = False, verbose: Verbose = 0) -> int:
    """Sync, build and publish, as a schedule does."""
    from vetl.cli.run import run

    return run(practice, as_json=as_json, verbosity=verbose)


@app.command()
def publish(
    rollback: Rollback = None,
    group: Annotated[
        str | None, typer.Option("--for", metavar="GROUP", help="Write a file with the practices of GROUP alone.")
    ] = None,
    target: Annotated[
        Path | None, typer.Option("--to", metavar="FILE", help="With --for: instead of beside the published file.")
    ] = None,
    accept_loss: Annotated[
        bool, typer.Option("--accept-loss", help="Publish also if a mart has lost most of its rows.")
    ] = False,
    as_json: AsJson = False,
) -> int:
    """Replace the published file by the current marts."""
    from vetl.cli.run import publish, publish_for

    if group:
        return publish_for(group, target, as_json=as_json)
    return publish(rollback=rollback, accept_loss=accept_loss, as_json=as_json)


@app.command()
def status(
    practice: Practices = None, problems: Problems = None, watch: Watch = False, as_json: AsJson = False
) -> int:
    """Show the state of each list, also while a sync runs."""
    from vetl.cli.status import status

    return status(practice, problems=problems, watch=watch, as_json=as_json)


@app.command(context_settings=PASS_THROUGH, add_help_option=False)
def dagster(context: typer.Context) -> int:
    """Run Dagster on vetl's definitions: vetl dagster dev."""
    from vetl.cli.installed import dagster

    return dagster(context.args)


@app.command(context_settings=PASS_THROUGH, add_help_option=False)
def dbt(context: typer.Context) -> int:
    """Run dbt on vetl's models and warehouse: vetl dbt ls."""
    from vetl.cli.installed import dbt

    return dbt(context.args)


@app.command()
def query(
    sql: Annotated[str | None, typer.Argument(metavar="SQL", help="SQL to run; omit for a prompt.")] = None,
    file: Annotated[
        str | None, typer.Option("--file", metavar="FILE", help="Read the SQL from FILE; - is standard input.")
    ] = None,
    list_all: Annotated[bool, typer.Option("--list", help="List the worked questions.")] = False,
    question: Question = None,
    style: Format = "table",
    private: Annotated[bool, typer.Option("--private", help="Query the private file instead.")] = False,
    as_json: AsJson = False,
) -> int:
    """Query the published file."""
    from vetl.cli.query import list_questions, query

    if list_all:
        return list_questions(as_json=as_json)
    return query(sql, file, question, style, private=private, as_json=as_json)


app.command()(backup)
app.command()(restore)
app.command()(forget)
app.command()(explain)
app.command()(metric)
app.command()(mcp)
app.command()(verify)
app.command()(forecast)
app.command()(report)
app.command()(watch)


@app.command()
def dashboard(
    host: Annotated[str | None, typer.Option(help="Instead of dashboard.host.")] = None,
    port: Annotated[int | None, typer.Option(min=1, max=65535, help="Instead of dashboard.port.")] = None,
    show: Browse = False,
    set_password: Annotated[
        str | None,
        typer.Option("--set-password", metavar="NAME", help="Set the password of a user of [dashboard]."),
    ] = None,
) -> int:
    """Show the published file to managers, in the browser."""
    from vetl.cli.dashboard import dashboard
    from vetl.cli.dashboard import set_password as set_password_of

    if set_password:
        return set_password_of(set_password)
    return dashboard(host=host, port=port, show=show)


@app.command()
def notebook(
    file: Annotated[Path, typer.Argument(help="The notebook; written if it does not exist.")] = Path(
        "vetl_notebook.py"
    ),
    port: Annotated[int | None, typer.Option(min=1, max=65535, help="Instead of the first free port.")] = None,
    show: Browse = False,
) -> int:
    """Start a notebook on the published file, for analysts."""
    from vetl.cli.dashboard import notebook

    return notebook(file, port=port, show=show)


def main() -> None:
    """Run the `vetl` command."""
    process_exit.prepare()
    code = execute(sys.argv[1:])
    unwritten = process_exit.flush()
    sys.exit(fail((), unwritten, 1) if unwritten else code)


def execute(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code. An error becomes one line on standard error."""
    return run_command(app, arguments)
