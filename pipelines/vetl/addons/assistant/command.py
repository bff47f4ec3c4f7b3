"""`vetl mcp`: serve the metrics of the published file to assistants, over stdio or HTTP on this machine."""

import hmac
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from typing import Annotated, Any

import typer

from vetl.addons.assistant.settings import AssistantSettings
from vetl.cli.commands import Commands, OtherFile
from vetl.cli.dashboard import refuse_taken
from vetl.cli.metric import published_file
from vetl.cli.terminal import say
from vetl.core.errors import ConfigurationError, WrongUse
from vetl.figures.ask import list_of, refuse_unknown_practices
from vetl.settings import Settings, load_settings

HOST = "127.0.0.1"
_PORT = AssistantSettings.model_fields["port"].default

app = Commands()


@app.command(
    examples="""
        vetl mcp
        vetl mcp --practice loc-001 --practice loc-002
        vetl mcp --http --port 8765""",
    needs_settings=False,
)
def mcp(
    practice: Annotated[
        list[str] | None,
        typer.Option("--practice", metavar="ID", help="Only the data of this practice; repeatable."),
    ] = None,
    user: Annotated[
        str | None, typer.Option("--user", metavar="NAME", help="Only the data of this user of [dashboard.users].")
    ] = None,
    rows: Annotated[int, typer.Option("--rows", min=1, max=10_000, help="The most rows in an answer.")] = 200,
    http: Annotated[bool, typer.Option("--http", help="Serve over HTTP on this machine, not over stdio.")] = False,
    port: Annotated[
        int | None, typer.Option(min=1, max=65535, help=f"Use this port, not that of [assistant] ({_PORT}).")
    ] = None,
    file: OtherFile = None,
) -> int:
    """Serve the metrics to an assistant (MCP)."""
    if find_spec("mcp") is None:
        raise ConfigurationError("mcp is not installed: pip install 'vetl-warehouse[assistant]'")
    from vetl.addons.assistant.tools import Tools, server

    published = published_file(file).resolve()
    list_of(published)
    if practice is not None:
        refuse_unknown_practices(published, practice)
    if not http:
        seen = practice if user is None else _within(_of_user(load_settings(needs_secrets=False), user), practice)
        server(Tools(published, lambda: seen, rows), version("vetl-warehouse")).run("stdio")
        return 0
    if user is not None:
        raise WrongUse("--user is for stdio; over HTTP the token says who asks")
    settings = load_settings()
    port = port or AssistantSettings.of(settings).port
    tokens, users = _tokens(settings), _practices_by_user(settings)
    refuse_taken(HOST, port)

    def seen_by_token() -> Collection[str] | None:
        return _within(users[_name_of_token()], practice) if users else practice

    made = server(Tools(published, seen_by_token, rows), version("vetl-warehouse"), **_signed_in(tokens, port))
    say(f"serving {published} to assistants on http://{HOST}:{port}/mcp (Ctrl+C ends it)")
    made.run("streamable-http", host=HOST, port=port, stateless_http=True, json_response=True)
    return 0


def _within(seen: Collection[str] | None, practices: Collection[str] | None) -> Collection[str] | None:
    """Return the practices that are in both, `None` being all."""
    if seen is None or practices is None:
        return practices if seen is None else seen
    return [name for name in practices if name in seen]


def _practices_by_user(settings: Settings) -> dict[str, list[str] | None]:
    return settings.dashboard.practices_by_user({practice.id: practice.group for practice in settings.practices})


def _of_user(settings: Settings, user: str) -> list[str] | None:
    users = _practices_by_user(settings)
    if user not in users:
        known = ", ".join(users) or "none"
        raise ConfigurationError(f"dashboard.users: there is no user {user}; known are {known}")
    return users[user]


def _tokens(settings: Settings) -> dict[str, str]:
    """Return the name behind each token: a user's, or "assistant" if there are no users."""
    users, tokens = settings.dashboard.users, AssistantSettings.of(settings).users_by_token()
    if users or tokens:
        strangers = [name for name in tokens.values() if name not in users]
        if strangers:
            raise ConfigurationError(f"VETL_ASSISTANT__TOKENS: dashboard.users has no {strangers[0]}")
        if not tokens:
            raise ConfigurationError(
                "--http needs a token for each of dashboard.users: set VETL_ASSISTANT__TOKENS"
            )
        return tokens
    token = AssistantSettings.of(settings).token
    if token is None:
        raise ConfigurationError("--http needs a token: set VETL_ASSISTANT__TOKEN in the environment or .env")
    return {token.get_secret_value(): "assistant"}


def _name_of_token() -> str:
    from mcp.server.auth.middleware.auth_context import get_access_token

    token = get_access_token()
    if token is None:
        raise WrongUse("nobody is signed in")
    return token.client_id


def _signed_in(tokens: Mapping[str, str], port: int) -> dict[str, Any]:
    """Return the SDK's options for a server that accepts these tokens."""
    from mcp.server.auth.provider import AccessToken
    from mcp.server.auth.settings import AuthSettings
    from pydantic import AnyHttpUrl

    @dataclass(frozen=True, slots=True)
    class KnownTokens:
        async def verify_token(self, token: str) -> AccessToken | None:
            same = [name for one, name in tokens.items() if hmac.compare_digest(token.encode(), one.encode())]
            return AccessToken(token=token, client_id=same[0], scopes=[]) if same else None

    auth = AuthSettings(issuer_url=AnyHttpUrl(f"http://{HOST}:{port}"), resource_server_url=None)
    return {"auth": auth, "token_verifier": KnownTokens()}
