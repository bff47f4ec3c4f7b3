"""Over https the platform must show a certificate that this machine trusts: bearer tokens go there."""

import asyncio
import ssl
from pathlib import Path

import pytest
from pydantic import SecretStr
from support.certificates import self_signed
from support.scripted_server import SERVER_TIME, HeldTime, ScriptedServer

from pipelines.core.errors import Unreachable
from pipelines.partner.client import Account, PartnerClient
from pipelines.partner.headers import http_date


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return a certificate of `localhost` by an unknown authority, and its key."""
    return self_signed(tmp_path_factory.mktemp("tls"))


def signed_in(server: ScriptedServer, certificate: tuple[Path, Path]) -> object:
    """Return the platform's clock, after a sign-in over TLS."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)

    async def scene() -> object:
        listener = await asyncio.start_server(server.serve, "127.0.0.1", 0, ssl=context)
        address = f"https://localhost:{listener.sockets[0].getsockname()[1]}"
        account = Account(address, "u", SecretStr("p"), "r")
        async with listener, PartnerClient(account, timing=HeldTime().timing) as client:
            return await client.sign_in()

    return asyncio.run(scene())


def test_a_certificate_that_nobody_vouches_for_is_sent_no_credentials(certificate: tuple[Path, Path]) -> None:
    server = ScriptedServer()

    with pytest.raises(Unreachable, match="certificate"):
        signed_in(server, certificate)

    assert server.sign_ins == 0


def test_one_that_the_environment_vouches_for_is_trusted(
    certificate: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate[0]))

    assert signed_in(ScriptedServer(), certificate) == http_date(SERVER_TIME)
