"""The client's requests, and its reading of whole answers.

Wrong addresses: nobody answers, a proxy answers, or a host that must not get a password.
"""

import asyncio
import ssl
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pydantic import SecretStr
from support.certificates import self_signed
from support.scripted_server import (
    PRACTICE,
    SERVER_TIME,
    HeldTime,
    ReceivedRequest,
    Reply,
    ScriptedServer,
    Stage,
    one,
    reply_data,
    reply_error,
    reply_json,
    reply_page,
)
from vetl.core.errors import (
    ConfigurationError,
    ContractBroken,
    NotFound,
    TornAnswer,
    Unreachable,
    VetlError,
    Withheld,
)
from vetl.core.pages import CallsPage, Page, Row
from vetl.partner.answers import http_date
from vetl.partner.client import Account, Limits, PartnerClient
from vetl.partner.protocol import CsvAnswer

SERVER_NOW = datetime(2026, 11, 21, 10, tzinfo=UTC)
CSV_HEADERS = {"Content-Type": "text/csv", "X-Total-Count": "1", "x-page": "0", "X-PER-PAGE": "5000"}


def parsed(answer: CsvAnswer) -> CallsPage:
    return CallsPage(answer.body, 1, answer.total_count, answer.per_page, answer.server_time, answer.requests)


def test_a_page_is_asked_for_with_token_and_practice(stage: Stage) -> None:
    stage.server.answers(reply_page([{"id": "1"}], total=7))

    async def scene(client: PartnerClient) -> Page:
        query = {"start_date": "2026-01-01T00:00:00Z", "outcome": ["a b", "c+d"], "state[]": ["x"]}
        return await client.page(PRACTICE, "ai_outbound/requests", query)

    page = stage.play(scene)

    (asked,) = stage.server.asked
    assert asked.path == "/services/core/open_api/v1/ai_outbound/requests"
    lists = [("outcome[]", "a b"), ("outcome[]", "c+d"), ("state[]", "x")]
    assert asked.query == [("start_date", "2026-01-01T00:00:00Z"), *lists]
    assert asked.token == "token-1"
    assert asked.headers["x-client-id"] == PRACTICE
    assert asked.headers["accept"] == "application/json"
    assert asked.headers["user-agent"].startswith("vetl")
    assert asked.headers["cache-control"] == "no-cache"
    assert page == Page(({"id": "1"},), 7, 100, SERVER_NOW, requests=1)


def test_calls_are_asked_for_as_csv_in_both_ways(stage: Stage) -> None:
    stage.server.answers(Reply(body=b"Date\r\n2026-01-01 10:00\r\n", headers=CSV_HEADERS))

    page = stage.play(lambda client: client.calls(PRACTICE, {"page": "0"}, parse=parsed))

    (asked,) = stage.server.asked
    assert asked.path == "/services/core/open_api/v1/phone_calls"
    assert asked.query == [("page", "0"), ("format", "csv")]
    assert asked.headers["accept"] == "text/csv"
    assert page == CallsPage(b"Date\r\n2026-01-01 10:00\r\n", 1, 1, 5000, SERVER_NOW, requests=1)


@pytest.mark.parametrize("answer", [reply_error(404), reply_error(410), reply_data(None), reply_data({})])
def test_a_record_that_is_not_there_is_none(stage: Stage, answer: Reply) -> None:
    """An id that would address something else is not asked for."""
    stage.server.answers(answer)

    for record_id in ("c-1", "", ".", ".."):
        assert stage.play(lambda client, of=record_id: client.record(PRACTICE, "clients", of)) is None
    assert len(stage.server.asked) == 1


@pytest.mark.parametrize("status", [400, 404])
def test_a_record_is_missing_only_if_two_requests_do_not_find_it(stage: Stage, status: int) -> None:
    """One stray answer of a gateway must not delete a row."""
    stage.server.answers(reply_error(status), reply_data({"id": "c-1"}), reply_error(status))

    def scene(client: PartnerClient) -> Any:
        return client.records(PRACTICE, "clients", ["c-1"])

    assert [stage.play(scene) for _ in range(2)] == [{"c-1": {"id": "c-1"}}, {"c-1": None}]
    assert len(stage.server.asked) == 4


REFUSED = reply_json({"success": False, "data": None, "message": "no such client"})


@pytest.mark.parametrize("answer", [REFUSED, *(reply_error(status) for status in (301, 302, 308))])
def test_a_withheld_record_costs_three_requests_and_keeps_no_other_from_being_read(
    stage: Stage, answer: Reply
) -> None:
    """A client that is gone, or merged into another, may be answered so; one such answer proves nothing."""
    ids = [f"c-{number}" for number in range(40)]
    asked = Counter[str]()

    def handler(request: ReceivedRequest) -> Reply:
        asked[identity := request.path.rpartition("/")[2]] += 1
        is_odd = identity.endswith(("1", "2")) and not (identity == "c-2" and asked[identity] == 2)
        return answer if is_odd else reply_data({"id": identity})

    stage.server.handler = handler

    answers = stage.play(lambda client: client.records(PRACTICE, "clients", ids))

    withheld = {identity for identity, row in answers.items() if isinstance(row, Withheld)}
    assert withheld == {identity for identity in ids if identity.endswith(("1", "2"))} - {"c-2"}
    assert answers.keys() == set(ids)
    assert {asked[identity] for identity in withheld} == {3}
    assert stage.time.slept == [1]


@pytest.mark.parametrize(("status", "sign_ins"), [(403, 3), (500, 1)])
def test_ids_that_are_forbidden_or_broken_keep_no_other_from_being_read(
    stage: Stage, status: int, sign_ins: int
) -> None:
    """A 403 may also mean that the token has expired, which a sign-in finds out, or two at the same time."""
    ids = [f"c-{number}" for number in range(60)]
    stage.server.handler = lambda request: (
        reply_error(status) if request.path.endswith(("1", "2")) else reply_data({"id": request.path[-4:]})
    )

    answers = stage.play(lambda client: client.records(PRACTICE, "clients", ids), Limits(max_in_flight=1))

    unread = {identity for identity, row in answers.items() if isinstance(row, VetlError)}
    assert unread == {identity for identity in ids if identity.endswith(("1", "2"))}
    assert answers.keys() == set(ids)
    assert stage.server.sign_ins <= sign_ins


def test_a_record_is_found_behind_any_stray_answers_if_others_turn_up(stage: Stage) -> None:
    ids, rng = [f"c-{number}" for number in range(40)], Random(3)
    stage.server.handler = lambda request: (
        reply_error(404) if rng.random() < 0.4 else reply_data({"id": request.path.rpartition("/")[2]})
    )

    answers = stage.play(lambda client: client.records(PRACTICE, "clients", ids))

    assert answers == {identity: {"id": identity} for identity in ids}


def test_a_token_that_is_used_up_and_answered_by_a_redirect_is_renewed_for_records(stage: Stage) -> None:
    uses = Counter[str]()

    def handler(request: ReceivedRequest) -> Reply:
        uses[request.token] += 1
        identity = request.path.rpartition("/")[2]
        return reply_error(302) if uses[request.token] > 7 else reply_data({"id": identity})

    stage.server.handler = handler
    ids = [f"c-{number}" for number in range(40)]

    answers = stage.play(lambda client: client.records(PRACTICE, "clients", ids))

    assert answers == {identity: {"id": identity} for identity in ids}
    assert stage.server.sign_ins <= 7


def test_no_content_is_an_empty_page_and_no_record(stage: Stage) -> None:
    stage.server.answers(Reply(status=204, body=b""))

    async def scene(client: PartnerClient) -> Any:
        page = await client.page(PRACTICE, "staff_tasks", {})
        calls = await client.calls(PRACTICE, {}, parse=lambda answer: answer.total_count)
        return page.rows, page.total_count, calls, await client.record(PRACTICE, "clients", "c-1")

    assert stage.play(scene) == ((), 0, 0, None)


@pytest.mark.parametrize("stray", [404, 204])
def test_a_stray_answer_of_a_gateway_is_no_answer_about_a_list(stage: Stage, stray: int) -> None:
    stage.server.answers(Reply(status=stray), reply_page([{"id": "1"}]))

    assert stage.play(lambda client: client.page(PRACTICE, "staff_tasks", {})).rows == ({"id": "1"},)


@pytest.mark.parametrize("status", [404, 410, 501])
def test_a_list_that_is_twice_not_there_is_not_found(stage: Stage, status: int) -> None:
    stage.server.answers(reply_error(status))

    with pytest.raises(NotFound) as caught:
        stage.play(lambda client: client.page(PRACTICE, "appointments", {}))

    assert caught.value.status == status
    assert len(stage.server.asked) == 2


def test_plain_arrays_are_pages_of_clients_and_patients_only(stage: Stage) -> None:
    """An array has no total: taken for a page of a synced list it would prove any content."""
    stage.server.answers(reply_data([{"id": "1"}, {"id": "2"}]))

    page = stage.play(lambda client: client.page(PRACTICE, "clients", {"name": "x"}))
    assert (page.total_count, page.per_page, len(page.rows)) == (2, None, 2)

    with pytest.raises(ContractBroken, match="not a page"):
        stage.play(lambda client: client.page(PRACTICE, "appointments", {}))


def test_an_answer_that_the_reader_calls_torn_is_read_again(stage: Stage) -> None:
    """The reader of a page checks its rows, the parser of a CSV its lines."""
    short, whole = b"Date\n", b"Date\n2026-01-01 10:00\n"
    pages = reply_page([], total=1), reply_page([{"id": "1"}], total=1)
    stage.server.answers(*pages, *(Reply(body=body, headers=CSV_HEADERS) for body in (short, whole)))

    def check(page: Page) -> None:
        if len(page.rows) != page.total_count:
            raise TornAnswer("short page")

    def parse(answer: CsvAnswer) -> CallsPage:
        if answer.body == short:
            raise TornAnswer("0 rows of 1")
        return parsed(answer)

    async def scene(client: PartnerClient) -> tuple[Page, CallsPage]:
        page = await client.page(PRACTICE, "staff_tasks", {}, check=check)
        return page, await client.calls(PRACTICE, {}, parse=parse)

    page, calls = stage.play(scene)

    assert (len(page.rows), page.requests) == (1, 2)
    assert (calls.frame, calls.requests) == (whole, 2)


def test_connections_are_used_again_and_cookies_are_not_sent_back(stage: Stage) -> None:
    stage.server.answers(reply_page([], Set_Cookie="session=1"))

    async def scene(client: PartnerClient) -> None:
        for _ in range(5):
            await one(client)

    stage.play(scene)

    assert stage.server.connections == 1
    assert all("cookie" not in asked.headers for asked in stage.server.asked)


def test_an_answer_without_date_is_timed_by_the_local_clock_set_right(stage: Stage) -> None:
    """The server is ten hours ahead of this machine; an answer without `Date` must not fall back in time."""
    stage.server.answers(reply_page([]), reply_page([], Date=""), reply_page([], Date="yesterday"))

    async def scene(client: PartnerClient) -> list[datetime]:
        return [(await one(client)).server_time for _ in range(3)]

    assert stage.play(scene) == [SERVER_NOW] * 3
    assert [log["event"] for log in stage.logs if log["log_level"] == "warning"] == ["answer_without_date"]


def test_half_an_emoji_does_not_cost_the_page_and_is_said_once(stage: Stage) -> None:
    """A source that cuts a summary after so many UTF-16 units sends half of a surrogate pair."""
    stage.server.answers(Reply(body=b'{"success":true,"data":{"id":"1","summary":"Rex \\ud83d"},"message":null}'))

    async def scene(client: PartnerClient) -> Row | None:
        await client.record(PRACTICE, "phone_calls", "1")
        return await client.record(PRACTICE, "phone_calls", "1")

    assert stage.play(scene) == {"id": "1", "summary": "Rex \N{REPLACEMENT CHARACTER}"}
    assert [log["event"] for log in stage.logs if log["log_level"] == "warning"] == ["characters_replaced"]


def test_every_request_is_logged_without_personal_data(stage: Stage) -> None:
    """As `-vv` shows them."""
    stage.server.answers(reply_page([{"id": "1", "name": "Ann"}]))

    async def scene(client: PartnerClient) -> None:
        await client.page(PRACTICE, "staff_tasks", {"page": "3", "status": "pending"})
        await client.page(PRACTICE, "clients", {"name": "Ann", "phone": "+15550104477"})

    stage.play(scene)

    entries = [log for log in stage.logs if log["event"] == "request"]
    assert [(log["asked"], log["query"], log["status"]) for log in entries] == [
        ("sign-in", "", 200),
        (f"GET staff_tasks for practice {PRACTICE}", "page=3&status=pending", 200),
        (f"GET clients for practice {PRACTICE}", "name=***&phone=***", 200),
    ]
    assert {log["log_level"] for log in entries} == {"debug"}
    assert "Ann" not in str(stage.logs)


def test_a_read_that_is_cancelled_at_any_moment_leaves_its_connection_usable(stage: Stage) -> None:
    """Httpcore counted a connection as in use for ever if its request was cancelled while it was opened."""
    stage.server.answers(reply_page([{"id": "1"}]))

    async def cancelled(client: PartnerClient, moment: int) -> None:
        read = asyncio.create_task(one(client))
        for _ in range(moment):
            await asyncio.sleep(0)
        read.cancel()
        await asyncio.wait([read])

    async def scene(client: PartnerClient) -> list[int]:
        await client.sign_in()
        requests: list[int] = []
        for moment in range(40):
            await cancelled(client, 8)  # its connection is closed
            await cancelled(client, moment)
            requests.append((await one(client)).requests)
        return requests

    assert stage.play(scene, Limits(timeout_seconds=20)) == [1] * 40


@pytest.mark.parametrize("practice", ["", "loc 1\r\nX-Evil: 1", "Zoë", " loc"])
def test_a_practice_id_that_no_header_can_carry_is_refused_before_it_is_sent(stage: Stage, practice: str) -> None:
    with pytest.raises(ConfigurationError, match="practices"):
        stage.play(lambda client: client.page(practice, "staff_tasks", {}))
    assert stage.server.asked == []


@pytest.mark.parametrize("name", ["none", "UTF-8", "identity", "none, utf-8", ""])
def test_a_name_that_is_no_content_coding_is_none(stage: Stage, name: str) -> None:
    signed_in = reply_data({"token": "t"})
    stage.server.sign_in_answers(replace(signed_in, headers={"Content-Encoding": name}))
    stage.server.answers(replace(reply_page([{"id": "1"}]), headers={"Content-Encoding": name}))

    assert stage.play(one).requests == 1


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
