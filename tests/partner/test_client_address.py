"""Wrong addresses: nobody answers, a proxy answers, or a host that must not get a password.

Over https the platform must show a certificate that this machine trusts: bearer tokens go there.
"""

import asyncio
import ssl
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from support.certificates import self_signed
from support.scripted_server import (
    SERVER_TIME,
    HeldTime,
    ReceivedRequest,
    Reply,
    ScriptedServer,
    Stage,
    one,
    reply_data,
    reply_page,
)
from vetl.core.errors import ConfigurationError, Unreachable
from vetl.partner.answers import http_date
from vetl.partner.client import Account, PartnerClient


async def signed_in(base_url: str, **account: Any) -> datetime:
    """Return the platform's clock after a sign-in at this address."""
    given = Account(base_url, "u", SecretStr("p"), "r", **account)
    async with PartnerClient(given, timing=HeldTime().timing) as client:
        return await client.sign_in()


def test_nobody_at_the_address_is_unreachable_and_names_the_setting() -> None:
    with pytest.raises(Unreachable, match=r"partner\.base_url"):
        asyncio.run(signed_in("http://127.0.0.1:9"))


@pytest.mark.parametrize(
    "base_url",
    [
        "",
        "platform.example.com",
        "ftp://platform.example.com",
        "https://",
        "https://user:hunter2@platform.example.com",
        "https://platform.example.com?key=hunter2",
        "https://platform.example.com/#x",
        "https://platform.example.com:port",
        "http://[::1",
    ],
)
def test_an_unusable_address_is_refused_without_quoting_it(base_url: str) -> None:
    with pytest.raises(ConfigurationError, match=r"partner\.base_url") as caught:
        PartnerClient(Account(base_url, "u", SecretStr("p"), "r"))
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("host", ["platform.example.com", "192.168.1.7", "localhost.example.com", "0.0.0.0"])
def test_a_password_is_not_sent_in_clear_to_another_machine(host: str) -> None:
    with pytest.raises(ConfigurationError, match="allow_plain_http"):
        PartnerClient(Account(f"http://{host}:8080", "u", SecretStr("p"), "r"))
    PartnerClient(Account(f"http://{host}:8080", "u", SecretStr("p"), "r", allow_plain_http=True))


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.1.2.3", "[::1]"])
def test_this_machine_may_be_asked_in_clear(host: str) -> None:
    PartnerClient(Account(f"http://{host}:8080", "u", SecretStr("p"), "r"))


def test_an_account_shows_its_address_only() -> None:
    account = Account("https://platform.example.com", "ann", SecretStr("hunter2"), "partner-role")
    assert repr(account) == "Account(base_url='https://platform.example.com')"


def test_a_prefix_in_the_address_is_kept(stage: Stage) -> None:
    stage.server.answers(reply_data({"token": "t"}))
    stage.play(lambda _: signed_in(f"{stage.server.base_url}/eu/"))
    assert [asked.path for asked in stage.server.asked] == ["/eu/services/user/v1/auth/sign-in"]


def test_no_proxy_is_asked_for_this_machine(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    stage.server.answers(reply_page([{"id": "1"}]))
    assert stage.play(one).requests == 1


@pytest.mark.parametrize("name", ["http_proxy", "all_proxy"])
def test_a_proxy_is_asked_for_other_machines(stage: Stage, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    hosts: list[str] = []

    def proxied(asked: ReceivedRequest) -> Reply:
        hosts.append(asked.headers["host"])
        return reply_data({"token": "t"})

    stage.server.sign_in = proxied

    async def scene(_: PartnerClient) -> None:
        monkeypatch.setenv(name, stage.server.base_url.removeprefix("http://"))
        await signed_in("http://platform.example.com", allow_plain_http=True)

    stage.play(scene)
    assert hosts == ["platform.example.com"]


def test_an_unusable_proxy_is_a_matter_of_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "gopher://ann:hunter2@proxy")
    with pytest.raises(ConfigurationError, match="proxy") as caught:
        PartnerClient(Account("https://platform.example.com", "u", SecretStr("p"), "r"))
    assert "hunter2" not in str(caught.value)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return a certificate of `localhost` by an unknown authority, and its key."""
    return self_signed(tmp_path_factory.mktemp("tls"))


def signed_in_over_tls(server: ScriptedServer, certificate: tuple[Path, Path]) -> datetime:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)

    async def scene() -> datetime:
        async with await asyncio.start_server(server.serve, "127.0.0.1", 0, ssl=context) as listener:
            return await signed_in(f"https://localhost:{listener.sockets[0].getsockname()[1]}")

    return asyncio.run(scene())


def test_a_certificate_that_nobody_vouches_for_is_sent_no_credentials(certificate: tuple[Path, Path]) -> None:
    server = ScriptedServer()

    with pytest.raises(Unreachable, match=r"not trusted \(self.signed certificate\).*SSL_CERT_FILE") as caught:
        signed_in_over_tls(server, certificate)

    assert "***" not in str(caught.value)
    assert "attempts" not in str(caught.value), "to ask again cannot help"
    assert server.sign_ins == 0


def test_one_that_the_environment_vouches_for_is_trusted(
    certificate: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate[0]))

    assert signed_in_over_tls(ScriptedServer(), certificate) == http_date(SERVER_TIME)


@pytest.mark.parametrize(("content", "reason"), [(None, "No such file"), ("no certificate", "has no certificate")])
def test_a_file_of_authorities_that_cannot_be_read_is_a_matter_of_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str | None, reason: str
) -> None:
    file = tmp_path / "authorities.pem"
    if content:
        file.write_text(content, "utf-8")
    monkeypatch.setenv("SSL_CERT_FILE", str(file))

    with pytest.raises(ConfigurationError, match=f"SSL_CERT_FILE: .*{reason}"):
        PartnerClient(Account("https://platform.example.com", "u", SecretStr("p"), "r"))
