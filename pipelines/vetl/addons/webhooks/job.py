"""The process of the receiver: its secrets, a socket, uvicorn, and the application."""

import socket
from collections.abc import Callable, Sequence
from pathlib import Path

import structlog
import uvicorn
from starlette.applications import Starlette

from vetl.addons.webhooks.receiver import GroupCommit, Trust, application
from vetl.addons.webhooks.settings import ReceiverSettings
from vetl.core.errors import ConfigurationError, cannot_listen
from vetl.core.text import is_this_machine
from vetl.partner.webhooks import secrets_from
from vetl.publishing.last_publication import identity_of
from vetl.receiving.inbox import Inbox
from vetl.settings import Settings, load_settings
from vetl.settings.sources import Sources

_BACKLOG = 2_048
_log = structlog.stdlib.get_logger("vetl.webhooks")


def serve(settings: Settings, *, unsigned: bool, port: int | None, say: Callable[[str], None]) -> None:
    """Serve until interrupted; call `say` with the address as soon as connections are accepted.

    Raise `ConfigurationError` if neither a secret nor `unsigned` is set, or the address cannot be used;
    `InboxError` if the inbox cannot be opened.
    """
    webhooks, inbox = ReceiverSettings.of(settings), settings.webhooks.inbox
    sources = Sources.find(None)
    files = [*sources.dotenv_files, *([sources.config] if sources.config else [])]
    trust = Rotation(lambda: trust_of(ReceiverSettings.of(load_settings()), unsigned=unsigned), files)
    _warn(trust(), webhooks.host, {practice.id for practice in settings.practices})
    with (
        Inbox.open(inbox) as writing,
        Inbox.open(inbox) as reading,
        listening(webhooks.host, webhooks.port if port is None else port) as listener,
    ):
        app = application(trust, GroupCommit(writing), reading.backlog)
        say(_address(listener))
        http_server(app, webhooks.proxies).run([listener])


def http_server(app: Starlette, proxies: Sequence[str] = ()) -> uvicorn.Server:
    """Return uvicorn's server; `X-Forwarded-For` is accepted only from `proxies`: addresses and networks."""
    return uvicorn.Server(
        uvicorn.Config(
            app,
            http="httptools",
            ws="none",
            proxy_headers=bool(proxies),
            forwarded_allow_ips=list(proxies),
            log_level="error",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=15,
        )
    )


def trust_of(webhooks: ReceiverSettings, *, unsigned: bool) -> Trust:
    """Return the active secrets.

    Raise `ConfigurationError` if there is no secret, and unsigned deliveries are not accepted either.
    """
    secrets = secrets_from(webhooks.secrets.get_secret_value()) if webhooks.secrets else ()
    if not secrets and not unsigned:
        raise ConfigurationError(
            "VETL_WEBHOOKS__SECRETS: not set, so every delivery would be refused; set it in the environment or in"
            " .env, or start with --accept-unsigned if the platform signs nothing"
        )
    return Trust(secrets, unsigned)


class Rotation:
    """The secrets now; if changed settings cannot be read or have no secret, a line is logged and they stay."""

    def __init__(self, read: Callable[[], Trust], files: Sequence[Path]) -> None:
        self._read, self._files = read, files
        self._seen = [*map(identity_of, files)]
        self._trust = read()

    def __call__(self) -> Trust:
        """Return the secrets as they are saved now."""
        if (stamps := [*map(identity_of, self._files)]) != self._seen:
            self._seen = stamps
            try:
                self._trust = self._read()
            except ConfigurationError as error:
                _log.error("secrets_not_read", cause=str(error))
            else:
                _log.info("secrets_read", active=len(self._trust.secrets))
        return self._trust


def _warn(trust: Trust, host: str, practices: set[str]) -> None:
    for secret in trust.secrets:
        if secret.practice_id is not None and secret.practice_id not in practices:
            # The line omits the id, because the text before the sign may be half of a secret.
            _log.warning("secret_for_unknown_practice", cause="a practice=secret names no configured practice")
    if trust.unsigned:
        _log.warning("unsigned_accepted", cause="--accept-unsigned: a delivery from anybody is accepted")
    if not is_this_machine(host):
        _log.warning("not_loopback", host=host, cause="this address has no TLS; put a proxy with TLS before it")


def listening(host: str, port: int) -> socket.socket:
    """Return a socket that accepts connections; raise `ConfigurationError` if the address cannot be used."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except OSError as error:
        raise cannot_listen(host, port, error) from None


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
