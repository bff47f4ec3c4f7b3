"""The partner interface as requests and answers. Pure: no I/O, no clock, nothing but values in and out.

A request is built here and sent elsewhere; what came back is an `Answer`, from which these functions make
rows or raise one of vetl's errors. `TornAnswer` and `ContractBroken` both deserve another attempt: a proxy's
half answer looks like a broken contract. Only the last attempt decides what it was.
"""

import csv
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from io import StringIO
from typing import Any, NoReturn, TypeVar
from urllib.parse import quote, urlencode

from pipelines.core.errors import ContractBroken, TornAnswer, VetlError
from pipelines.core.pages import Page, Row
from pipelines.partner.bodies import Decoded, likeness, read_json, utf8
from pipelines.partner.calls_csv import COLUMNS
from pipelines.partner.headers import Headers, count
from pipelines.partner.redaction import redact

Query = Mapping[str, str | Sequence[str]]
"""Query parameters. A sequence matches any of its values (contract: `outcome[]=a&outcome[]=b`)."""

PREFIX = "/services/core/open_api/v1/"
SIGN_IN = "/services/user/v1/auth/sign-in"
PHONE_CALLS = "phone_calls"
PLAIN_LISTS = frozenset({"clients", "patients"})
"""Lists whose `data` is a plain array (contract: Endpoints). Of any other list an array proves nothing."""


LARGEST_JSON = 16 * 1024 * 1024
"""Bytes. A page of 100 records is at most a few hundred kilobytes."""
LARGEST_CSV = 64 * 1024 * 1024
"""Bytes. A page of 5,000 calls is about 1.3 MB."""
MOST_ROWS = 20_000
"""On one page, of which 100 are asked for at most: as many as a list may have that ignores the page size."""


@dataclass(frozen=True, slots=True)
class Request:
    """What to send. `target` is path and query below the base address; `name` is for messages.

    `path` is relative to `PREFIX`, without the id of a record: what requests are counted by.

    `repeatable`: asking twice does no more than asking once, so that an attempt whose end is not known may be
    repeated. An answer of more than `largest` bytes, decompressed, is not read to its end.
    """

    name: str
    target: str
    path: str
    accept: str = "application/json"
    body: bytes | None = field(default=None, repr=False)
    method: str = "GET"
    repeatable: bool = True
    largest: int = LARGEST_JSON


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back, whole. `asked` says in a few words what for; `secrets` must not be quoted from it."""

    asked: str
    status: int
    headers: Headers
    body: bytes = field(repr=False)
    server_time: datetime
    secrets: tuple[str, ...] = field(default=(), repr=False)

    def json(self) -> Decoded:
        """The body as JSON. Raises `TornAnswer`."""
        return read_json(self.body, self.headers, self.asked)


@dataclass(frozen=True, slots=True)
class CsvAnswer:
    """One page of the phone-call CSV: UTF-8 bytes, and what the `X-` headers say of the whole list."""

    body: bytes = field(repr=False)
    total_count: int
    page: int | None
    per_page: int | None
    server_time: datetime
    requests: int = 1


def sign_in_request(username: str, password: str, role: str) -> Request:
    """Contract: Sign-in."""
    body = json.dumps({"username": username, "password": password, "role": role}).encode()
    return Request("sign-in", SIGN_IN, SIGN_IN, body=body, method="POST")


def list_request(path: str, query: Query) -> Request:
    """One page of a JSON list; `path` is relative to `PREFIX`."""
    return Request(path, _target(path, query), path)


def calls_request(query: Query) -> Request:
    """One page of the phone-call CSV, asked for in both ways that the contract shows."""
    target = _target(PHONE_CALLS, {**query, "format": "csv"})
    return Request(PHONE_CALLS, target, PHONE_CALLS, accept="text/csv", largest=LARGEST_CSV)


def record_request(path: str, record_id: str) -> Request:
    """One record by id."""
    target = f"{PREFIX}{path}/{quote(record_id, safe='', errors='replace')}"
    return Request(f"{path}/{redact(record_id)}", target, path)


def writing_request(
    method: str, path: str, body: bytes | None, *, record_id: str | None = None, repeatable: bool = False
) -> Request:
    """One that changes something. Creations are repeatable only where the contract says so."""
    addressed = record_request(path, record_id) if record_id is not None else list_request(path, {})
    return replace(addressed, method=method, body=body, repeatable=repeatable)


T = TypeVar("T")
Decipher = Callable[[Answer, int], T]
"""Makes something of an answer, given how many requests it took."""


def page(answer: Answer, document: Decoded, *, plain: bool = False, requests: int = 1) -> Page:
    """One page of a list (contract: Endpoints); `plain` where `data` is an array without totals.

    A total may stand in the header that the contract shows for the CSV. Where it is zero, `content` may be null
    or missing, as some servers write an empty array.

    Raises:
        TornAnswer: the envelope says `success: false`.
        ContractBroken: no envelope, no `content`, no usable `total_count`, or more rows than a page can have.
    """
    data = payload(answer, document)
    if plain and isinstance(data, list):
        return Page(_rows(data), len(data), None, None, answer.server_time, requests)
    if not isinstance(data, dict):
        _broken(answer, "`data` is not a page")
    total = count(data.get("total_count", answer.headers.get("x-total-count")))
    if total is None:
        _broken(answer, "the page has no usable `total_count`")
    content = data.get("content")
    if content is None and not total:
        content = []
    if not isinstance(content, list):
        _broken(answer, "the page has no list `content`")
    if len(content) > MOST_ROWS:
        _broken(answer, f"one page has {len(content)} rows, at most {MOST_ROWS} are taken")
    echoes = count(data.get("page")), count(data.get("per_page"))
    return Page(_rows(content), total, *echoes, answer.server_time, requests, count(data.get("total_pages")))


def record(answer: Answer, document: Decoded) -> Row:
    """One record, directly under `data`. Raises like `page`."""
    data = payload(answer, document)
    if not isinstance(data, dict):
        _broken(answer, "`data` is not a record")
    return data


def csv_page(answer: Answer, *, requests: int = 1) -> CsvAnswer:
    """One page of the phone-call CSV (contract: List phone calls), its rows still unread.

    The body decides, not its content type: a CSV may come as text/plain or as an octet stream. Of no calls at
    all, as the total says, the line of column names may be missing too.

    Raises:
        TornAnswer: the body is empty, HTML or an error envelope.
        ContractBroken: it is JSON although CSV was asked for, or there is no `X-Total-Count`.
    """
    headers, body = answer.headers, answer.body
    total = count(headers.get("x-total-count"))
    start = body[:512].lstrip(b"\xef\xbb\xbf \t\r\n")
    if start.startswith(b"{"):
        payload(answer, answer.json())
        _broken(answer, "JSON, although CSV was asked for")
    if not start and total == 0:
        body = ",".join(column.header for column in COLUMNS).encode()
    elif not start or start.startswith(b"<"):
        raise TornAnswer(f"{answer.asked}: expected CSV, got {likeness(body, headers)}")
    if total is None:
        _broken(answer, "the CSV has no usable header X-Total-Count")
    echoes = count(headers.get("x-page")), count(headers.get("x-per-page"))
    return CsvAnswer(utf8(body, headers), total, *echoes, answer.server_time, requests)


def whole_rows(page: CsvAnswer) -> int:
    """How many rows a CSV page has below its names.

    Raises:
        TornAnswer: fewer than its headers promise.
        ContractBroken: it cannot be read as CSV.
    """
    text = StringIO(page.body.decode("utf-8", "replace"), newline="")
    try:
        rows = max(0, sum(map(bool, csv.reader(text))) - 1)
    except csv.Error:
        raise ContractBroken(f"{PHONE_CALLS}: a page cannot be read as CSV") from None
    if page.per_page is not None and page.page is not None:
        promised = min(page.per_page, page.total_count - page.page * page.per_page)
        if rows < promised:
            raise TornAnswer(f"{PHONE_CALLS}: a CSV page has {rows} rows where its headers promise {promised}")
    return rows


def payload(answer: Answer, document: Decoded) -> Any:  # noqa: ANN401 - any JSON value
    """`data` of the success envelope `{success, data, message}`. Where `success` is missing, the status says it.

    Raises:
        TornAnswer: it says `success: false` in spite of its status; on a read that passes.
        ContractBroken: there is no such envelope.
    """
    envelope = document.value
    if not isinstance(envelope, dict) or not {"success", "data"} & set(envelope):
        _broken(answer, "the JSON is not an envelope with `success` and `data`")
    if says_no(envelope):
        said = redact(envelope.get("message"), answer.secrets) or "no reason given"
        raise TornAnswer(f"{answer.asked}: status {answer.status}, but `success` is false: {said}")
    if "data" not in envelope:
        _broken(answer, "the envelope has no `data`")
    return envelope["data"]


def says_no(envelope: dict[str, Any]) -> bool:
    """Whether `success` is there and false, as a boolean or as text."""
    return str(envelope.get("success")).lower() in ("false", "0")


def done(answer: Answer) -> None:
    """A deletion that was done: its `data` tells nothing (contract: Staff tasks, Delete), and may be missing.

    Raises:
        TornAnswer: the answer is none, or says `success: false`.
    """
    if answer.body.strip():
        document = answer.json()
        if not isinstance(document.value, dict) or says_no(document.value):
            payload(answer, document)


def _target(path: str, query: Query) -> str:
    pairs: list[tuple[str, str]] = []
    for name, value in query.items():
        if isinstance(value, str):
            pairs.append((name, value))
        else:
            pairs.extend((f"{name.removesuffix('[]')}[]", item) for item in value)
    encoded = urlencode(pairs, quote_via=quote, errors="replace")
    return f"{PREFIX}{path}?{encoded}" if encoded else PREFIX + path


def _rows(content: list[Any]) -> tuple[Row, ...]:
    """The rows. What is no object becomes one without id: the loader sets it aside, and the rest goes on."""
    if set(map(type, content)) <= {dict}:
        return tuple(content)
    return tuple(row if isinstance(row, dict) else {"not_an_object": row} for row in content)


def _broken(answer: Answer, what: str) -> NoReturn:
    raise ContractBroken(f"{answer.asked}: {what} (status {answer.status}); the contract promises it")


def deciphered(decipher: Decipher[T], answers: list[Answer], attempt: int) -> T:
    """Take the answer from a list of one, and return what `decipher` makes of it.

    An error keeps the frames that it came through, and they would keep the body, which may have 64 MiB. No frame
    outside keeps the answer, and of an error that vetl words itself the frames inside are dropped.
    """
    try:
        return decipher(answers.pop(), attempt)
    except VetlError as error:
        error.__context__ = None
        raise error.with_traceback(None) from None


def accept(page: Page) -> None:
    """Any page is whole."""
