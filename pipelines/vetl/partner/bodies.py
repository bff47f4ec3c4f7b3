"""Decode the bytes of an answer as text and JSON. No I/O.

A page is not lost if a single character is not UTF-8, if the source cut a summary in the middle of an emoji, or
wrote a tab into a text as it is. Bad characters become U+FFFD, control characters stay, an endless number is
infinite, UTF-16 and UTF-32 are known by their first bytes, and `Decoded.repaired` is true. Of two equal keys the
last one counts, in both parsers; to find such keys would double the time of each answer.
"""

import codecs
import json
import math
import re
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from pydantic_core import from_json

from vetl.core.errors import TornAnswer
from vetl.partner.headers import Headers, charset, media_type

MOST_VALUES = 500_000
"""The most values in one JSON answer. 100 records have a few thousand; 8 MiB of `[],` is 500 MB of objects."""

_MOST_DIGITS = 4_000
"""Python reads integers of at most 4,300 digits, because longer ones cost much time."""

_MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32",  # before UTF-16, whose mark begins alike
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_WIDE = tuple(mark for mark, name in _MARKS.items() if name != "utf-8")
_MEDIA_TYPE = re.compile(r"[a-z0-9.+-]{1,40}/[a-z0-9.+-]{1,40}")


@dataclass(frozen=True, slots=True)
class Decoded:
    """A JSON value. `repaired` is true if it is UTF-16 unsaid, or characters or numbers were replaced."""

    value: Any
    repaired: bool


def utf8(body: bytes, headers: Headers) -> bytes:
    """Return the body as UTF-8 without a byte order mark, which decides before the declared character set."""
    marked = next((name for mark, name in _MARKS.items() if body.startswith(mark)), None)
    name = marked or charset(headers)
    if name not in ("utf-8", "utf8", "us-ascii"):
        with suppress(LookupError, ValueError):  # an unknown character set: keep the bytes
            body = body.decode(name, "replace").encode()
    return body.removeprefix(codecs.BOM_UTF8)


def read_json(body: bytes, headers: Headers, label: str) -> Decoded:
    """Return the JSON value of a body.

    Raises:
        TornAnswer: it has too many values, or it is not JSON; the message then describes the body.
    """
    undeclared = body.startswith(_WIDE) and not charset(headers).startswith(("utf-16", "utf-32"))
    body = utf8(body, headers)
    if len(body) > MOST_VALUES and body.count(b",") > MOST_VALUES:  # commas in strings count too
        raise TornAnswer(f"{label}: the answer has more than {MOST_VALUES} values")
    try:
        return Decoded(from_json(body, cache_strings="keys"), repaired=undeclared)
    except ValueError:
        pass  # the lenient parser finds out whether it is cut off or has bad characters only
    try:
        text = body.decode(json.detect_encoding(body), "replace")  # UTF-16 without a mark has a zero in each sign
        value = json.loads(text, strict=False, parse_int=_integer)
        return Decoded(_whole(value), repaired=True)
    except (ValueError, RecursionError):
        raise TornAnswer(f"{label}: expected JSON, got {likeness(body, headers)}") from None


def likeness(body: bytes, headers: Headers) -> str:
    """Return a description of an unexpected body in a few words, without its content."""
    start = body[:512].lstrip()
    if not start:
        return "an empty body"
    if start.startswith(b"<"):
        return "an HTML page (a login page or a proxy's?)"
    if start.startswith((b"{", b"[")):
        return f"JSON that is cut off or malformed ({len(body)} bytes)"
    kind = media_type(headers)
    return f"{len(body)} bytes of {kind if _MEDIA_TYPE.fullmatch(kind) else 'unknown type'}"


def _integer(text: str) -> float:
    """Return a whole number; one of thousands of digits is infinite, as `1e400` is, and not the loss of a page."""
    return int(text) if len(text) <= _MOST_DIGITS else math.inf


def _whole(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Return the value with lone halves of surrogate pairs replaced, because UTF-8 cannot encode them."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_whole(item) for item in value]
    if isinstance(value, dict):
        return {_whole(name): _whole(item) for name, item in value.items()}
    return value
