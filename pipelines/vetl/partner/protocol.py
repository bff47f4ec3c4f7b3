"""The partner interface as requests and answers, in pure functions without I/O and without a clock.

These functions build a request, which `wire` sends, and turn its `Answer` into rows or raise one of vetl's errors.
`TornAnswer` and `ContractBroken` are both worth another attempt, because half an answer of a proxy looks like a
broken contract. The error of the last attempt is the result. `refusal` makes the error of a status
other than 2xx (contract: Errors).
"""

import csv
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from http import HTTPStatus
from io import StringIO
from typing import Any, NoReturn, TypeVar
from urllib.parse import quote, urlencode

from vetl.core import errors
from vetl.core.pages import Page, Row
from vetl.partner.answers import Decoded, Headers, count, http_date, likeness, read_json, redact, retry_after, utf8
from vetl.partner.calls_csv import COLUMNS

Query = Mapping[str, str | Sequence[str]]
"""Query parameters; a sequence matches any of its values (contract: `outcome[]=a&outcome[]=b`)."""

PREFIX = "/services/core/open_api/v1/"
SIGN_IN = "/services/user/v1/auth/sign-in"
PHONE_CALLS = "phone_calls"
PLAIN_LISTS = frozenset({"clients", "patients"})
"""Lists whose `data` is a plain array (contract: Endpoints); for any other list an array is no page."""


LARGEST_JSON = 8 * 1024 * 1024
"""Most bytes of an answer in JSON; a page of 100 records has at most a few hundred kilobytes."""
LARGEST_CSV = 8 * 1024 * 1024
"""Most bytes of a CSV; a page of 5,000 calls has about 1.3 MB. Days with more are read in smaller windows."""
LARGEST_RECORD = 1024 * 1024
"""Most bytes of an answer with one record, which usually has less than 1 KB."""
MOST_ROWS = 20_000
"""Most rows of a page, although at most 100 are requested: a list may ignore the page size."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request; `target` is the path and the query below the base address, and `name` is for messages.

    Requests are counted by `path`, which is relative to `PREFIX` and has no id of a record. `repeatable`: a
    repetition changes nothing more, so that an attempt with an unknown outcome may be repeated. A decompressed
    answer of more than `largest` bytes is not read to its end. `divisible`: less may be requested instead.
    """

    name: str
    target: str
    path: str
    accept: str = "application/json"
    body: bytes | None = field(default=None, repr=False)
    method: str = "GET"
    repeatable: bool = True
    largest: int = LARGEST_JSON
    divisible: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """A complete answer; `label` describes the request in messages, and `secrets` must not be quoted."""

    label: str
    status: int
    headers: Headers
    body: bytes = field(repr=False)
    server_time: datetime
    secrets: tuple[str, ...] = field(default=(), repr=False)

    def json(self) -> Decoded:
        """Return the body as JSON; raise `TornAnswer` if it is not JSON. "No content" (204) is an empty list."""
        if self.status == HTTPStatus.NO_CONTENT:
            return Decoded({"data": None, "total_count": 0}, repaired=False)
        return read_json(self.body, self.headers, self.label)


@dataclass(frozen=True, slots=True)
class CsvAnswer:
    """One page of the phone-call CSV: UTF-8 bytes, and the values of the `X-` headers about the whole list."""

    body: bytes = field(repr=False)
    total_count: int
    page: int | None
    per_page: int | None
    server_time: datetime
    requests: int = 1


def sign_in_request(username: str, password: str, role: str) -> Request:
    """Return the request of a sign-in (contract: Sign-in)."""
    body = json.dumps({"username": username, "password": password, "role": role}).encode()
    return Request("sign-in", SIGN_IN, SIGN_IN, body=body, method="POST")


def list_request(path: str, query: Query) -> Request:
    """Return the request for one page of a JSON list; `path` is relative to `PREFIX`."""
    return Request(path, _target(path, query), path)


def calls_request(query: Query) -> Request:
    """Return the request for one page of the phone-call CSV, in both ways that the contract shows."""
    target = _target(PHONE_CALLS, {**query, "format": "csv"})
    return Request(PHONE_CALLS, target, PHONE_CALLS, accept="text/csv", largest=LARGEST_CSV)


def record_request(path: str, record_id: str) -> Request:
    """Return the request for one record by id."""
    target = f"{PREFIX}{path}/{quote(record_id, safe='', errors='replace')}"
    return Request(f"{path}/{redact(record_id)}", target, path, largest=LARGEST_RECORD)


def writing_request(
    method: str, path: str, body: bytes | None, *, record_id: str | None = None, repeatable: bool = False
) -> Request:
    """Return a request that changes data; a creation is repeatable only if the contract says so."""
    addressed = record_request(path, record_id) if record_id is not None else list_request(path, {})
    return replace(addressed, method=method, body=body, repeatable=repeatable)


T = TypeVar("T")
Decipher = Callable[[Answer, int], T]
"""Return a value from an answer and the number of requests for it."""


def page(answer: Answer, document: Decoded, *, plain: bool = False, requests: int = 1) -> Page:
    """Return one page of a list (contract: Endpoints); `plain`: `data` is an array without totals.

    The total may also be in the header that the contract shows for the CSV. `content` may be null, because some
    servers write an empty array like that, also beyond the last page; it may be missing if the total is zero, and
    then `data` may be null. A reader compares the rows with the total. Raise `TornAnswer` if the envelope says
    `success: false`; `ContractBroken` if no envelope, no `content`, no usable `total_count`, or more rows than a
    page can have.
    """
    _check_content(answer, requests)
    data = payload(answer, document)
    if plain and isinstance(data, list):
        return Page(_rows(data), len(data), None, answer.server_time, requests)
    if data is None:
        data = document.value
    if not isinstance(data, dict):
        _broken(answer, "`data` is not a page")
    total = count(data.get("total_count", answer.headers.get("x-total-count")))
    if total is None:
        _broken(answer, "the page has no usable `total_count`")
    content = data.get("content")
    if content is None and (not total or "content" in data):
        content = []
    if not isinstance(content, list):
        _broken(answer, "the page has no list `content`")
    if len(content) > MOST_ROWS:
        _broken(answer, f"one page has {len(content)} rows, at most {MOST_ROWS} are accepted")
    per_page, total_pages = count(data.get("per_page")), count(data.get("total_pages"))
    return Page(_rows(content), total, per_page, answer.server_time, requests, total_pages)


def record(answer: Answer, document: Decoded) -> Row:
    """Return one record, which is directly under `data`; raise the same errors as `page`."""
    data = payload(answer, document)
    if not isinstance(data, dict):
        _broken(answer, "`data` is not a record")
    return data


def csv_page(answer: Answer, *, requests: int = 1) -> CsvAnswer:
    """Return one page of the phone-call CSV (contract: List phone calls), without a look at its rows.

    The body decides and not its content type, because a CSV may come as text/plain or as an octet stream. If the
    total is zero, the line of column names may be missing, too. Raise `TornAnswer` if the body is empty, HTML or
    an error envelope; `ContractBroken` if the body is JSON although CSV was requested, or there is no
    `X-Total-Count`.
    """
    headers, body = answer.headers, answer.body
    _check_content(answer, requests)
    total = 0 if answer.status == HTTPStatus.NO_CONTENT else count(headers.get("x-total-count"))
    start = body[:512].lstrip(b"\xef\xbb\xbf \t\r\n")
    if start.startswith(b"{"):
        payload(answer, answer.json())
        _broken(answer, "JSON, although CSV was requested")
    if not start and total == 0:
        body = ",".join(column.header for column in COLUMNS).encode()
    elif not start or start.startswith(b"<"):
        raise errors.TornAnswer(f"{answer.label}: expected CSV, got {likeness(body, headers)}")
    if total is None:
        _broken(answer, "the CSV has no usable header X-Total-Count")
    echoes = count(headers.get("x-page")), count(headers.get("x-per-page"))
    return CsvAnswer(utf8(body, headers), total, *echoes, answer.server_time, requests)


def _check_content(answer: Answer, requests: int) -> None:
    """Raise `TornAnswer` at a first "no content" (204); a second one is a list, or a page, without rows."""
    if answer.status == HTTPStatus.NO_CONTENT and requests == 1:
        raise errors.TornAnswer(f"{answer.label}: {_phrase(answer.status)}")


def whole(page: CsvAnswer) -> CsvAnswer:
    """Return a CSV page.

    Raise `TornAnswer` if the page has fewer rows than its headers promise; `ContractBroken` if the page cannot be
    read as CSV.
    """
    text = StringIO(page.body.decode("utf-8", "replace"), newline="")
    try:
        rows = max(0, sum(map(bool, csv.reader(text))) - 1)
    except csv.Error:
        raise errors.ContractBroken(f"{PHONE_CALLS}: a page cannot be read as CSV") from None
    if page.per_page is not None and page.page is not None:
        promised = min(page.per_page, page.total_count - page.page * page.per_page)
        if rows < promised:
            raise errors.TornAnswer(
                f"{PHONE_CALLS}: a CSV page has {rows} rows, but its headers promise {promised}"
            )
    return page


def payload(answer: Answer, document: Decoded) -> Any:  # noqa: ANN401 - any JSON value
    """Return `data` of the envelope `{success, data, message}`; if `success` is missing, the status counts.

    Raise `Withheld` if `success` is false in spite of the status; for a list this is temporary; `ContractBroken`
    if there is no such envelope.
    """
    envelope = document.value
    if not isinstance(envelope, dict) or not {"success", "data"} & set(envelope):
        _broken(answer, "the JSON is not an envelope with `success` and `data`")
    if is_failure(envelope):
        message = redact(envelope.get("message"), answer.secrets) or "no reason given"
        raise errors.Withheld(f"{answer.label}: status {answer.status}, but `success` is false: {message}")
    if "data" not in envelope:
        _broken(answer, "the envelope has no `data`")
    return envelope["data"]


def is_failure(envelope: dict[str, Any]) -> bool:
    """Return whether `success` is false, as a boolean or as text."""
    return str(envelope.get("success")).lower() in ("false", "0")


def done(answer: Answer) -> None:
    """Accept the answer to a deletion, whose `data` may be missing (contract: Staff tasks, Delete).

    Raise `TornAnswer` if the body is not JSON, or `success` is false.
    """
    if answer.body.strip():
        document = answer.json()
        if not isinstance(document.value, dict) or is_failure(document.value):
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
    """Return the rows; a value that is no object becomes a row without id, which the loader quarantines."""
    if set(map(type, content)) <= {dict}:
        return tuple(content)
    return tuple(row if isinstance(row, dict) else {"not_an_object": row} for row in content)


def _broken(answer: Answer, fault: str) -> NoReturn:
    raise errors.ContractBroken(f"{answer.label}: {fault} (status {answer.status}); the contract promises it")


_LOST = frozenset({404, 410, 501})
_PASSING = frozenset({408, 425})
_MOVED_FOR_GOOD = frozenset({301, 308})
_SIGN_IN_REFUSED = frozenset({400, 401, 403, 422})

_FIELDS_SHOWN = 5
_SCHEME = re.compile(r"\s*bearer\s+", re.IGNORECASE)
"""What some platforms write before a token, because a request needs both."""


def accepted(answer: Answer) -> bool:
    """Return whether the status is a success."""
    return 200 <= answer.status < 300  # noqa: PLR2004 - the 2xx class


def refusal(answer: Answer) -> errors.VetlError:
    """Return the error for an answer with another status than 2xx."""
    status, text = answer.status, f"{answer.label}: {_phrase(answer.status)}"
    if status == HTTPStatus.UNAUTHORIZED:
        return errors.TokenRejected(text)
    message, fields = _reasons(answer)
    text += f": {message}" if message else ""
    platform_time = http_date(answer.headers.get("date")) or answer.server_time
    wait = retry_after(answer.headers.get("retry-after"), platform_time)
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return errors.RateLimited(text, retry_after=wait)
    if status in _LOST:
        return errors.NotFound(text, status=status)
    if status in _PASSING or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        failing = errors.TooSlow if status == HTTPStatus.GATEWAY_TIMEOUT else errors.Failing
        return (errors.Unreachable if status in _PASSING else failing)(text, retry_after=wait)
    if status == HTTPStatus.FORBIDDEN:
        return errors.PracticeRefused(f"{text}; are the credentials valid for this practice?", status=status)
    if status in _MOVED_FOR_GOOD:
        return errors.RequestRefused(f"{text}; is partner.base_url the platform's address?", status=status)
    if status < HTTPStatus.BAD_REQUEST:
        return errors.Withheld(f"{text}: not followed, no redirect or such is in the contract")
    return errors.RequestRefused(text, status=status, fields=fields)


def token_of(answer: Answer) -> str:
    """Return the access token of a sign-in (contract: Sign-in); errors quote nothing of the answer.

    Raise `SignInRefused` if username, password and role are not accepted; `ConfigurationError` if there is no
    sign-in at this address; `Transient` if the platform is not available now, or its answer is incomplete;
    `ContractBroken` if a success has no usable token.
    """
    if answer.status in _SIGN_IN_REFUSED:
        raise _sign_in_refused(answer)
    if not accepted(answer):
        error = refusal(replace(answer, body=b""))
        if isinstance(error, errors.RequestRefused):
            raise errors.ConfigurationError(
                f"partner.base_url: sign-in answers {_phrase(answer.status)}; is it the platform's address?"
            )
        raise error
    document = answer.json()
    if isinstance(document.value, dict) and is_failure(document.value):
        raise _sign_in_refused(answer)
    data = payload(answer, document)
    value = data.get("token") if isinstance(data, dict) else None
    if isinstance(value, str):
        value = _SCHEME.sub("", value)
    if not isinstance(value, str) or not value or not all("!" <= char <= "~" for char in value):
        raise errors.ContractBroken(f"{answer.label}: a success without a usable `data.token`")
    return value


def _sign_in_refused(answer: Answer) -> errors.SignInRefused:
    return errors.SignInRefused(
        f"sign-in refused ({_phrase(answer.status)}): check VETL_PARTNER__USERNAME, VETL_PARTNER__PASSWORD"
        " and VETL_PARTNER__ROLE"
    )


def _phrase(status: int) -> str:
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)


def _reasons(answer: Answer) -> tuple[str, tuple[tuple[str | None, str], ...]]:
    """Return a message with the first wrong fields of an error envelope, and all wrong fields."""
    try:
        envelope = answer.json().value
    except errors.TornAnswer:
        return "", ()
    if not isinstance(envelope, dict):
        return "", ()
    fields = tuple(_field(item, answer.secrets) for item in _errors(envelope.get("data")))
    first = "; ".join(f"{name or 'request'}: {message}" for name, message in fields[:_FIELDS_SHOWN])
    more = f"; and {len(fields) - _FIELDS_SHOWN} more" if len(fields) > _FIELDS_SHOWN else ""
    return first + more or redact(envelope.get("message"), answer.secrets), fields


def _errors(data: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - any JSON value
    named = data.get("errors") if isinstance(data, dict) else None
    return [item for item in named if isinstance(item, dict)] if isinstance(named, list) else []


def _field(item: dict[str, Any], secrets: tuple[str, ...]) -> tuple[str | None, str]:
    name = redact(item.get("field"), secrets)
    return name or None, redact(item.get("message"), secrets) or "no reason"
