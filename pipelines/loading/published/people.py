"""People whom a source names where words belong: a client's name in a campaign, a number in a task's type."""

import re
from collections.abc import Iterator, Mapping

import duckdb

from pipelines.core.labels import LABELS, WORDS
from pipelines.core.privacy import Treatments
from pipelines.loading.connection import quoted
from pipelines.loading.published.marts import Columns

_LONGEST_NAME = 4
"""Words of a name."""

_FEWEST_DIGITS, _MOST_DIGITS = 7, 10
"""Of a telephone number; those of its country are left out."""

_LONGEST_NUMBER = 24

_MARGIN = 16
"""Bytes of spaces around a value: longer ones, such as summaries, need not be looked at."""


def people_in_words(
    connection: duckdb.DuckDBPyConnection, marts: Mapping[str, Columns], treatments: Treatments
) -> frozenset[str]:
    """The values in columns of words that hold what a masked personal column of any row (`source`) holds.

    Found are names of two words and more, addresses, and numbers however they are written. A name of one word
    cannot be told from a word.
    """
    words = _words(connection, marts, treatments)
    parts = {word: frozenset(_parts(word)) for word in words}
    looked_for = sorted(frozenset().union(*parts.values()))
    longest = max((len(part.encode()) for part in looked_for), default=0) + _MARGIN
    has_numbers = any(part.isdecimal() for part in looked_for)
    personal_parts: set[str] = set()
    for name, columns in marts.items() if looked_for else ():
        personal = [item for item in treatments[name] if treatments[name][item] != "clear"]
        for used, comparable in _comparable(columns, personal, longest, has_numbers=has_numbers):
            # Each value is taken apart once: a year of calls names the same few people again and again.
            rows = connection.execute(
                f"select distinct {comparable} as part"
                f" from (select distinct {used} from source.marts.{quoted(name)})"
                " where part in (select unnest($1::varchar[]))",
                [looked_for],
            ).fetchall()
            personal_parts.update(part for (part,) in rows)
    return frozenset(word for word, its_parts in parts.items() if not its_parts.isdisjoint(personal_parts))


def _words(
    connection: duckdb.DuckDBPyConnection, marts: Mapping[str, Columns], treatments: Treatments
) -> frozenset[str]:
    """Every value in a column of words, but for the practices' own names."""
    words: set[str] = set()
    for name, columns in marts.items():
        shown = [
            quoted(item)
            for item, kind in columns.items()
            if item in LABELS | WORDS and item not in treatments[name] and kind == "VARCHAR"
        ]
        for item in shown:
            rows = connection.execute(f"select distinct {item} from source.marts.{quoted(name)}").fetchall()
            words.update(word for (word,) in rows if word)
    if "practices" in marts:
        words -= {name for (name,) in connection.execute("select name from source.marts.practices").fetchall()}
    return frozenset(words)


def _parts(word: str) -> Iterator[str]:
    """What in it may be a name, a number or an address, as personal columns are compared: see `_comparable`."""
    yield from (part for part in [word.strip().lower()] if " " in part)
    pieces = [piece.strip(".,;:!?\"'()[]<>") for piece in re.split(r"[\s_]+", word.lower())]
    for first in range(len(pieces)):
        for last in range(first, min(first + _LONGEST_NAME, len(pieces))):
            part = " ".join(pieces[first : last + 1])
            if " " in part or "@" in part:
                yield part
    for number in re.findall(r"\d(?:[\s().+/_-]*\d)+", word):
        digits = re.sub(r"\D", "", number)
        if len(digits) >= _FEWEST_DIGITS:
            yield digits[-_MOST_DIGITS:]


def _comparable(
    columns: Columns, personal: list[str], longest: int, *, has_numbers: bool
) -> Iterator[tuple[str, str]]:
    """Columns, and SQL for what they tell, comparable with parts of words, which have at most `longest` bytes."""
    for name in (quoted(item) for item in personal if columns[item] == "VARCHAR"):
        yield name, f"case when strlen({name}) <= {longest} then lower(trim({name})) end"
        if not has_numbers:
            continue
        number = f"case when length({name}) between {_FEWEST_DIGITS} and {_LONGEST_NUMBER} then {name} end"
        yield name, f"right(regexp_replace({number}, '[^0-9]', '', 'g'), {_MOST_DIGITS})"
    if {"client_first_name", "client_last_name"} <= set(personal):
        names = "client_first_name, client_last_name"
        yield names, "lower(trim(client_first_name) || ' ' || trim(client_last_name))"
