"""Ways to break a rule of the contract on purpose, each until a block ends.

They do not depend on the sandbox's code: a break is a switch, or a change on the wire. It changes the requests of
partners, their answers, or the webhooks that receivers get.
"""

import json
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode

import httpx
import orjson

from sandbox import Handle
from sandbox.webhooks.posting import Letter

Break = Callable[[Handle], AbstractContextManager[None]]
Row = dict[str, Any]
Wrong = Callable[[Any], object] | object
"""A wrong value, or a function that makes it from the right value or from its record."""
GONE: Final = object()
"""Instead of a value: the field or parameter is missing."""
SIGNATURE: Final = "X-Webhook-Signature"
_INVALID: Final = 400

_requests: list[Callable[[httpx.Request], httpx.Request]] = []
_answers: list[Callable[[httpx.Request, httpx.Response], httpx.Response]] = []


class Wire(httpx.HTTPTransport):
    """The partners' connection to the sandbox, with every break that is in force."""

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Handle a request of `httpx`."""
        asked = request
        for change in _requests:
            asked = change(asked)
        answer = super().handle_request(asked)
        if _answers:
            answer.read()
        for change in _answers:
            answer = change(request, answer)
        return answer


def switched(**switches: Any) -> Break:
    """Set other switches, for points that the contract does show."""

    @contextmanager
    def apply(platform: Handle) -> Generator[None]:
        platform.set(**switches)
        yield

    return apply


def asks(path: str = "*", **query: Wrong) -> Break:
    """Change parameters before the platform sees them: to a value, to the result of a function, or to `GONE`."""

    def change(request: httpx.Request) -> httpx.Request:
        if not _is_for(request, path, "GET"):
            return request
        asked = parse_qsl(request.url.query.decode())
        made = ((name, _made(query.get(name, value), value)) for name, value in asked)
        heard = urlencode([(name, value) for name, value in made if value is not GONE])
        return httpx.Request(request.method, request.url.copy_with(query=heard.encode()), headers=request.headers)

    return _in_force(_requests, change)


def hears(path: str = "*", *, method: Any = "P*", **fields: Wrong) -> Break:
    """Change fields of a body before the platform sees them, as for `asks`."""

    def change(request: httpx.Request) -> httpx.Request:
        if not _is_for(request, path, method):
            return request
        body = orjson.loads(request.read())
        kept = {name: value for name, value in request.headers.items() if name != "content-length"}
        return httpx.Request(request.method, request.url, headers=kept, json=_changed(body, fields, always=True))

    return _in_force(_requests, change)


def with_header(name: str, value: str) -> Break:
    """Change a header before the platform sees it."""

    def change(request: httpx.Request) -> httpx.Request:
        headers = httpx.Headers({**request.headers, name: value})
        return httpx.Request(request.method, request.url, headers=headers, content=request.read())

    return _in_force(_requests, change)


def shows(path: str = "*", *, method: Any = "*", **fields: Wrong) -> Break:
    """Change fields of records: to a value, to the result of a function, or to `GONE`."""
    return answers(path, lambda data: _each_record(data, lambda record: _changed(record, fields)), method=method)


def pages(path: str = "*", **fields: Wrong) -> Break:
    """Change values of pages beside their content, as for `shows`."""
    return answers(path, lambda data: _changed(data, fields, always=True) if "content" in data else data)


def rows(path: str, change: Callable[[list[Row]], list[Row]]) -> Break:
    """Change the rows of lists."""

    def changed(data: Any) -> Any:
        if isinstance(data, list):
            return change(data)
        return {**data, "content": change(data["content"])} if "content" in data else data

    return answers(path, changed)


def answers(path: str, change: Callable[[Any], Any], *, method: Any = "*") -> Break:
    """Change the data of successes."""

    def changed(body: Row) -> Row:
        return {**body, "data": change(body["data"])} if body.get("success") is True else body

    return enveloped(path, changed, method=method)


def enveloped(path: str, change: Callable[[Row], Row], *, method: Any = "*") -> Break:
    """Change the envelope of JSON answers."""

    def changed(request: httpx.Request, answer: httpx.Response) -> httpx.Response:
        if not _is_for(request, path, method) or "json" not in answer.headers.get("content-type", ""):
            return answer
        return _answer(answer, content=json.dumps(change(answer.json())).encode())

    return _in_force(_answers, changed)


def texts(path: str, change: Callable[[str], str]) -> Break:
    """Change the text of answers that are no JSON."""

    def changed(request: httpx.Request, answer: httpx.Response) -> httpx.Response:
        if not _is_for(request, path) or "json" in answer.headers.get("content-type", ""):
            return answer
        return _answer(answer, content=change(answer.text).encode())

    return _in_force(_answers, changed)


def headed(**headers: Wrong) -> Break:
    """Change the headers of answers: `x_page=...` is `X-Page`; as for `asks`."""

    def changed(_: httpx.Request, answer: httpx.Response) -> httpx.Response:
        sent = dict(answer.headers)
        for name, value in headers.items():
            shown = name.replace("_", "-")
            if shown in sent and (made := _made(value, sent.pop(shown))) is not GONE:
                sent[shown] = made
        return httpx.Response(answer.status_code, headers=sent, content=answer.content)

    return _in_force(_answers, changed)


def status(path: str = "*", *, method: Any = "*", **statuses: int) -> Break:
    """Change the status of answers: `_201=202`."""

    def changed(request: httpx.Request, answer: httpx.Response) -> httpx.Response:
        other = statuses.get(f"_{answer.status_code}", answer.status_code)
        return _answer(answer, other) if _is_for(request, path, method) else answer

    return _in_force(_answers, changed)


def accepts(*fields: str | None, path: str = "*") -> Break:
    """Ignore faults in these fields (by default in any field): without another fault the answer is a success."""

    def changed(request: httpx.Request, answer: httpx.Response) -> httpx.Response:
        body = answer.json() if answer.status_code == _INVALID else {}
        if not _is_for(request, path) or "errors" not in (body.get("data") or {}):
            return answer
        left = [error for error in body["data"]["errors"] if fields and error["field"] not in fields]
        if not left:
            return _answer(answer, 200, json.dumps({"success": True, "data": {}, "message": None}).encode())
        data = {"message": left[0]["message"], "errors": left}
        return _answer(answer, content=json.dumps({**body, "message": left[0]["message"], "data": data}).encode())

    return _in_force(_answers, changed)


def posts(
    change: Callable[[Letter], Sequence[Letter]] = lambda sent: [sent],
    learns: Callable[[int | None], int | None] = lambda status: status,
) -> Break:
    """Replace each webhook by others: none, or several; the sender gets another answer."""

    @contextmanager
    def apply(platform: Handle) -> Generator[None]:
        deliveries = platform.platform.events.deliveries
        right = deliveries.post

        def post(sent: Letter, switches: Any) -> int | None:
            answers = [right(letter, switches) for letter in change(sent)]
            return learns(answers[-1] if answers else None)

        deliveries.post = post
        yield

    return apply


UNHEEDED: Final = posts(learns=lambda _: 200)
"""Take any answer of a receiver, or none, for an acknowledgement."""


def tells(**fields: Wrong) -> Break:
    """Change values of webhooks, as for `shows`."""
    return posts(lambda sent: [sent.with_content(_changed(sent.payload, fields))])


def posts_with(name: str, value: Wrong) -> Break:
    """Change a header of webhooks, as for `asks`."""
    return posts(
        lambda sent: [replace(sent, headers={**sent.headers, name: _made(value, sent.headers.get(name))})]
    )


def _is_for(request: httpx.Request, path: str, method: Any = "*") -> bool:
    asked = request.url.path
    return (
        not asked.startswith("/_control")
        and fnmatchcase(asked, f"*{path}")
        and fnmatchcase(request.method, method)
    )


def _made(value: Any, before: Any) -> Any:
    return value(before) if callable(value) else value


def _changed(record: Row, fields: Mapping[str, Any], *, always: bool = False) -> Row:
    """Return the fields of a record with other values, existing fields or any."""
    wanted = {name: _made(value, record) for name, value in fields.items() if always or name in record}
    return {name: value for name, value in (record | wanted).items() if value is not GONE}


def _each_record(data: Any, change: Callable[[Row], Row]) -> Any:
    if isinstance(data, list):
        return [change(record) for record in data]
    if "content" in data:
        return {**data, "content": [change(record) for record in data["content"]]}
    return change(data)


def _answer(answer: httpx.Response, status: int | None = None, content: bytes | None = None) -> httpx.Response:
    headers = {name: value for name, value in answer.headers.items() if name != "content-length"}
    return httpx.Response(
        status or answer.status_code,
        headers=headers,
        content=answer.content if content is None else content,
    )


def _in_force(breaks: list[Any], change: Any) -> Break:
    @contextmanager
    def apply(platform: Handle) -> Generator[None]:  # noqa: ARG001 - see Break
        breaks.append(change)
        try:
            yield
        finally:
            breaks.remove(change)

    return apply
