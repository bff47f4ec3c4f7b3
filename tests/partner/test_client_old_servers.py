"""Servers of other kinds: HTTP/1.0, chunked, without lengths, with headers in any case."""

import json

import pytest
from support.scripted_server import PRACTICE, SERVER_TIME, Reply, Stage

from pipelines.core.errors import TornAnswer
from pipelines.core.pages import CallsPage, Page
from pipelines.partner.client import PartnerClient
from pipelines.partner.protocol import CsvAnswer

DATE = f"Date: {SERVER_TIME}\r\n".encode()
BODY = json.dumps({"success": True, "data": {"total_count": "1", "content": [{"id": 1}]}}).encode()
CSV = b'Date,Summary\n2026-11-21 09:00,"two\nlines"\n'


def old(head: bytes, body: bytes) -> Reply:
    return Reply(raw=b"HTTP/1.0 200 OK\r\n" + DATE + head + b"\r\n" + body)


def chunked(body: bytes, *, ended: bool = True) -> Reply:
    chunks = b"".join(
        b"%x\r\n%s\r\n" % (len(body[at : at + 7]), body[at : at + 7]) for at in range(0, len(body), 7)
    )
    head = b"HTTP/1.1 200 OK\r\n" + DATE + b"transfer-encoding: chunked\r\n\r\n"
    return Reply(raw=head + chunks + (b"0\r\n\r\n" if ended else b""))


async def tasks(client: PartnerClient) -> Page:
    return await client.page(PRACTICE, "staff_tasks", {})


@pytest.mark.parametrize("reply", [old(b"", BODY), chunked(BODY)], ids=["HTTP/1.0, ended by closing", "chunked"])
def test_a_page_is_read_however_it_is_framed(stage: Stage, reply: Reply) -> None:
    stage.server.answers(reply)

    page = stage.play(tasks)

    assert (page.rows, page.total_count) == (({"id": 1},), 1)


@pytest.mark.parametrize(
    "torn",
    [old(b"", BODY[:-9]), chunked(BODY[:-9]), chunked(BODY, ended=False)],
    ids=["closed", "short", "unended"],
)
def test_a_page_that_breaks_off_without_a_length_is_read_again(stage: Stage, torn: Reply) -> None:
    stage.server.answers(torn, chunked(BODY))

    assert stage.play(tasks).requests == 2


@pytest.mark.parametrize("status", [b"204 No Content", b"205 Reset Content"])
def test_no_content_is_not_taken_for_an_empty_list(stage: Stage, status: bytes) -> None:
    """It has no total: taken as an empty list, it would delete every row."""
    stage.server.answers(Reply(raw=b"HTTP/1.1 " + status + b"\r\n" + DATE + b"\r\n"))

    with pytest.raises(TornAnswer, match="an empty body"):
        stage.play(tasks)


@pytest.mark.parametrize(
    ("name", "kind"), [(b"X-TOTAL-COUNT", b"text/csv"), (b"x-total-count", b"application/octet-stream")]
)
def test_the_csv_and_its_headers_in_any_case(stage: Stage, name: bytes, kind: bytes) -> None:
    head = name + b": 1\r\ncontent-type: " + kind + b"\r\nContent-Disposition: attachment; filename=calls.csv\r\n"
    stage.server.answers(old(head, CSV))
    seen: list[CsvAnswer] = []

    def parse(answer: CsvAnswer) -> CallsPage:
        seen.append(answer)
        return CallsPage(answer.body, 1, answer.total_count, None, None, answer.server_time)

    stage.play(lambda client: client.calls(PRACTICE, {}, parse=parse))

    assert (seen[0].body, seen[0].total_count) == (CSV, 1)
