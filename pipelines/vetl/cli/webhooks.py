"""The commands of the webhook receiver."""

from collections.abc import Sequence

from vetl.cli.output import configure_logs
from vetl.cli.terminal import print_json, say
from vetl.receiving.serving import serve as serve_receiver
from vetl.settings import load_settings


def serve(*, port: int | None, accept_unsigned: bool, as_json: bool, verbosity: int) -> int:
    """Run `vetl webhooks serve` until it is interrupted."""
    configure_logs(verbosity)

    def print_address(address: str) -> None:
        if as_json:
            print_json({"base_url": address})
        else:
            say(f"receiving webhooks on {address}")

    serve_receiver(load_settings(), unsigned=accept_unsigned, port=port, say=print_address)
    return 0


def drain(messages: Sequence[str], *, catch_up: bool, as_json: bool, verbosity: int) -> int:
    """Run `vetl webhooks drain`. Deliveries stay in the inbox until the first sync has created the warehouse."""
    from vetl.cli.views import show_drain  # noqa: PLC0415 - the receiver needs no DuckDB in its memory
    from vetl.jobs.build import existing  # noqa: PLC0415
    from vetl.jobs.drain import run_drain  # noqa: PLC0415

    configure_logs(verbosity)
    settings = load_settings()
    existing(settings)
    result = run_drain(settings, catch_up=catch_up, messages=messages)
    if as_json:
        print_json(result.as_json())
        return result.exit_code
    show_drain(result)
    return result.exit_code
