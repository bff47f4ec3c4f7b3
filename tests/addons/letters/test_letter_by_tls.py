"""The letter leaves over TLS alone, by Dagster's job too: a real mail server takes it, or refuses."""

import ssl
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest
from aiosmtpd.smtp import AuthResult, LoginPassword
from pydantic import SecretStr
from support.certificates import self_signed
from support.mail_server import Mailbox, mail_server
from support.practice_site import practice_tables, vetl_resource
from support.sandbox_settings import changed
from vetl.addons.letters.dagster import letters
from vetl.addons.letters.job import report
from vetl.addons.letters.settings import Reader
from vetl.settings import Settings

PASSWORD = "k7-mail-Qx2-zz"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return self_signed(tmp_path_factory.mktemp("tls"))


@pytest.fixture
def tls(certificate: tuple[Path, Path]) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    return context


@pytest.fixture
def secure(tls: ssl.SSLContext) -> Iterator[Mailbox]:
    """Provide a mail server that takes mail only over TLS, and only from who signs in."""

    def signs_in(*_: object) -> AuthResult:
        given = _[-1]
        return AuthResult(success=isinstance(given, LoginPassword) and given.password == PASSWORD.encode())

    with mail_server(tls, require_starttls=True, auth_required=True, authenticator=signs_in) as running:
        yield running


def over(settings: Settings, port: int, folder: Path) -> Settings:
    """Return settings with one reader, whose letter goes to `localhost` with a sign-in."""
    server = {"smtp_host": "localhost", "smtp_port": port, "smtp_username": "vetl"}
    readers = (Reader(name="One", practices=("loc-001",), to=("one@example.com",)),)
    return changed(
        settings,
        alerts={**server, "smtp_password": SecretStr(PASSWORD)},
        report={"recipients": readers, "ledger": folder / "letters.sqlite"},
    )


def test_a_server_whose_certificate_is_trusted_gets_the_letter_encrypted(
    settings: Settings,
    secure: Mailbox,
    certificate: tuple[Path, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate[0]))
    monkeypatch.setattr("vetl.notices.is_this_machine", str.isdecimal)  # as if it were elsewhere

    done = report(over(settings, secure.port, tmp_path))

    assert [item.state for item in done.deliveries] == ["sent"]
    assert secure.encrypted == [True]
    assert secure.messages[0]["To"] == "one@example.com"


def test_a_server_whose_certificate_nobody_vouches_for_gets_nothing(
    settings: Settings, secure: Mailbox, tmp_path: Path
) -> None:
    [item] = report(over(settings, secure.port, tmp_path)).deliveries

    assert item.state == "failed"
    assert "self-signed certificate" in item.note
    assert PASSWORD not in item.note
    assert secure.messages == []


def test_on_the_port_of_smtps_the_connection_begins_with_tls(
    settings: Settings,
    tls: ssl.SSLContext,
    certificate: tuple[Path, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate[0]))
    with mail_server(ssl_context=tls) as mailbox:
        monkeypatch.setattr("vetl.notices._TLS_FROM_THE_START", mailbox.port)
        signed = over(settings, mailbox.port, tmp_path)
        done = report(changed(signed, alerts={"smtp_username": None, "smtp_password": None}))

    assert [item.state for item in done.deliveries] == ["sent"]
    assert mailbox.encrypted == [True]


def test_the_job_sends_the_letter_once_and_fails_if_it_was_refused(
    settings: Settings, mailbox: Mailbox, tmp_path: Path
) -> None:
    text = (
        f'[partner]\nbase_url = "http://127.0.0.1:9"\n[warehouse]\npublished = "{settings.warehouse.published}"\n'
        f'[alerts]\nsmtp_host = "127.0.0.1"\nsmtp_port = {mailbox.port}\n[report]\nledger = "letters.sqlite"\n'
        '[[report.recipients]]\nname = "One"\npractices = ["loc-001"]\nto = ["one@example.com"]\n'
    )
    vetl = {"vetl": vetl_resource(tmp_path, text + practice_tables("loc-001"))}
    mailbox.refuses = True
    with dg.DagsterInstance.ephemeral() as instance:
        refused = letters.execute_in_process(resources=vetl, instance=instance, raise_on_error=False)
        mailbox.refuses = False
        done = [letters.execute_in_process(resources=vetl, instance=instance) for _ in range(2)]

    assert (refused.success, [one.success for one in done]) == (False, [True, True])
    assert [message["To"] for message in mailbox.messages] == ["one@example.com"]
