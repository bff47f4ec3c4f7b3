"""The command line: what each command takes. The work is done in the modules beside this one.

A command imports what it needs when it runs, so that `vetl --help` answers in a blink; none imports Dagster.
Exit codes: 0 done and certified, 1 failed, 2 wrong use or configuration, 3 uncertified or quarantined.
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from traceback import extract_tb
from typing import Annotated, Literal

import typer
from typer.exceptions import TyperException

from pipelines.cli import ending
from pipelines.cli.forget_options import forget
from pipelines.cli.groups import lake_app, quarantine_app, sandbox_app, webhooks_app
from pipelines.cli.options import (
    PASS_THROUGH,
    AsJson,
    Browse,
    Engine,
    Format,
    FullRefresh,
    Lists,
    Practices,
    Rollback,
    Since,
    Verbose,
    options_first,
)
from pipelines.core.errors import VetlError, WrongUse
from pipelines.core.text import printable

app = typer.Typer(
    help="A veterinary practice platform's lists into DuckDB, provably whole, and marts on them.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.add_typer(lake_app, name="lake")
app.add_typer(quarantine_app, name="quarantine")
app.add_typer(sandbox_app, name="sandbox")
app.add_typer(webhooks_app, name="webhooks")


@app.callback(invoke_without_command=True)
def options(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Tell the version and end.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say only what is wrong.")] = False,
    log_file: Annotated[
        Path | None, typer.Option("--log-file", metavar="FILE", help="Also write there what is said, with times.")
    ] = None,
    log_format: Annotated[
        Literal["text", "json"], typer.Option("--log-format", help="JSON: one object a line, for a log collector.")
    ] = "text",
) -> None:
    """What every command takes, before or after its name."""
    from pipelines.cli.output import direct

    direct(quiet=quiet, log_file=log_file, log_format=log_format)
    if version:
        from importlib.metadata import version as installed

        typer.echo(f"vetl {installed('vetl')}")
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command()
def demo(
    folder: Annotated[Path, typer.Option(help="Everything stays in here.")] = Path("demo"),
    days: Annotated[int, typer.Option(min=1, help="Days of history.")] = 365,
    practices: Annotated[int, typer.Option(min=1, max=500, help="How many practices.")] = 3,
    show: Browse = False,
    as_json: AsJson = False,
    verbose: Verbose = 0,
) -> int:
    """Try everything on a made-up platform on this machine."""
    from pipelines.cli.demo import demo

    return demo(folder, days=days, practices=practices, show=show, as_json=as_json, verbosity=verbose)


@app.command()
def init(as_json: AsJson = False) -> int:
    """Write a commented vetl.toml."""
    from pipelines.cli.inspect import init

    return init(as_json=as_json)


@app.command()
def doctor(
    practice: Practices = None,
    endpoint: Lists = None,
    write: Annotated[bool, typer.Option("--write", help="Correct vetl.toml; comments and order stay.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="Also what came out well.")] = False,
    as_json: AsJson = False,
    verbose: Verbose = 0,
) -> int:
    """Compare the settings with the platform; --write corrects them."""
    from pipelines.cli.doctor import doctor

    return doctor(practice, endpoint, write=write, everything=everything, as_json=as_json, verbosity=verbose)


@app.command()
def sync(
    practice: Practices = None,
    endpoint: Lists = None,
    since: Since = None,
    as_json: AsJson = False,
    verbose: Verbose = 0,
) -> int:
    """Read what changed into the private warehouse."""
    from pipelines.cli.run import sync

    return sync(practice, endpoint, since and since.date(), as_json=as_json, verbosity=verbose)


@app.command()
def reconcile(
    practice: Practices = None,
    full: Annotated[bool, typer.Option("--full", help="All of history, not the last 35 days.")] = False,
    as_json: AsJson = False,
    verbose: Verbose = 0,
) -> int:
    """Read history again, repair late changes and deletions."""
    from pipelines.cli.reconcile import reconcile

    return reconcile(practice, full=full, as_json=as_json, verbosity=verbose)


@app.command()
def build(
    full_refresh: FullRefresh = False, engine: Engine = "duckdb", as_json: AsJson = False, verbose: Verbose = 0
) -> int:
    """Build the marts with dbt, then publish."""
    from pipelines.cli.run import build

    return build(full_refresh=full_refresh, engine=engine, as_json=as_json, verbosity=verbose)


@app.command()
def run(practice: Practices = None, as_json: AsJson = False, verbose: Verbose = 0) -> int:
    """Sync, build, publish: what a schedule runs."""
    from pipelines.cli.run import run

    return run(practice, as_json=as_json, verbosity=verbose)


@app.command()
def publish(rollback: Rollback = False, as_json: AsJson = False) -> int:
    """Replace the published file by the marts as they are."""
    from pipelines.cli.run import publish

    return publish(rollback=rollback, as_json=as_json)


@app.command()
def status(
    practice: Practices = None,
    watch: Annotated[bool, typer.Option("--watch", help="Again every two seconds, until interrupted.")] = False,
    as_json: AsJson = False,
) -> int:
    """Show how each list stands, also while a sync runs."""
    from pipelines.cli.status import status

    return status(practice, watch=watch, as_json=as_json)


@app.command("open")
def open_published() -> int:
    """Open the published file, read-only, in DuckDB's own shell."""
    from pipelines.cli.installed import open_published

    return open_published()


@app.command(context_settings=PASS_THROUGH, add_help_option=False)
def dagster(context: typer.Context) -> int:
    """Run Dagster on vetl's definitions: vetl dagster dev."""
    from pipelines.cli.installed import dagster

    return dagster(context.args)


@app.command(context_settings=PASS_THROUGH, add_help_option=False)
def dbt(context: typer.Context) -> int:
    """Run dbt on vetl's models and warehouse: vetl dbt ls."""
    from pipelines.cli.installed import dbt

    return dbt(context.args)


@app.command()
def query(
    sql: Annotated[str | None, typer.Argument(metavar="SQL", help="One statement; without any, a prompt.")] = None,
    file: Annotated[
        str | None, typer.Option("--file", metavar="FILE", help="Take it from there; - is standard input.")
    ] = None,
    list_all: Annotated[bool, typer.Option("--list", help="Name the worked questions.")] = False,
    question: Annotated[str | None, typer.Option(metavar="NAME", help="Answer a worked question.")] = None,
    style: Format = "table",
    private: Annotated[bool, typer.Option("--private", help="Ask the private file instead.")] = False,
    as_json: AsJson = False,
) -> int:
    """Ask the published file."""
    from pipelines.cli.query import list_questions, query

    if list_all:
        return list_questions(as_json=as_json)
    return query(sql, file, question, style, private=private, as_json=as_json)


app.command()(forget)


@app.command()
def dashboard(
    host: Annotated[str | None, typer.Option(help="Instead of the configured.")] = None,
    port: Annotated[int | None, typer.Option(min=1, max=65535, help="Instead of the configured.")] = None,
    show: Browse = False,
) -> int:
    """Show the published file to managers, in the browser."""
    from pipelines.cli.dashboard import dashboard

    return dashboard(host=host, port=port, show=show)


@app.command()
def notebook(
    file: Annotated[Path, typer.Argument(help="Written where there is none.")] = Path("vetl_notebook.py"),
    port: Annotated[int | None, typer.Option(min=1, max=65535, help="Instead of the first that is free.")] = None,
    show: Browse = False,
) -> int:
    """Start a notebook on the published file, for analysts."""
    from pipelines.cli.dashboard import notebook

    return notebook(file, port=port, show=show)


def main() -> None:
    """The `vetl` command."""
    ending.prepare()
    code = execute(sys.argv[1:])
    unwritten = ending.flush()
    sys.exit(_fail((), unwritten, 1) if unwritten else code)


def execute(arguments: Sequence[str]) -> int:
    """Run one command; whatever happens becomes an exit code and at most one line on standard error."""
    try:
        code = app(options_first(arguments), prog_name="vetl", standalone_mode=False) or 0
    except VetlError as error:
        return _fail(arguments, str(error), error.exit_code)
    except TyperException as error:
        if (message := error.format_message()) == "Missing command.":
            message = f"{' '.join(arguments)}: which command? `vetl {' '.join(arguments)} --help` names them"
        return _fail(arguments, message, WrongUse.exit_code)
    except BrokenPipeError:
        # Who read our output has seen enough; Python would complain once more when it flushes at exit.
        sys.stdout = None
        return 0
    except Exception as error:
        if full := ending.no_room(error):
            return _fail(arguments, full, 1)
        if "-vv" in arguments:
            raise
        place = extract_tb(error.__traceback__)[-1]
        # The message is left out: an error that nobody foresaw may quote a row.
        unforeseen = f"{type(error).__name__} in {Path(place.filename).name}, line {place.lineno}"
        return _fail(arguments, f"internal error: {unforeseen}; -vv shows the traceback", 1)
    if code != ending.INTERRUPTED:  # Typer turns an interrupt into this code
        return code
    why, code = ending.of_interrupt()
    return _fail(arguments, f"{why}; what was committed stays", code)


def _fail(arguments: Sequence[str], message: str, exit_code: int) -> int:
    from pipelines.cli.output import say

    line = printable(" ".join(message.replace("Value error, ", "").split()))
    say(f"vetl: {line}", "error")
    if "--json" in arguments:
        sys.stdout.write(json.dumps({"exit_code": exit_code, "error": line}) + "\n")
    return exit_code
