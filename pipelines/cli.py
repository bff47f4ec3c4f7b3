"""The command line: what each command takes. The work is done in the `cli_*` modules.

A command imports what it needs when it runs, so that `vetl --help` answers in a blink; none imports Dagster.
Exit codes: 0 done and certified, 1 failed, 2 wrong use or configuration, 3 uncertified or quarantined.
"""
# ruff: noqa: PLC0415 - imports inside the commands keep the start fast
# ruff: noqa: FBT002 - a flag of a command is a boolean with a default

import json
import signal
import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from traceback import extract_tb
from typing import Annotated, Literal

import typer
from typer.exceptions import TyperException

from pipelines.errors import VetlError, WrongUse

INTERRUPTED = 130
TERMINATED = 143

app = typer.Typer(
    help="A veterinary practice platform's lists into DuckDB, provably whole, and marts on them.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
sandbox_app = typer.Typer(help="The partner platform on this machine.", rich_markup_mode=None)
app.add_typer(sandbox_app, name="sandbox")
webhooks_app = typer.Typer(help="What the platform sends by itself.", rich_markup_mode=None)
app.add_typer(webhooks_app, name="webhooks")

quarantine_app = typer.Typer(help="Bad rows: why, and taking them in again.", rich_markup_mode=None)
app.add_typer(quarantine_app, name="quarantine")

AsJson = Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")]
Verbose = Annotated[int, typer.Option("-v", "--verbose", count=True, help="Say more; -vv every request.")]
FullRefresh = Annotated[bool, typer.Option("--full-refresh", help="Build incremental models anew.")]
Practices = Annotated[list[str] | None, typer.Option("--practice", metavar="ID", help="Only this; repeatable.")]
Lists = Annotated[list[str] | None, typer.Option("--endpoint", metavar="NAME", help="Only this; repeatable.")]
Since = Annotated[
    datetime | None,
    typer.Option("--since", formats=["%Y-%m-%d"], metavar="DATE", help="Read what changed since this day again."),
]


@app.callback(invoke_without_command=True)
def _help(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command()
def init(as_json: AsJson = False) -> int:
    """Write a commented vetl.toml."""
    from pipelines.cli_inspect import init

    return init(as_json=as_json)


@app.command()
def doctor(
    practice: Practices = None,
    endpoint: Lists = None,
    write: Annotated[bool, typer.Option("--write", help="Correct vetl.toml; comments and order stay.")] = False,
    as_json: AsJson = False,
    verbose: Verbose = 0,
) -> int:
    """Find out what the interface leaves open, and whether the settings agree."""
    from pipelines.cli_doctor import doctor

    return doctor(practice, endpoint, write=write, as_json=as_json, verbosity=verbose)


@app.command()
def sync(
    practice: Practices = None,
    endpoint: Lists = None,
    since: Since = None,
    as_json: AsJson = False,
    verbose: Verbose = 0,
) -> int:
    """Read what changed into the private warehouse."""
    from pipelines.cli_run import sync

    day = since.date() if since else None
    return sync(practice, endpoint, day, as_json=as_json, verbosity=verbose)


@app.command()
def reconcile(
    practice: Practices = None,
    full: Annotated[bool, typer.Option("--full", help="All of history, not the last 35 days.")] = False,
    as_json: AsJson = False,
    verbose: Verbose = 0,
) -> int:
    """Read history again; find, report and repair late changes and deletions."""
    from pipelines.cli_reconcile import reconcile

    return reconcile(practice, full=full, as_json=as_json, verbosity=verbose)


@app.command()
def build(full_refresh: FullRefresh = False, as_json: AsJson = False, verbose: Verbose = 0) -> int:
    """Build the marts with dbt, then publish."""
    from pipelines.cli_run import build

    return build(full_refresh=full_refresh, as_json=as_json, verbosity=verbose)


@app.command()
def run(as_json: AsJson = False, verbose: Verbose = 0) -> int:
    """Sync, build, publish: what a schedule runs."""
    from pipelines.cli_run import run

    return run(as_json=as_json, verbosity=verbose)


@app.command()
def publish(as_json: AsJson = False) -> int:
    """Replace the published file by the marts as they are."""
    from pipelines.cli_run import publish

    return publish(as_json=as_json)


@app.command()
def status(as_json: AsJson = False) -> int:
    """Show rows, certificates and freshness; answers while a sync runs."""
    from pipelines.cli_inspect import status

    return status(as_json=as_json)


@app.command()
def query(
    sql: Annotated[str, typer.Argument(metavar="SQL", help="One statement, for example 'show all tables'.")],
    style: Annotated[
        Literal["table", "csv", "json", "parquet", "markdown"],
        typer.Option("--format", help="How to write the rows."),
    ] = "table",
    private: Annotated[bool, typer.Option("--private", help="Ask the private file instead.")] = False,
    as_json: AsJson = False,
) -> int:
    """Ask the published file."""
    from pipelines.cli_inspect import query

    return query(sql, style, private=private, as_json=as_json)


@app.command()
def demo(
    folder: Annotated[Path, typer.Option(help="Everything stays in here.")] = Path("demo"),
    days: Annotated[int, typer.Option(min=1, help="Days of history.")] = 365,
    practices: Annotated[int, typer.Option(min=1, max=500, help="How many practices.")] = 3,
    as_json: AsJson = False,
    verbose: Verbose = 0,
) -> int:
    """Run everything on the sandbox: sync, build, publish, and show the results."""
    from pipelines.cli_demo import demo

    return demo(folder, days=days, practices=practices, as_json=as_json, verbosity=verbose)


@quarantine_app.command("list")
def quarantine_list(as_json: AsJson = False) -> int:
    """Show bad rows, why they are, and their payload."""
    from pipelines.cli_quarantine import list_rows

    return list_rows(as_json=as_json)


@quarantine_app.command("retry")
def quarantine_retry(as_json: AsJson = False, verbose: Verbose = 0) -> int:
    """Take bad rows in again."""
    from pipelines.cli_quarantine import retry

    return retry(as_json=as_json, verbosity=verbose)


@sandbox_app.command()
def serve(
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: a free one.")] = 0,
    practices: Annotated[int, typer.Option(min=1, max=500, help="How many practices.")] = 3,
    days: Annotated[int, typer.Option(min=1, help="Days of history.")] = 365,
    calls: Annotated[
        int | None, typer.Option(min=1, help="Phone calls in that history, all practices together, about.")
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed, the same world.")] = 1,
    faults: Annotated[str, typer.Option(help="What goes wrong: none, flaky or drifting.")] = "none",
    as_json: AsJson = False,
) -> int:
    """Serve the sandbox until interrupted; says how to use it once it answers."""
    from pipelines.cli_sandbox import serve

    return serve(port=port, practices=practices, days=days, calls=calls, seed=seed, faults=faults, as_json=as_json)


@webhooks_app.command("serve")
def serve_webhooks(
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="Instead of the configured; 0: free.")] = None,
    accept_unsigned: Annotated[
        bool, typer.Option("--accept-unsigned", help="Believe unsigned deliveries where no secret is set.")
    ] = False,
    as_json: AsJson = False,
    verbose: Verbose = 0,
) -> int:
    """Receive webhooks until interrupted; says one line once it answers."""
    from pipelines.cli_webhooks import serve

    return serve(port=port, accept_unsigned=accept_unsigned, as_json=as_json, verbosity=verbose)


@webhooks_app.command("drain")
def drain_webhooks(
    catch_up: Annotated[
        bool, typer.Option("--catch-up/--no-catch-up", help="Also get by id what webhooks may have missed.")
    ] = True,
    message: Annotated[
        list[str] | None, typer.Option("--message", metavar="ID", help="Also get this message; repeatable.")
    ] = None,
    as_json: AsJson = False,
    verbose: Verbose = 0,
) -> int:
    """Move what was received into the private warehouse."""
    from pipelines.cli_webhooks import drain

    return drain(message or (), catch_up=catch_up, as_json=as_json, verbosity=verbose)


def main() -> None:
    """The `vetl` command."""
    signal.signal(signal.SIGTERM, lambda _signal, _frame: sys.exit(TERMINATED))
    sys.exit(execute(sys.argv[1:]))


def execute(arguments: Sequence[str]) -> int:
    """Run one command; whatever happens becomes an exit code and at most one line on standard error."""
    try:
        code = app(list(arguments), prog_name="vetl", standalone_mode=False) or 0
    except VetlError as error:
        return _fail(arguments, str(error), error.exit_code)
    except TyperException as error:
        return _fail(arguments, error.format_message(), WrongUse.exit_code)
    except BrokenPipeError:
        # Who read our output has seen enough; Python would complain once more when it flushes at exit.
        sys.stdout = None
        return 0
    except Exception as error:
        if "-vv" in arguments:
            raise
        place = extract_tb(error.__traceback__)[-1]
        # The message is left out: an error that nobody foresaw may quote a row.
        unforeseen = f"{type(error).__name__} in {Path(place.filename).name}, line {place.lineno}"
        return _fail(arguments, f"internal error: {unforeseen}; -vv shows the traceback", 1)
    # Typer turns an interrupt into this code.
    return _fail(arguments, "interrupted; what was committed stays", code) if code == INTERRUPTED else code


def _fail(arguments: Sequence[str], message: str, exit_code: int) -> int:
    line = " ".join(message.replace("Value error, ", "").split())
    sys.stderr.write(f"vetl: {line}\n")
    if "--json" in arguments:
        sys.stdout.write(json.dumps({"exit_code": exit_code, "error": line}) + "\n")
    return exit_code
