"""Bytes of an answer into text and JSON, however odd they are. No I/O.

A single character that is not quite UTF-8, or half an emoji where the source cut a summary short, must not
cost the page: such characters become U+FFFD and the caller is told, so that it can say so.
"""

import codecs
import json
import re
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from pydantic_core import from_json

from pipelines.core.errors import TornAnswer
from pipelines.partner.headers import Headers, charset, media_type

MOST_VALUES = 1_000_000
"""In one JSON answer. A page of 100 records has a few thousand; 16 MiB of `[],` would take 1 GB as objects."""

_MEDIA_TYPE = re.compile(r"[a-z0-9.+-]{1,40}/[a-z0-9.+-]{1,40}")


@dataclass(frozen=True, slots=True)
class Decoded:
    """A JSON value; `repaired` where it could only be read by replacing characters."""

    value: Any
    repaired: bool


def utf8(body: bytes, headers: Headers) -> bytes:
    """The body as UTF-8 without byte order mark, translated where another character set is declared."""
    name = charset(headers)
    if name not in ("utf-8", "utf8", "us-ascii"):
        with suppress(LookupError, ValueError):  # an unknown one: take the bytes as they are
            body = body.decode(name, "replace").encode()
    return body.removeprefix(codecs.BOM_UTF8)


def read_json(body: bytes, headers: Headers, asked: str) -> Decoded:
    """The JSON value of a body.

    Raises:
        TornAnswer: it is not JSON, and the message says what it seems to be instead; or it has too many values.
    """
    body = utf8(body, headers)
    if len(body) > MOST_VALUES and body.count(b",") > MOST_VALUES:  # commas inside of texts count as well
        raise TornAnswer(f"{asked}: the answer has more than {MOST_VALUES} values")
    try:
        return Decoded(from_json(body, cache_strings="keys"), repaired=False)
    except ValueError:
        pass  # cut off, or only odd: the lenient way tells
    try:
        return Decoded(_whole(json.loads(body.decode(errors="replace"))), repaired=True)
    except (ValueError, RecursionError):
        raise TornAnswer(f"{asked}: expected JSON, got {likeness(body, headers)}") from None


def likeness(body: bytes, headers: Headers) -> str:
    """What a body that is not what was asked for seems to be, in a few words and without its content."""
    start = body[:512].lstrip()
    if not start:
        return "an empty body"
    if start.startswith(b"<"):
        return "an HTML page (a login page or a proxy's?)"
    if start.startswith((b"{", b"[")):
        return f"JSON that is cut off or malformed ({len(body)} bytes)"
    kind = media_type(headers)
    return f"{len(body)} bytes of {kind if _MEDIA_TYPE.fullmatch(kind) else 'unknown type'}"


def _whole(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """The value with lone halves of surrogate pairs replaced: no UTF-8 can carry them."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_whole(item) for item in value]
    if isinstance(value, dict):
        return {_whole(name): _whole(item) for name, item in value.items()}
    return value
