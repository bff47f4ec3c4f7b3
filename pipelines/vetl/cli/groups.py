"""The commands in groups: `act`, `lake`, `quarantine`, `sandbox`, `webhooks`."""

from typing import Annotated

import typer

from vetl.cli.commands import Commands
from vetl.cli.options import AsJson, Lists, Practices, Verbose

act_app = Commands("Turn unbooked requests into staff tasks, exactly once.", group="act")
lake_app = Commands("Export the private file as Parquet, for other engines.", group="lake")
quarantine_app = Commands("List rejected rows and retry them.", group="quarantine")
sandbox_app = Commands("Run a made-up platform on this machine.", group="sandbox")
webhooks_app = Commands("Receive the platform's webhooks.", group="webhooks")


@act_app.command("plan")
def act_plan(practice: Practices = None, as_json: AsJson = False) -> int:
    """Show the tasks that would be made, and why; no request leaves."""
    from vetl.cli.act import plan

    return plan(practice, as_json=as_json)


@act_app.command("apply")
def act_apply(
    digest: Annotated[str, typer.Argument(metavar="DIGEST", help="The digest of a plan.")],
    as_json: AsJson = False,
    verbose: Verbose = 0,
) -> int:
    """Make the tasks of a plan, or go on with it."""
    from vetl.cli.act import apply

    return apply(digest, as_json=as_json, verbosity=verbose)


@act_app.command("status")
def act_status(
    every: Annotated[bool, typer.Option("--all", help="List every act.")] = False,
    as_json: AsJson = False,
) -> int:
    """Count the acts by state, and show what came of the tasks; no request leaves."""
    from vetl.cli.act import status

    return status(every=every, as_json=as_json)


@lake_app.callback()
def lake() -> None:
    """Export the private file as Parquet, for other engines."""


@lake_app.command("export")
def lake_export(as_json: AsJson = False, verbose: Verbose = 0) -> int:
    """Write the rows that changed since the last export."""
    from vetl.cli.lake import export

    return export(as_json=as_json, verbosity=verbose)


@quarantine_app.command("list")
def quarantine_list(as_json: AsJson = False) -> int:
    """List rejected rows with the reason and the payload."""
    from vetl.cli.quarantine import list_rows

    return list_rows(as_json=as_json)


@quarantine_app.command("retry")
def quarantine_retry(as_json: AsJson = False, verbose: Verbose = 0) -> int:
    """Retry rejected rows."""
    from vetl.cli.quarantine import retry

    return retry(as_json=as_json, verbosity=verbose)


@quarantine_app.command("acknowledge")
def quarantine_acknowledge(
    reason: Annotated[
        str, typer.Option("--reason", metavar="TEXT", help="Why the rows may stay; shown with them.")
    ],
    practice: Practices = None,
    endpoint: Lists = None,
    row: Annotated[
        list[str] | None, typer.Option("--row", metavar="ID", help="Only this row; repeatable.")
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Mark bad rows as known, so that exit codes ignore them."""
    from vetl.cli.quarantine import acknowledge

    return acknowledge(reason, practice, endpoint, row, as_json=as_json)


@sandbox_app.command()
def serve(
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 chooses a free one.")] = 0,
    practices: Annotated[int, typer.Option(min=1, max=500, help="How many practices.")] = 3,
    days: Annotated[int, typer.Option(min=1, help="Days of history.")] = 365,
    calls: Annotated[
        int | None, typer.Option(min=1, help="About how many phone calls, all practices together.")
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed makes the same data.")] = 1,
    faults: Annotated[str, typer.Option(help="none, flaky, drifting or unsafe_writes.")] = "none",
    as_json: AsJson = False,
) -> int:
    """Serve a made-up platform until interrupted; print how to use it."""
    from vetl.cli.sandbox import serve

    return serve(port=port, practices=practices, days=days, calls=calls, seed=seed, faults=faults, as_json=as_json)


@webhooks_app.command("serve")
def serve_webhooks(
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Instead of webhooks.port; 0 chooses a free one.")
    ] = None,
    accept_unsigned: Annotated[
        bool, typer.Option("--accept-unsigned", help="Accept unsigned deliveries if no secret is set.")
    ] = False,
    as_json: AsJson = False,
    verbose: Verbose = 0,
) -> int:
    """Receive webhooks until interrupted."""
    from vetl.cli.webhooks import serve

    return serve(port=port, accept_unsigned=accept_unsigned, as_json=as_json, verbosity=verbose)


@webhooks_app.command("drain")
def drain_webhooks(
    catch_up: Annotated[
        bool, typer.Option("--catch-up/--no-catch-up", help="Also fetch by id rows whose webhooks may be missing.")
    ] = True,
    message: Annotated[
        list[str] | None, typer.Option("--message", metavar="ID", help="Also fetch this message; repeatable.")
    ] = None,
    as_json: AsJson = False,
    verbose: Verbose = 0,
) -> int:
    """Move received webhooks into the warehouse."""
    from vetl.cli.webhooks import drain

    return drain(message or (), catch_up=catch_up, as_json=as_json, verbosity=verbose)
