"""The commands of the webhook receiver."""

from typing import Annotated

import typer

from vetl.addons.webhooks.job import serve as serve_receiver
from vetl.addons.webhooks.settings import ReceiverSettings
from vetl.cli.commands import AsJson, Commands
from vetl.cli.terminal import print_json, say
from vetl.settings import load_settings

_PORT = ReceiverSettings.model_fields["port"].default

app = Commands()


@app.command(
    examples="""
        vetl webhooks serve
        vetl webhooks serve --port 8091"""
)
def serve(
    port: Annotated[
        int | None,
        typer.Option(min=0, max=65535, help=f"Use this port, not that of [webhooks] ({_PORT}); 0: a free one."),
    ] = None,
    accept_unsigned: Annotated[
        bool, typer.Option("--accept-unsigned", help="Accept unsigned deliveries if no secret is set.")
    ] = False,
    as_json: AsJson = False,
) -> int:
    """Receive webhooks until interrupted."""

    def print_address(address: str) -> None:
        if as_json:
            print_json({"base_url": address})
        else:
            say(f"receiving webhooks on {address}")

    serve_receiver(load_settings(), unsigned=accept_unsigned, port=port, say=print_address)
    return 0


@app.command(
    examples="""
        vetl webhooks drain
        vetl webhooks drain --message msg-1"""
)
def drain(
    catch_up: Annotated[
        bool, typer.Option("--catch-up/--no-catch-up", help="Also fetch by id rows whose webhooks may be missing.")
    ] = True,
    message: Annotated[
        list[str] | None, typer.Option("--message", metavar="ID", help="Also fetch this message; repeatable.")
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Move received webhooks into the warehouse."""
    # Deliveries stay in the inbox until the first sync has created the warehouse.
    from vetl.cli.run import show_drain
    from vetl.jobs.drain import run_drain
    from vetl.store.warehouse import existing

    settings = load_settings()
    existing(settings.warehouse)
    result = run_drain(settings, catch_up=catch_up, messages=message or ())
    if as_json:
        print_json(result.as_json())
        return result.exit_code
    show_drain(result)
    return result.exit_code
