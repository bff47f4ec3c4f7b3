"""`vetl mcp`: serve the metrics of the published file to assistants, over stdio or HTTP on this machine."""

import hmac
from collections.abc import Collection
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pipelines.cli.dashboard import refuse_taken
from pipelines.cli.metric import published_file
from pipelines.cli.terminal import say
from pipelines.core.errors import ConfigurationError
from pipelines.loading.published.figures.listing import list_of, refuse_unknown_practices
from pipelines.settings import load_settings

HOST = "127.0.0.1"


def serve(file: Path | None, practices: Collection[str] | None, *, most: int, http: bool, port: int | None) -> int:
    """Run `vetl mcp` until its client leaves, or, over HTTP, until it is interrupted.

    Raises:
        ConfigurationError: the extra is not installed, or HTTP has no token.
        WrongUse: the file has no such practice.
        WarehouseError: the file is missing or is no warehouse, or an older vetl published it.
    """
    if find_spec("mcp") is None:
        raise ConfigurationError("mcp is not installed: pip install 'vetl[assistant]'")
    from pipelines.cli.assistant_tools import Tools, server  # noqa: PLC0415 - of the extra

    published = published_file(file).resolve()
    list_of(published)
    if practices is not None:
        refuse_unknown_practices(published, practices)
    tools = Tools(published, practices, most)
    if not http:
        server(tools, version("vetl")).run("stdio")
        return 0
    port = port or load_settings().assistant.port
    refuse_taken(HOST, port)
    made = server(tools, version("vetl"), **_one_token(f"http://{HOST}:{port}"))
    say(f"serving {published} to assistants on http://{HOST}:{port}/mcp (Ctrl+C ends it)")
    made.run("streamable-http", host=HOST, port=port, stateless_http=True, json_response=True)
    return 0


def _one_token(address: str) -> dict[str, Any]:
    """Return the SDK's options for a server that accepts one token.

    Raises:
        ConfigurationError: no token is set.
    """
    from mcp.server.auth.provider import AccessToken  # noqa: PLC0415 - of the extra
    from mcp.server.auth.settings import AuthSettings  # noqa: PLC0415
    from pydantic import AnyHttpUrl  # noqa: PLC0415

    expected = load_settings().assistant.token
    if expected is None:
        raise ConfigurationError("--http needs a token: set VETL_ASSISTANT__TOKEN in the environment or .env")

    @dataclass(frozen=True, slots=True)
    class OneToken:
        async def verify_token(self, token: str) -> AccessToken | None:
            if hmac.compare_digest(token.encode(), expected.get_secret_value().encode()):
                return AccessToken(token=token, client_id="assistant", scopes=[])
            return None

    auth = AuthSettings(issuer_url=AnyHttpUrl(address), resource_server_url=None)
    return {"auth": auth, "token_verifier": OneToken()}
