"""The commands that stand under a word of their own: `lake`, `quarantine`, `sandbox`, `webhooks`."""

from typing import Annotated

import typer

from pipelines.cli.options import AsJson, Lists, Practices, Verbose

lake_app = typer.Typer(help="Raw, history and control as Parquet, for other engines.", rich_markup_mode=None)
quarantine_app = typer.Typer(help="Bad rows: why, and taking them in again.", rich_markup_mode=None)
sandbox_app = typer.Typer(help="The partner platform on this machine.", rich_markup_mode=None)
webhooks_app = typer.Typer(help="What the platform sends by itself.", rich_markup_mode=None)


@lake_app.callback()
def lake() -> None:
    """Raw, history and control as Parquet, for other engines."""


@lake_app.command("export")
def lake_export(as_json: AsJson = False, verbose: Verbose = 0) -> int:
    """Bring the lake in step with what is committed."""
    from pipelines.cli.lake import export

    return export(as_json=as_json, verbosity=verbose)


@quarantine_app.command("list")
def quarantine_list(as_json: AsJson = False) -> int:
    """Show bad rows, why they are, and their payload."""
    from pipelines.cli.quarantine import list_rows

    return list_rows(as_json=as_json)


@quarantine_app.command("retry")
def quarantine_retry(as_json: AsJson = False, verbose: Verbose = 0) -> int:
    """Take bad rows in again."""
    from pipelines.cli.quarantine import retry

    return retry(as_json=as_json, verbosity=verbose)


@quarantine_app.command("acknowledge")
def quarantine_acknowledge(
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why they may stay; shown with them.")],
    practice: Practices = None,
    endpoint: Lists = None,
    row: Annotated[list[str] | None, typer.Option("--row", metavar="ID", help="Only this; repeatable.")] = None,
    as_json: AsJson = False,
) -> int:
    """Mark bad rows as known: exit codes do not count them any more."""
    from pipelines.cli.quarantine import acknowledge

    return acknowledge(reason, practice, endpoint, row, as_json=as_json)


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
    from pipelines.cli.sandbox import serve

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
    from pipelines.cli.webhooks import serve

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
    from pipelines.cli.webhooks import drain

    return drain(message or (), catch_up=catch_up, as_json=as_json, verbosity=verbose)
