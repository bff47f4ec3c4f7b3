"""The format and the level of logs, for commands and Dagster."""

import logging
import sys
from collections.abc import Callable, Mapping, MutableMapping
from functools import partial
from typing import Any, TextIO

import structlog

SENTENCES = {
    "answer_without_date": "an answer of the platform carries no Date; it is timed by this machine's clock",
    "characters_replaced": "{asked}: characters or numbers that JSON does not allow were accepted or replaced",
    "platform_asks_to_wait": "{about}: the platform asks to wait; goes on in {seconds:.0f} s",
    "another_vetl_writes": "Waiting for {holder}, up to {longest}",
    "warehouse_held": "Waiting for {holder}, which holds {path}, up to {longest}",
    "retry": "{asked}: asked again in {wait:.1f} s after attempt {attempt}: {cause}",
    "rate_limited": "{practice}: the platform limits requests; {in_flight} at once after a pause of {pause:.1f} s",
    "fewer_requests": "{practice}: {in_flight} requests at once from now on",
    "secret_for_unknown_practice": "VETL_WEBHOOKS__SECRETS: a `practice=secret` names no configured practice",
    "unsigned_accepted": "--accept-unsigned: unsigned webhooks are accepted from anybody who reaches this address",
    "secrets_not_read": "the webhook secrets stay as they were: {cause}",
    "secrets_read": "the webhook secrets were read again: {active} active",
    "not_loopback": "{host}: this address has no TLS; put a proxy with TLS before it",
    "not_stored": "a webhook was not stored, and is sent again: {why}",
    "not_understood": "a webhook ({channel}) of practice {practice} was not understood: {why}",
    "refused": "a webhook ({channel}) from {source} was refused: {why}",
}
"""Each event as a sentence for people; the names of events stay for programs that read the logs."""


def configure_logs(
    verbosity: int,
    stream: TextIO | None = None,
    *,
    as_json: bool = False,
    warn: Callable[[str], object] = lambda _: None,
) -> None:
    """Write warnings to `stream` (standard error), with `-v` also each action, with `-vv` also each request.

    Each event is a sentence, or a JSON object with its values by name if `as_json`. `warn` also gets the
    sentence of each warning.
    """
    level = {0: logging.WARNING, 1: logging.INFO}.get(verbosity, logging.DEBUG)
    render = structlog.processors.JSONRenderer() if as_json else _in_words
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(stream or sys.stderr),
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            partial(_warned, warn),
            render,
        ],
    )


def _warned(
    warn: Callable[[str], object], _logger: object, _method: str, event: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    if event["level"] == "warning":
        warn(
            sentence(
                event["event"], {name: event[name] for name in event.keys() - {"event", "level", "timestamp"}}
            )
        )
    return event


def _in_words(_logger: object, _method: str, event: MutableMapping[str, Any]) -> str:
    """Return a line such as `warning: an answer of the platform carries no Date; ...`."""
    level, name = event.pop("level"), str(event.pop("event"))
    event.pop("timestamp")
    return f"{level}: {sentence(name, event)}"


def sentence(name: str, fields: Mapping[str, Any]) -> str:
    """Return an event as a sentence, or its name and its values if it has no sentence."""
    try:
        return SENTENCES[name].format(**fields)
    except (KeyError, ValueError):
        values = " ".join(f"{key}={value}" for key, value in fields.items())
        return f"{name.replace('_', ' ')} {values}".strip()
