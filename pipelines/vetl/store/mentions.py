"""Find forgotten people in texts by keyed digests of their ids, numbers, addresses and names.

A text is split into words and into groups of digits. Neighbours with a known digest are a mention, whatever their
separators, accents, capitals or encoding. Thus the values themselves need not be stored.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any, Literal

import phonenumbers

Kind = Literal["id", "words", "name", "start", "number"]

ID_IN_TEXT = 8
"""Characters of an id that no text contains by chance. A shorter id is recognised only in columns of ids."""

SOMEBODY = "forgotten"
"""The replacement of a name."""

FEWEST_DIGITS = 7
"""The fewest digits of a telephone number, without its country code."""

_PREFIX = 5
"""The most digits before a number: a country code, or the prefix of a call abroad."""

_GROUPS = 12
"""The most groups of digits in one number."""

_WIDEST_GAP = 12
"""The most characters between two words of one mention."""

_UNSEEN = "\u00ad\u200b-\u200d\u2060\ufeff"
_WORD = re.compile(rf"[^\W_](?:[^\W_]|[\u0300-\u036f{_UNSEEN}])*")
_DIGITS = re.compile(r"\d+")
_BETWEEN_DIGITS = re.compile(rf"(?:[\W_]|[{_UNSEEN}]){{1,3}}")
_ENCODED = re.compile(r"(?:%[0-9A-Fa-f]{2})+|&(?:nbsp|#160|#xa0|amp|comma|#44);|\\[nrt]", re.IGNORECASE)
"""A separator as URLs, HTML and JSON within text encode it."""
_COUNTRY = re.compile(r"(?:\(?\+|00)\d{1,3}\W{0,3}(?:\(0\)\W{0,2})?$|\b[01]\W{1,3}$|\+$")
"""The prefix of a number before its national digits."""
_CACHED = 200_000


@dataclass(frozen=True, slots=True)
class Known:
    """The stored form of a value: its digest and its pseudonym."""

    kind: Kind
    span: int
    digest: str
    pseudonym: str


def digest(key: bytes, kind: Kind, text: str) -> str:
    """Return the digest of a normalised value, which nobody can compute without the key."""
    size = 2 if kind == "start" else 16  # short, so that the digest of a first word identifies nobody
    return hashlib.blake2b(
        f"{kind}/{text}".encode("utf-8", "surrogatepass"), key=key, digest_size=size
    ).hexdigest()


def known_id(key: bytes, identity: str, pseudonym: str) -> list[Known]:
    """Return the digests of an id: of a whole value, and of a part of a text if the id is long enough."""
    exact = [Known("id", 1, digest(key, "id", identity), pseudonym)]
    return exact + (known_words(key, identity, pseudonym) if len(identity) >= ID_IN_TEXT else [])


def known_name(key: bytes, name: str) -> list[Known]:
    """Return the digests of a name of at least two words: in any order, without initials, also as one word.

    The first and the last word of a longer name are recognised as the whole name.
    """
    words = [word for _, _, word in _words(name) if len(word) > 1]
    if len(words) < 2:  # noqa: PLR2004 - a name of one word may be any word
        return []
    entries: list[Known] = []
    for some in {tuple(words), (words[0], words[-1])}:
        entries.append(Known("name", len(some), digest(key, "name", _joined(sorted(some))), SOMEBODY))
        entries += [Known("start", 1, digest(key, "start", word), "") for word in some]
        for joined in {"".join(some), "".join(reversed(some))}:
            entries += known_words(key, joined, SOMEBODY)
    return entries


def known_number(key: bytes, spelling: str, region: str | None, pseudonym: str) -> list[Known]:
    """Return the digest of a telephone number, from its digits without the country code."""
    digits = national(spelling, region)
    if len(digits) < FEWEST_DIGITS:
        return []
    return [Known("number", len(digits), digest(key, "number", digits), pseudonym)]


@cache
def national(spelling: str, region: str | None) -> str:
    """Return a number's digits without the country code; all digits if the region has no such number."""
    try:
        number = phonenumbers.parse(spelling, region)
    except phonenumbers.NumberParseException:
        return _ascii(re.sub(r"\D", "", spelling))
    return phonenumbers.national_significant_number(number)


class Mentions:
    """Recognise the forgotten people of one practice."""

    def __init__(self, key: bytes, entries: Iterable[Known]) -> None:
        self._key = key
        self._by_kind: dict[str, dict[tuple[int, str], str]] = {}
        for item in entries:
            self._by_kind.setdefault(item.kind, {})[item.span, item.digest] = item.pseudonym
        self._spans = {kind: sorted({span for span, _ in values}) for kind, values in self._by_kind.items()}
        self._starts: dict[str, bool] = {}
        self._texts: dict[str, str] = {}

    @property
    def pseudonyms(self) -> frozenset[str]:
        """Return the pseudonyms of all ids."""
        return frozenset(self._by_kind.get("id", {}).values())

    def identity(self, value: str) -> str | None:
        """Return the pseudonym of an id of a forgotten client, otherwise `None`."""
        return self._pseudonym("id", 1, value)

    def number(self, value: str) -> str | None:
        """Return the pseudonym if the whole value is a telephone number of a forgotten client."""
        digits = _ascii("".join(_DIGITS.findall(value)))
        if any(character.isalpha() for character in value):
            return None
        return self._of_digits(self._spans.get("number", ()), digits)

    def address(self, value: str) -> str | None:
        """Return the pseudonym if the whole value is an e-mail address of a forgotten client."""
        words = [word for _, _, word in _words(value)]
        return self._pseudonym("words", len(words), _joined(words)) if "@" in value else None

    def replaced(self, text: str) -> str:
        """Return the text with a pseudonym instead of each mention."""
        known = self._texts.get(text)
        if known is not None:
            return known
        replaced, end = "", 0
        for first, last, pseudonym in _apart([*self._in_words(text), *self._in_digits(text)]):
            replaced += text[end:first] + pseudonym
            end = last
        replaced += text[end:]
        if len(self._texts) < _CACHED:
            self._texts[text] = replaced
        return replaced

    def replaced_json(self, value: Any) -> Any:  # noqa: ANN401 - any JSON
        """Return a JSON value with a pseudonym instead of each mention. Ids of other things than clients stay."""
        match value:
            case str():
                return self.replaced(value)
            case bool():
                return value
            case int() | float():
                return text if (text := self.replaced(str(value))) != str(value) else value
            case Mapping():
                return {self.replaced(name): self._field(name, item) for name, item in value.items()}
            case Sequence():
                return [self.replaced_json(item) for item in value]
            case _:
                return value

    def _field(self, name: str, value: Any) -> Any:  # noqa: ANN401 - any JSON
        """Return a field's value with pseudonyms. Ids of clients may be short; ids of other things stay."""
        if not name.endswith("_id") and name != "id":
            return self.replaced_json(value)
        if "client" not in name:
            return value
        return self.identity(str(value)) or self.replaced_json(value)

    def _in_words(self, text: str) -> Iterator[tuple[int, int, str]]:
        if not self._spans.get("start"):
            return
        yield from self._in_these(_words(text))
        if _ENCODED.search(text):
            yield from self._in_these(_words(_ENCODED.sub(lambda match: " " * len(match[0]), text)))

    def _in_these(self, words: Sequence[tuple[int, int, str]]) -> Iterator[tuple[int, int, str]]:
        starts = {place for place, (_, _, word) in enumerate(words) if self._may_start(word)}
        if not starts:
            return
        long = [place for place, (_, _, word) in enumerate(words) if len(word) > 1]
        everything = list(range(len(words)))
        for kind, places in (("words", everything), ("name", long)):
            for span in self._spans.get(kind, ()):
                for at in range(len(places) - span + 1):
                    window = places[at : at + span]
                    if window[0] in starts and (pseudonym := self._of_words(kind, words, window)):
                        yield words[window[0]][0], words[window[-1]][1], pseudonym

    def _of_words(self, kind: str, words: Sequence[tuple[int, int, str]], window: Sequence[int]) -> str | None:
        ends = [(words[one][1], words[other][0]) for one, other in pairwise(window)]
        if any(start - end > _WIDEST_GAP for end, start in ends):
            return None
        own = [words[place][2] for place in window]
        if kind == "name":
            return self._pseudonym("name", len(own), _joined(sorted(own)))
        return self._pseudonym("words", len(own), _joined(own))

    def _in_digits(self, text: str) -> Iterator[tuple[int, int, str]]:
        spans = self._spans.get("number")
        if not spans:
            return
        groups = [(match.start(), match.end(), _ascii(match[0])) for match in _DIGITS.finditer(text)]
        for last in range(len(groups)):
            digits = ""
            for first in range(last, max(-1, last - _GROUPS), -1):
                if first < last and not _BETWEEN_DIGITS.fullmatch(text, groups[first][1], groups[first + 1][0]):
                    break
                digits = groups[first][2] + digits
                if len(digits) > spans[-1] + _PREFIX:
                    break
                if pseudonym := self._of_digits(spans, digits):
                    start = groups[first][0]
                    country = _COUNTRY.search(text[max(0, start - 9) : start])
                    start -= len(country[0].removeprefix("(")) if country else 0
                    is_bracketed = text[start - 1 : start] == "(" and ")" in text[start : groups[last][1]]
                    yield start - is_bracketed, groups[last][1], pseudonym
                    break

    def _of_digits(self, spans: Sequence[int], digits: str) -> str | None:
        for span in spans:
            if span <= len(digits) <= span + _PREFIX and (
                pseudonym := self._pseudonym("number", span, digits[-span:])
            ):
                return pseudonym
        return None

    def _may_start(self, word: str) -> bool:
        may = self._starts.get(word)
        if may is None:
            may = self._starts[word] = self._pseudonym("start", 1, word) is not None
        return may

    def _pseudonym(self, kind: Kind, span: int, text: str) -> str | None:
        values = self._by_kind.get(kind)
        return values.get((span, digest(self._key, kind, text))) if values else None


def known_words(key: bytes, text: str, pseudonym: str) -> list[Known]:
    """Return the digests of words in this order, such as those of an e-mail address."""
    words = [word for _, _, word in _words(text)]
    if not words:
        return []
    return [
        Known("words", len(words), digest(key, "words", _joined(words)), pseudonym),
        Known("start", 1, digest(key, "start", words[0]), ""),
    ]


def _words(text: str) -> list[tuple[int, int, str]]:
    """Return the words of a text: start, end, and the word without capitals and accents."""
    return [(match.start(), match.end(), _normal(match[0])) for match in _WORD.finditer(text)]


def _normal(word: str) -> str:
    if word.isascii():
        return word.lower()
    decomposed = unicodedata.normalize("NFKD", word.casefold())
    return "".join(item for item in decomposed if unicodedata.category(item) not in ("Mn", "Cf"))


def _ascii(digits: str) -> str:
    return digits if digits.isascii() else "".join(str(unicodedata.digit(digit)) for digit in digits)


def _joined(words: Iterable[str]) -> str:
    return "\x1f".join(words)


def _apart(spans: Iterable[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """Return mentions in order without overlaps; of two that overlap, the longer one."""
    taken: list[tuple[int, int, str]] = []
    for one in sorted(spans, key=lambda item: item[0] - item[1]):
        if all(one[1] <= other[0] or other[1] <= one[0] for other in taken):
            taken.append(one)
    return sorted(taken)
