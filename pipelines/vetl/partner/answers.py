"""Read an answer: its headers, its body as bytes, text and JSON, and its words as one line for messages.

A page is not lost if a single character is not UTF-8, if the source cut a summary in the middle of an emoji, or
wrote a tab into a text as it is. Bad characters become U+FFFD, control characters stay, an endless number is
infinite, UTF-16 and UTF-32 are known by their first bytes, and `Decoded.repaired` is true. Of two equal keys the
last one counts, in both parsers; to find such keys would double the time of each answer.
"""

import codecs
import json
import re
import zlib
from collections.abc import AsyncIterable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from pydantic_core import from_json

from vetl.core.errors import TooLarge, TornAnswer

Headers = Mapping[str, str]
"""Header names in lower case, because HTTP ignores their case."""

_SECONDS = re.compile(r"\d+(?:\.\d+)?", re.ASCII)
_COUNT = re.compile(r"\d{1,18}|\d{1,3}(,\d{3}){1,5}", re.ASCII)
_CHARSET = re.compile(r"""charset\s*=\s*["']?([\w.:-]+)""", re.ASCII | re.IGNORECASE)


def user_agent() -> str:
    """Return the value of vetl's User-Agent header."""
    try:
        return f"vetl/{version('vetl-warehouse')}"
    except PackageNotFoundError:
        return "vetl"  # run from a checkout that is not installed


def http_date(value: str | None) -> datetime | None:
    """Return an HTTP date as an aware UTC time, `None` if it is missing or malformed."""
    if not value:
        return None
    try:
        moment = parsedate_to_datetime(value)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


def retry_after(value: str | None, server_time: datetime) -> float | None:
    """Return the seconds that `Retry-After` asks for, from a number or from a date on the server's clock."""
    text = (value or "").strip()
    if _SECONDS.fullmatch(text):
        return float(text)
    moment = http_date(text)
    return max(0.0, (moment - server_time).total_seconds()) if moment else None


def count(value: object) -> int | None:
    """Return a count or page number from a header or from JSON, number or text; `None` if it is neither."""
    if isinstance(value, bool):
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int):
        return value if 0 <= value < 10**18 else None
    text = value.strip() if isinstance(value, str) else ""
    return int(text.replace(",", "")) if _COUNT.fullmatch(text) else None


def media_type(headers: Headers) -> str:
    """Return the content type in lower case without parameters, empty if there is none."""
    return headers.get("content-type", "").partition(";")[0].strip().lower()


def charset(headers: Headers) -> str:
    """Return the declared character set in lower case, `utf-8` if none is declared."""
    match = _CHARSET.search(headers.get("content-type", ""))
    return match[1].lower() if match else "utf-8"


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

    Raise `TornAnswer` if it has too many values, or it is not JSON; the message then describes the body.
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
    # A number of thousands of digits is infinite, as `1e400` is, and not the loss of a page.
    return int(text) if len(text) <= _MOST_DIGITS else float(text)


def _whole(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Return the value with lone halves of surrogate pairs replaced, because UTF-8 cannot encode them."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_whole(item) for item in value]
    if isinstance(value, dict):
        return {_whole(name): _whole(item) for name, item in value.items()}
    return value


_WINDOW_BITS = {"gzip": (31,), "x-gzip": (31,), "deflate": (zlib.MAX_WBITS, -zlib.MAX_WBITS)}
"""The arguments of zlib to try. Some servers send deflate without the header that RFC 9110 requires."""
_GZIP = b"\x1f\x8b"
"""The first bytes of a member of gzip data, which may have several (RFC 1952)."""
MOST_MEMBERS = 1_000
_FOREIGN = frozenset({"br", "zstd", "compress", "x-compress"})
"""Codings that were not requested. Any other name (`none`, `utf-8`) is no coding: such a body is plain."""


async def read_body(chunks: AsyncIterable[bytes], headers: Headers, *, largest: int, label: str) -> bytes:
    """Read a body to its end and decompress it.

    Raise `TooLarge` if it has more than `largest` bytes, and `TornAnswer` if it ends too early or has a content
    coding that was not requested.
    """
    coding = _coding(headers, label)
    pieces: list[bytes] = []
    size = 0
    async for piece in chunks:
        pieces.append(piece)
        size += len(piece)
        if size > largest:
            break
    body = b"".join(pieces)
    whole = _decompressed(body, coding, largest, label) if coding and body else body
    if len(whole) > largest:
        raise TooLarge(f"{label}: the answer is larger than {largest // 2**20} MiB")
    return whole  # httpx raises an error if a plain body is cut off


def _decompressed(body: bytes, coding: str, largest: int, label: str) -> bytes:
    """Return at most one byte more than `largest`, because a few kilobytes of gzip become gigabytes."""
    for bits in _WINDOW_BITS[coding]:
        with suppress(zlib.error):
            whole, rest = b"", body
            for _ in range(MOST_MEMBERS):
                decompressor = zlib.decompressobj(bits)
                whole += decompressor.decompress(rest, largest + 1 - len(whole))
                if len(whole) <= largest and not decompressor.eof:
                    raise TornAnswer(f"{label}: the connection broke or the body was cut off")
                rest = decompressor.unused_data
                if len(whole) > largest or not rest.startswith(_GZIP):
                    return whole  # other bytes after the end of the compressed data are ignored
    raise TornAnswer(f"{label}: the body cannot be decompressed")


def _coding(headers: Headers, label: str) -> str | None:
    """Return the content coding of a body, `None` if it is plain; raise `TornAnswer` for another one."""
    names = [name.strip().lower() for name in headers.get("content-encoding", "").split(",")]
    codings = [name for name in names if name in _WINDOW_BITS or name in _FOREIGN]
    if len(codings) > 1:
        raise TornAnswer(f"{label}: the answer is compressed {len(codings)} times, at most once is taken")
    if codings and codings[0] in _FOREIGN:
        raise TornAnswer(f"{label}: the answer has a content coding that was not requested; gzip is")
    return codings[0] if codings else None


LINE_LENGTH = 200
HIDDEN = "***"

_EMAIL = re.compile(r"[^\s@<>\"]+@[^\s@<>\"]+")
_PHONE = re.compile(r"\+?(?!\d{4}-\d\d-\d\d)(?<![\d-])\(?\d(?:[\s().-]{0,2}\d){6,}")
_CREDENTIAL = re.compile(r"(?i)\b(bearer|basic|token|password|secret|api[_-]?key)\b[\s:=\"']+\S+")
_OPAQUE = re.compile(r"[\w+/=.~-]{24,}")


_PLAIN_VALUE = re.compile(
    r"\d{4}-\d\d-\d\d(?:T[\d:.]+(?:Z|[+-]\d\d:\d\d)?)?|\d{1,6}|csv|true|false|received|queued|in_progress|completed"
    r"|suppressed|failed|pending|canceled|active|abandoned|inbound|outbound"
)
_PERSON = re.compile(r"(?i)client|patient|name|mail|phone")


def loggable_query(target: str) -> str:
    """Return the query of an address for the log, with all values hidden but times, numbers and statuses."""
    # Names of parameters differ from server to server, so the value has to look harmless, too.
    pairs = parse_qsl(urlsplit(target).query, keep_blank_values=True)
    return "&".join(
        f"{name}={value if _PLAIN_VALUE.fullmatch(value) and not _PERSON.search(name) else HIDDEN}"
        for name, value in pairs
    )


def redact(text: object, secrets: Iterable[str] = ()) -> str:
    """Return `text` as one line of at most `LINE_LENGTH` characters, or an empty text if it is no text.

    The `secrets` are hidden in upper and lower case, and so are texts that look like a credential, an email
    address or a phone number, and every long opaque word.
    """
    if not isinstance(text, str):
        return ""
    for secret in sorted(filter(None, secrets), key=len, reverse=True):
        text = re.sub(re.escape(secret), HIDDEN, text, flags=re.IGNORECASE)
    line = " ".join("".join(c if c.isprintable() else " " for c in text[: 10 * LINE_LENGTH]).split())
    line = _CREDENTIAL.sub(rf"\1 {HIDDEN}", line)
    for pattern in (_EMAIL, _OPAQUE, _PHONE):
        line = pattern.sub(HIDDEN, line)
    return line if len(line) <= LINE_LENGTH else line[: LINE_LENGTH - 1] + "…"
